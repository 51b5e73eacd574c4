package published

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file describes the tables of a release by its plan.

// CountedRowsText returns which rows of a unit a table with a bound of its own counts, "" for any other table.
func CountedRowsText(p *plan.Plan, t plan.Table) string {
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

// SplitPairs splits KEY=CODE pairs at the commas that a key follows, because codes may contain commas too.
func SplitPairs(text string, isKey func(name string) bool) []string {
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

// CountsUp reports for each key of a table whether its figures are cumulative along the key: whether a row is the sum
// of the cells of its category and of all before it.
func CountsUp(p *plan.Plan, t plan.Table) []bool {
	cumulative, _ := p.SummedAlong(t)
	out := make([]bool, len(t.By))
	for i, by := range t.By {
		out[i] = slices.Contains(cumulative, by)
	}
	return out
}
