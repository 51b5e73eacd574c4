package describe

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes public figures.

// Invariant says what the figures are and where they come from.
func Invariant(l *language.Language, i plan.Invariant) string {
	what := l.Text("the number of rows of %s", i.Table)
	if len(i.By) > 0 {
		what = l.Text("the rows of %s by %s, %s", i.Table, strings.Join(i.By, " × "), l.Plural(i.Cells, "figure"))
	}
	if i.From == "" {
		return l.Text("%s (%s, from the spec)", i.Name, what)
	}
	return l.Text("%s (%s, from %s)", i.Name, what, i.From)
}

// Invariants returns the descriptions of public figures.
func Invariants(l *language.Language, all []plan.Invariant) (sentences []string) {
	for _, i := range all {
		sentences = append(sentences, Invariant(l, i))
	}
	return sentences
}

// publicText says that the cells of a table are public figures; "" if they are not.
func publicText(l *language.Language, t plan.Table) string {
	if t.Invariant == "" {
		return ""
	}
	return l.Text("Public figures: its cells are the figures of invariant %s, or sums of them, and have no noise.",
		t.Invariant)
}

// GivenAway says which public figures are published exactly; "" if there are none.
func GivenAway(l *language.Language, p *plan.Plan) string {
	if len(p.Invariants) == 0 {
		return ""
	}
	return l.Text("Also given away, as public figures for which no data were read: %s",
		strings.Join(Invariants(l, p.Invariants), "; "))
}

// explainInvariants writes which figures are public, and which tables show them.
func explainInvariants(p *plan.Plan, b *strings.Builder) {
	if p.Invariants == nil {
		return
	}
	fmt.Fprintf(b, "\nPublic figures, which are given away (the promise is not about them)\n")
	for _, i := range p.Invariants {
		fmt.Fprintf(b, "  %s, %s in all\n", Invariant(language.English, i), budget.Plural(i.Total, "row"))
		if i.Tables != nil {
			more := ""
			if n := len(i.Tables) - firstTables; n > 0 {
				more = fmt.Sprintf(" and %s", budget.Plural(int64(n), "other"))
			}
			fmt.Fprintf(b, "    shown as they are, or their sums, in %s%s\n",
				strings.Join(i.Tables[:min(len(i.Tables), firstTables)], ", "), more)
		}
	}
}

// sayInvariants says which figures are public.
func (b *factBook) sayInvariants(p *plan.Plan) {
	for k, i := range p.Invariants {
		f := planFact{topic: OnSource, subject: i.Table, what: "public figures " + i.Name,
			value: fmt.Sprintf("%s, %s in all", Invariant(language.English, i), budget.Plural(i.Total, "row"))}
		hash := plan.HashOf([]byte(fmt.Sprint(p.Release().Invariants[k].Counts)))
		f.value, f.exact = f.value+", SHA-256 "+hash[:16], "SHA-256 "+hash
		b.add(f)
		for _, path := range i.Tables {
			b.say(OnTable, path, "cells", "public figures of invariant "+i.Name)
		}
	}
}

// invariantWarnings warns of what invariants give away, and of measurements that gain nothing.
func invariantWarnings(l *language.Language, p *plan.Plan) []string {
	if p.Invariants == nil {
		return nil
	}
	var names, measured []string
	for _, i := range p.Invariants {
		names = append(names, i.Name)
		for _, path := range i.Tables {
			if t, ok := p.TableOf(path); ok && len(t.Figures) == 0 {
				measured = append(measured, path)
			}
		}
	}
	all := []string{l.Text(
		"the figures of %s are published as they are. If they were counted in the same data, what they reveal about "+
			"any %s is not protected by anything here", strings.Join(names, ", "), p.Guarantee.Protects)}
	if measured != nil {
		all = append(all, l.Text(
			"the cells of %s are public figures, and measuring them takes a part of the budget that makes no cell of "+
				"theirs better: without these marginals the others get it",
			strings.Join(measured[:min(len(measured), firstTables)], ", ")))
	}
	return all
}
