package notes

// This file writes the assumptions: what the guarantee depends on and the release cannot show.

import (
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// weightsAssumption says what the guarantee assumes about weights.
func weightsAssumption(l *language.Language, w report.WeightBounds, protects string) string {
	return words.Either(w.Kind == report.CalibratedWeights,
		l.Text("Weights of %s were calibrated, so that they depend on the rows of others: the guarantee holds for rows with weights as they are. What the weight of one %s tells of another is not covered.",
			w.Table, protects),
		l.Text("Weights of %s are attributes of the %s, as the spec says, and depend on no other: of weights that were adjusted to totals the guarantee holds only for rows with weights as they are.",
			w.Table, protects))
}

// Assumptions lists what the guarantee depends on and the release cannot show.
func Assumptions(r *report.Report) []string {
	l, g := r.In(), r.Guarantee
	unit := l.Text("Every row is one %s and no %[1]s has two.", g.Protects)
	if !g.ByRow() {
		unit = l.Text("%s are one %s: with a wrong id, or two ids for one %[2]s, the protection is weaker.",
			words.Capital(g.Unit), g.Protects)
		unit += words.When(g.Rows != nil, " "+l.Text("A row of any of these tables is of one %s alone.", g.Protects)) +
			words.When(g.WithoutID != "", " "+l.Text("Rows without an id were left out of every count."))
	}
	all := []string{
		l.Text("The program named in this report was run unchanged, on the plan published here."),
		unit,
		l.Text("The promise is about data files that keep to the rules of the spec. A file that breaks one stops the run before anything is spent; what this stop reveals is not covered."),
		l.Text("The key of the noise was secret while it was in use, and is erased."),
		l.Text("Other releases from the same data are charged to the same account."),
	}
	if r.Bounds != nil {
		for _, w := range r.Bounds.Weights {
			all = append(all, weightsAssumption(l, w, g.Protects))
		}
		for _, c := range r.Bounds.Columns {
			all = append(all,
				words.Either(c.By != "",
					l.Text("The ranges of %s are the spec's, chosen without looking at these data, and the %s of a row is an attribute of its %s.",
						c.Column, c.By, g.Protects),
					l.Text("The range of %s is the spec's, chosen without looking at these data.", c.Column)))
		}
	}
	for _, t := range r.Provenance.Public {
		all = append(all, l.Text("The table %s is public: nothing that it holds is protected, and the plan publishes its key and the columns that are looked up.",
			t.In(l)))
	}
	if g.Replaced() {
		all = append(all, words.Either(g.Rows != nil,
			l.Text("How many units (each %s) there are, in all tables together, is no secret.", g.Protects),
			l.Text("How many units (each %s) there are is no secret.", g.Protects)))
	}
	return all
}
