package describe

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// This file holds the guarantee in words, and the outlook of many tables in few lines. The signed page, the metadata
// of published files and the report all say it with these.

// definitions are the names of what a budget is counted in.
var definitions = map[string]string{
	"pure":        "pure differential privacy",
	"approximate": "approximate differential privacy",
	"zcdp":        "zero-concentrated differential privacy",
}

// Budget is the budget in the spec's own terms, such as "ε = 1 and δ = 1e-9",
// rounded up where it has too many digits.
func Budget(g plan.Guarantee) string {
	if g.Definition == "approximate" {
		g.Rho = ""
	}
	return budget.Amounts(plan.Amount(g.Epsilon), plan.Amount(g.Rho), plan.Amount(g.Delta))
}

// Guarantee is the guarantee in one line: its numbers rounded up, definition,
// neighbours, unit and method, and which public figures it says nothing of.
func Guarantee(g plan.Guarantee) string {
	neighbour := "adding or removing one " + g.Protects
	if g.Neighbours == "replace" {
		neighbour = "replacing one " + g.Protects + " by another"
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s (%s) for %s, meaning %s", Budget(g), definitions[g.Definition], neighbour, g.Unit)
	if g.MaxRows > 1 {
		fmt.Fprintf(b, ", of which at most %s counted", Contribution(g))
	}
	for i, e := range g.Equivalents {
		joint := " and"
		if i == 0 {
			joint = "; that is at most"
		}
		fmt.Fprintf(b, "%s %s at δ = %s", joint, Bound(e), e.Delta)
	}
	fmt.Fprintf(b, "; method: %s.", g.Method)
	if given := GivenAway(g); given != "" {
		fmt.Fprintf(b, " %s.", given)
	}
	return b.String()
}

// Bound is the implied ε in four digits, rounded up, such as "ε = 2.42".
func Bound(e plan.Equivalent) string {
	r := new(big.Rat).SetFloat64(e.Epsilon)
	if r == nil {
		return "ε = ∞"
	}
	return "ε = " + budget.DecimalUp(r, 4)
}

// Outlook is what to expect of one table, or of several alike.
type Outlook struct{ Tables, Text string }

// Outlooks folds neighbouring tables of one marginal that have the same
// expectation and advice into one line, and where there are more than 40 tables those
// with as many attributes, so that a release of a hundred tables can still be read. Of
// the tables it looks at path, marginal, expectation and, where they are given,
// attributes, statistics and usefulness.
func Outlooks(tables []plan.Table) []Outlook {
	same := func(a, b int) bool { return outlook(tables[a]) == outlook(tables[b]) }
	wide := func(a, b int) bool {
		return same(a, b) || len(tables) > ManyTables && tables[a].Statistics != nil && tables[b].Statistics != nil &&
			len(tables[a].By) == len(tables[b].By)
	}
	var out []Outlook
	for _, run := range Runs(tables, wide) {
		o := Outlook{Tables: tables[run.From].Path, Text: outlook(tables[run.From])}
		for i := run.From + 1; i < run.To; i++ {
			if !same(run.From, i) {
				o.Text = expectations(tables[run.From:run.To]) + bandsText(tables[run.From:run.To])
				break
			}
		}
		if more := run.To - run.From - 1; more > 0 {
			o.Tables += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, o)
	}
	return out
}

// outlook is what to expect of a table: beside its expectation how its target is met, and what would make more of it.
func outlook(t plan.Table) string {
	text := t.Expectation
	if t.Target != nil {
		text += fmt.Sprintf(" Its target, %s, is met with ±%s.", t.Target,
			budget.DecimalUp(new(big.Rat).SetFloat64(t.Target.Reached), 4))
	}
	if advice := advice(t.Usefulness); advice != "" {
		text += " " + advice
	}
	return text
}

// run is the tables from ≤ i < to.
type run struct{ From, To int }

// Runs parts tables into the longest runs of one marginal and alike.
func Runs(tables []plan.Table, alike func(a, b int) bool) []run {
	var out []run
	for i, t := range tables {
		last := len(out) - 1
		if last >= 0 && tables[out[last].From].Marginal == t.Marginal && alike(out[last].From, i) {
			out[last].To++
			continue
		}
		out = append(out, run{i, i + 1})
	}
	return out
}
