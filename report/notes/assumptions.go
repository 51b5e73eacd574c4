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
		l.Text("The weights of %s were calibrated, so they depend on the rows of others. The guarantee holds for the "+
			"rows with their weights as they are; what the weight of one %s reveals about another is not covered.",
			w.Table, protects),
		l.Text("The weights of %s are attributes of the %s, as the spec says, and do not depend on any other %[2]s. "+
			"If weights were adjusted to totals, the guarantee holds only for the rows with their weights as they "+
			"are; what the weights of others reveal about one %[2]s is not covered.",
			w.Table, protects))
}

// Assumptions lists what the guarantee depends on and the release cannot show.
func Assumptions(r *report.Report) []string {
	if r.Collection != nil {
		return collectionAssumptions(r)
	}
	l, g := r.In(), r.Guarantee
	unit := l.Text("Every row is one %s and no %[1]s has two.", g.Protects)
	if !g.ByRow() {
		unit = l.Text("%s are one %s: with a wrong id, or two ids for one %[2]s, the protection is weaker.",
			words.Capital(g.Unit), g.Protects)
		unit += words.When(g.Rows != nil, " "+l.Text("Each row of these tables belongs to only one %s.", g.Protects)) +
			words.When(g.WithoutID != "", " "+l.Text("Rows without an id were left out of every count."))
	}
	all := []string{
		l.Text("The program named in this report was run unchanged, on the plan published here."),
		unit,
		l.Text("The promise is about data files that keep to the rules of the spec. A file that breaks one stops the " +
			"run before anything is spent; what this stop reveals is not covered."),
		l.Text("The key of the noise was secret while it was in use, and is erased."),
		l.Text("Other releases from the same data are charged to the same account."),
	}
	all = append(all, holdersAssumptions(l, g)...)
	if r.Bounds != nil {
		for _, w := range r.Bounds.Weights {
			all = append(all, weightsAssumption(l, w, g.Protects))
		}
		for _, c := range r.Bounds.Columns {
			all = append(all,
				words.Either(c.By != "",
					l.Text("The ranges of %s come from the spec and were chosen without looking at these data. The "+
						"column %s is an attribute of the %s.",
						c.Column, c.By, g.Protects),
					l.Text("The range of %s comes from the spec and was chosen without looking at these data.",
						c.Column)))
		}
	}
	for _, t := range r.Provenance.Public {
		all = append(all, l.Text("The table %s is public: nothing in it is protected, and the plan publishes its key "+
			"and the columns that are looked up.",
			t.In(l)))
	}
	if g.Replaced() {
		all = append(all, words.Either(g.Rows != nil,
			l.Text("How many units (each %s) there are, in all tables together, is no secret.", g.Protects),
			l.Text("How many units (each %s) there are is no secret.", g.Protects)))
	}
	return all
}
