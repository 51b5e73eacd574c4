package plan

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
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
func (g Guarantee) Budget() string {
	if g.Definition == "approximate" {
		g.Rho = ""
	}
	return budget.Amounts(amount(g.Epsilon), amount(g.Rho), amount(g.Delta))
}

// Sentence is the guarantee in one line: its numbers rounded up, definition,
// neighbours, unit and method, and which public figures it says nothing of.
func (g Guarantee) Sentence() string {
	neighbour := "adding or removing one " + g.Protects
	if g.Neighbours == "replace" {
		neighbour = "replacing one " + g.Protects + " by another"
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s (%s) for %s, meaning %s", g.Budget(), definitions[g.Definition], neighbour, g.Unit)
	if g.MaxRows > 1 {
		fmt.Fprintf(b, ", of which at most %s counted", g.Counted())
	}
	for i, e := range g.Equivalents {
		joint := " and"
		if i == 0 {
			joint = "; that is at most"
		}
		fmt.Fprintf(b, "%s %s at δ = %s", joint, e.Bound(), e.Delta)
	}
	fmt.Fprintf(b, "; method: %s.", g.Method)
	if given := g.GivenAway(); given != "" {
		fmt.Fprintf(b, " %s.", given)
	}
	return b.String()
}

// Bound is the implied ε in four digits, rounded up, such as "ε = 2.42".
func (e Equivalent) Bound() string {
	r := new(big.Rat).SetFloat64(e.Epsilon)
	if r == nil {
		return "ε = ∞"
	}
	return "ε = " + budget.DecimalUp(r, 4)
}

// amount reads an exact number of a plan; nil is none.
func amount(exact string) *big.Rat {
	r, err := budget.ParseRat(exact)
	if err != nil {
		return nil
	}
	return r
}

// Outlook is what to expect of one table, or of several alike.
type Outlook struct{ Tables, Text string }

// Outlooks folds neighbouring tables of one marginal that have the same
// expectation and advice into one line, and where there are more than 40 tables those
// with as many attributes, so that a release of a hundred tables can still be read. Of
// the tables it looks at path, marginal, expectation and, where they are given,
// attributes, statistics and usefulness.
func Outlooks(tables []Table) []Outlook {
	same := func(a, b int) bool { return tables[a].outlook() == tables[b].outlook() }
	wide := func(a, b int) bool {
		return same(a, b) || len(tables) > manyTables && tables[a].Statistics != nil && tables[b].Statistics != nil && len(tables[a].By) == len(tables[b].By)
	}
	var out []Outlook
	for _, run := range runs(tables, wide) {
		o := Outlook{Tables: tables[run.from].Path, Text: tables[run.from].outlook()}
		for i := run.from + 1; i < run.to; i++ {
			if !same(run.from, i) {
				o.Text = expectations(tables[run.from:run.to]) + bandsText(tables[run.from:run.to])
				break
			}
		}
		if more := run.to - run.from - 1; more > 0 {
			o.Tables += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, o)
	}
	return out
}

// outlook is what to expect of a table: beside its expectation how its target is met, and what would make more of it.
func (t Table) outlook() string {
	text := t.Expectation
	if t.Target != nil {
		text += fmt.Sprintf(" Its target, %s, is met with ±%s.", t.Target, budget.DecimalUp(new(big.Rat).SetFloat64(t.Target.Reached), 4))
	}
	if advice := t.Usefulness.advice(); advice != "" {
		text += " " + advice
	}
	return text
}

// run is the tables from ≤ i < to.
type run struct{ from, to int }

// runs parts tables into the longest runs of one marginal and alike.
func runs(tables []Table, alike func(a, b int) bool) []run {
	var out []run
	for i, t := range tables {
		last := len(out) - 1
		if last >= 0 && tables[out[last].from].Marginal == t.Marginal && alike(out[last].from, i) {
			out[last].to++
			continue
		}
		out = append(out, run{i, i + 1})
	}
	return out
}
