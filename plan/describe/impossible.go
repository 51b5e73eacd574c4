package describe

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds impossible cells in words.

// Impossibility is an entry of `impossible` in words.
type Impossibility struct {
	Table string `json:"table"`
	// Rule is what no row is, such as "hhgq = 3 with adult = minor".
	Rule string `json:"rule"`
	// Drop tells that a row that is so is left out; else it stops the run.
	Drop bool `json:"left_out,omitempty"`
}

// Impossibilities are what the spec says that no row can be, in its order.
func Impossibilities(p *plan.Plan) []Impossibility {
	var all []Impossibility
	for _, e := range p.Release().Impossible {
		var conditions []string
		for _, c := range e.Where {
			conditions = append(conditions, conditionText(p.Release().Table(e.Table), c))
		}
		all = append(all, Impossibility{Table: e.Table, Rule: strings.Join(conditions, " with "), Drop: e.Drop})
	}
	return all
}

// fewCodes is how many codes of a condition are named one by one.
const fewCodes = 4

// conditionText is a condition in words: codes that follow each other are named by the first and the last.
func conditionText(t *spec.Table, c spec.Condition) string {
	level, _ := t.Column(c.Attribute.Column).Domain.Level(c.Attribute.Level)
	var codes []string
	for from := 0; from < len(c.Codes); {
		to := from + 1
		for to < len(c.Codes) && c.Codes[to] == c.Codes[to-1]+1 {
			to++
		}
		first, last := level.Categories[c.Codes[from]].Code, level.Categories[c.Codes[to-1]].Code
		switch {
		case to-from >= fewCodes:
			codes = append(codes, first+" to "+last)
		default:
			for _, code := range c.Codes[from:to] {
				codes = append(codes, level.Categories[code].Code)
			}
		}
		from = to
	}
	return c.Attribute.String() + " = " + strings.Join(codes, " or ")
}

// Sentence says what the entry means for a row.
func (i Impossibility) Sentence() string {
	return fmt.Sprintf("no row of %s has %s: %s", i.Table, i.Rule, i.policy())
}

// policy says what happens to a row that is so.
func (i Impossibility) policy() string {
	if i.Drop {
		return "a row that is so is left out before anything is bounded or counted"
	}
	return "a row that is so stops the run, and nothing is spent"
}

// explainImpossible writes what cannot be, and what that makes of the tables.
func explainImpossible(p *plan.Plan, b *strings.Builder) {
	all := Impossibilities(p)
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\nImpossible, as the spec declares and no data says\n")
	for _, i := range all {
		fmt.Fprintf(b, "  %s\n", i.Sentence())
	}
	for _, t := range p.Tables {
		if t.Impossible > 0 {
			fmt.Fprintf(b, "  %s: %s of %s cannot be (impossible), exact zeros\n", t.Path, budget.Group(t.Impossible),
				budget.Plural(t.Cells, "cell"))
		}
	}
}

// impossible says how many cells of a table cannot be.
func (b *factBook) impossible(t plan.Table) {
	if t.Impossible > 0 {
		b.say(OnTable, t.Path, "impossible cells", budget.Group(t.Impossible))
	}
}
