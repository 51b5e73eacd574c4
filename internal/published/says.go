package published

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what the plan of a release says of its tables.

// BoundText returns which rows of a unit a table counts that has a bound of its own, "" of another.
func BoundText(p *plan.Plan, t plan.Table) string {
	if t.PerUnit == (spec.PerUnit{}) {
		return ""
	}
	var bounds []string
	if n := t.PerUnit.Groups; n > 0 {
		bounds = append(bounds, "rows in "+budget.Plural(n, "cell"))
	}
	if n := t.PerUnit.RowsPerGroup; n > 0 {
		bounds = append(bounds, budget.Plural(n, "row")+" in a cell")
	}
	if n := t.PerUnit.Total; n > 0 {
		bounds = append(bounds, budget.Plural(n, "row")+" in all")
	}
	return fmt.Sprintf("of one %s at most %s", p.Guarantee.Protects, strings.Join(bounds, ", "))
}

// Pairs parts what names several things, as KEY=CODE with commas between them, at the commas that a key follows: codes
// may hold commas too.
func Pairs(text string, isKey func(name string) bool) []string {
	var all []string
	for _, part := range strings.Split(text, ",") {
		name, _, ok := strings.Cut(part, "=")
		if len(all) > 0 && !(ok && isKey(name)) {
			all[len(all)-1] += "," + part
			continue
		}
		all = append(all, part)
	}
	return all
}

// CountsUp reports of each key of a table whether its figures count up along it: then a row is the sum of the cells of
// its category and of all before it.
func CountsUp(p *plan.Plan, t plan.Table) []bool {
	cumulative, _ := p.SummedAlong(t)
	out := make([]bool, len(t.By))
	for i, by := range t.By {
		out[i] = slices.Contains(cumulative, by)
	}
	return out
}
