package describe

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes impossible cells.

// Impossibility is an entry of `impossible` in words.
type Impossibility struct {
	Table string `json:"table"`
	// Rule is a condition that no row meets, such as "hhgq = 3 with adult = minor".
	Rule string `json:"rule"`
	// Drop reports whether a row that meets the rule is left out; otherwise it stops the run.
	Drop bool `json:"left_out,omitempty"`
}

// Impossibilities returns the spec's impossible entries, in its order.
func Impossibilities(l *language.Language, p *plan.Plan) []Impossibility {
	var all []Impossibility
	for _, e := range p.Release().Impossible {
		rule := ""
		for _, c := range e.Where {
			condition := conditionText(l, p.Release().Table(e.Table), c)
			if rule != "" {
				condition = l.Text("%s with %s", rule, condition)
			}
			rule = condition
		}
		all = append(all, Impossibility{Table: e.Table, Rule: rule, Drop: e.Drop})
	}
	return all
}

// fewCodes is the number of consecutive codes from which a condition names only the first and the last.
const fewCodes = 4

// conditionText describes a condition. Consecutive codes are named by the first and the last.
func conditionText(l *language.Language, t *spec.Table, c spec.Condition) string {
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
			codes = append(codes, l.Text("%s to %s", first, last))
		default:
			for _, code := range c.Codes[from:to] {
				codes = append(codes, level.Categories[code].Code)
			}
		}
		from = to
	}
	return c.Attribute.String() + " = " + strings.Join(codes, " "+l.Text("or")+" ")
}

// Sentence says what the entry means for a row.
func (i Impossibility) Sentence(l *language.Language) string {
	return l.Text("no row of %s has %s: %s", i.Table, i.Rule, i.effectText(l))
}

// effectText says what happens to a row that meets the rule.
func (i Impossibility) effectText(l *language.Language) string {
	if i.Drop {
		return l.Text("such a row is left out before anything is bounded or counted")
	}
	return l.Text("such a row stops the run, and nothing is spent")
}

// explainImpossible writes what is impossible, and how many cells of the tables that concerns.
func explainImpossible(p *plan.Plan, b *strings.Builder) {
	all := Impossibilities(language.English, p)
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\nImpossible, as the spec declares and no data says\n")
	for _, i := range all {
		fmt.Fprintf(b, "  %s\n", i.Sentence(language.English))
	}
	for _, t := range p.Tables {
		if t.Impossible > 0 {
			fmt.Fprintf(b, "  %s: %s of %s cannot be (impossible), exact zeros\n", t.Path, budget.Group(t.Impossible),
				budget.Plural(t.Cells, "cell"))
		}
	}
}

// sayImpossible adds the number of impossible cells of a table.
func (b *factBook) sayImpossible(t plan.Table) {
	if t.Impossible > 0 {
		b.say(OnTable, t.Path, "impossible cells", budget.Group(t.Impossible))
	}
}
