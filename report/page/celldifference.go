package page

// This file shows from which difference on two cells of a table differ by more than noise.

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/report/notes"
)

// ApartRule states the rule for all tables, "" if no difference is known.
func (r View) ApartRule() string {
	if !r.HasCellDifferences() {
		return ""
	}
	l := r.In()
	return words.Either(r.FittedSome(),
		l.Text("Two cells of the table differ if their unbiased counts are at least this far apart, even if their "+
			"intervals overlap (see %s).", l.Text(notes.ComparisonPart)),
		l.Text("Two cells of the table differ if they are at least this far apart, even if their intervals overlap (see %s).", l.Text(notes.ComparisonPart))) +
		words.When(r.Uneven(), " "+l.Text("If pairs of cells need different distances, this is the largest of them, "+
			"which is enough for every pair."))
}

// distanceText returns the smallest real difference of two cells, a dash if it is not known.
func distanceText(s report.Statistic) string {
	return words.Either(s.CellsDifferFrom == 0, "–", budget.Group(s.CellsDifferFrom))
}
