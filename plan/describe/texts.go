package describe

import (
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes texts that are found from reports.

// foundExpectation says which texts a table will have.
func foundExpectation(l *language.Language, _ *plan.Plan, t plan.Table) string {
	return Found(l, t.Texts)
}

// Found says which texts are found.
func Found(l *language.Language, d *selection.TextsFacts) string {
	return l.Text("The texts of %s are not listed. A text of at most %s, made of the characters %s, is found if more "+
		"reports hold its first characters than chance explains. Of %s, %s or more must have a text for it to be "+
		"found with a probability of 95%%. At most %s are found. A text that is missing from the table may be as "+
		"frequent as one that is in it.",
		d.Column, l.Plural(d.MaxLength, "character"), d.Alphabet, l.Plural(d.Respondents, "respondent"),
		l.Number(budget.Group(d.DetectionLimit)), l.Plural(d.Most, "text"))
}

// cellsAndTexts returns how many cells the tables of a collection have, and whether there are texts besides.
func cellsAndTexts(p *plan.Plan) string {
	hasTexts := slices.ContainsFunc(p.Tables, func(t plan.Table) bool { return t.Texts != nil })
	cells := budget.Plural(p.Size.Cells, "cell")
	switch {
	case hasTexts && p.Size.Cells == 0:
		return "Texts that are found"
	case hasTexts:
		return cells + ", and texts that are found,"
	}
	return cells
}

// textWarnings says of which questions for texts only very frequent ones are found.
func textWarnings(l *language.Language, p *plan.Plan) (w []string) {
	for _, t := range p.Tables {
		if d := t.Texts; d != nil && d.DetectionLimit > d.Respondents/20 {
			w = append(w, l.Text("of %s only texts are found that are very frequent: %s or more of %s must have one. "+
				"More respondents, a larger ε or a smaller max_length help, and so do fewer questions, or a larger "+
				"weight of this one",
				t.Path, l.Number(budget.Group(d.DetectionLimit)), l.Plural(d.Respondents, "respondent")))
		}
	}
	return w
}

func whichFound(plan.Table) string { return "where found" }

// sayFound adds the facts of a table of texts.
func sayFound(b *factBook, t tableRow) {
	d := t.Texts
	b.say(OnTable, t.Path, "column whose texts nobody lists", d.Column)
	b.say(OnTable, t.Path, "characters of texts", d.Alphabet)
	b.say(OnTable, t.Path, "most characters of a text", budget.Group(d.MaxLength))
	b.say(OnTable, t.Path, "respondents with a text that is found with probability 95%", budget.Group(d.DetectionLimit))
	b.say(OnTable, t.Path, "most texts", budget.Group(d.Most))
}
