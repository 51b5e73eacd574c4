package describe

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// This file describes the guarantee, and what to expect of many tables in a few lines. The signed page, the metadata
// of published files and the report all use it.

// definitions names the privacy definitions.
var definitions = map[string]string{
	"pure":        "pure differential privacy",
	"approximate": "approximate differential privacy",
	"zcdp":        "zero-concentrated differential privacy",
}

// Budget returns the budget in the spec's own terms, such as "ε = 1 and δ = 1e-9", rounded up if it has too many
// digits.
func Budget(g plan.Guarantee) string {
	if g.Definition == "approximate" {
		g.Rho = ""
	}
	return budget.Amounts(plan.Amount(g.Epsilon), plan.Amount(g.Rho), plan.Amount(g.Delta))
}

// Guarantee describes the guarantee in one line: its numbers rounded up, definition, neighbours, unit and method, and
// the public figures that it does not cover.
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

// Bound returns the implied ε in four digits, rounded up, such as "ε = 2.42".
func Bound(e plan.Equivalent) string {
	r := new(big.Rat).SetFloat64(e.Epsilon)
	if r == nil {
		return "ε = ∞"
	}
	return "ε = " + budget.DecimalUp(r, 4)
}

// Outlook is what to expect of one table, or of several similar ones.
type Outlook struct{ Tables, Text string }

// Outlooks folds neighbouring tables of one marginal with the same expectation and advice into one line. If there are
// more than 40 tables, it also folds those with the same number of attributes, so that a release of a hundred tables
// can still be read. It reads the path, marginal and expectation of the tables and, if they are given, attributes,
// statistics and usefulness.
func Outlooks(tables []plan.Table) []Outlook {
	same := func(a, b int) bool { return outlookText(tables[a]) == outlookText(tables[b]) }
	wide := func(a, b int) bool {
		return same(a, b) || len(tables) > ManyTables && tables[a].Statistics != nil && tables[b].Statistics != nil &&
			len(tables[a].By) == len(tables[b].By)
	}
	var out []Outlook
	for _, run := range Runs(tables, wide) {
		o := Outlook{Tables: tables[run.From].Path, Text: outlookText(tables[run.From])}
		for i := run.From + 1; i < run.To; i++ {
			if !same(run.From, i) {
				o.Text = expectationOfMany(tables[run.From:run.To]) + bandsText(tables[run.From:run.To])
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

// outlookText says what to expect of a table: its expectation, how its target is met, and what would improve it.
func outlookText(t plan.Table) string {
	text := t.Expectation
	if t.Target != nil {
		text += fmt.Sprintf(" Its target, %s, is met with ±%s.", t.Target,
			budget.DecimalUp(new(big.Rat).SetFloat64(t.Target.Reached), 4))
	}
	if advice := adviceText(t.Usefulness); advice != "" {
		text += " " + advice
	}
	return text
}

// tableRun is the tables From ≤ i < To.
type tableRun struct{ From, To int }

// Runs partitions tables into the longest runs of one marginal for which alike holds.
func Runs(tables []plan.Table, alike func(a, b int) bool) []tableRun {
	var out []tableRun
	for i, t := range tables {
		last := len(out) - 1
		if last >= 0 && tables[out[last].From].Marginal == t.Marginal && alike(out[last].From, i) {
			out[last].To++
			continue
		}
		out = append(out, tableRun{i, i + 1})
	}
	return out
}
