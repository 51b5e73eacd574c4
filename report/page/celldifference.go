package page

// This file shows from which difference on two cells of a table differ by more than noise.

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/report/notes"
)

// differenceText states the rule for one count, "" if no difference is known.
func differenceText(s report.Statistic) string {
	if s.CellsDifferFrom == 0 {
		return ""
	}
	return fmt.Sprintf("%s less than %[2]s apart: may be noise alone. At least %[2]s apart, even where intervals overlap: more than noise (wrong for at most %[3]s in 100 pairs that are equal and picked beforehand; whoever looks at many pairs finds such by chance). Sampling error, if any, comes on top.",
		words.Either(s.Fitted != nil, "Two unbiased counts", "Two cells"), budget.Group(s.CellsDifferFrom),
		words.InHundred(s.Confidence))
}

// ApartRule states the rule for all tables, "" if no difference is known.
func (r View) ApartRule() string {
	if !r.HasCellDifferences() {
		return ""
	}
	text := fmt.Sprintf("Smallest real difference: two cells of a table, picked beforehand, differ, %s sure, if %s are at least so far apart, even where intervals overlap. %s That is of noise, not of sampling error.",
		words.Level(r.Accuracy.Confidence), words.Either(r.FittedSome(), "their unbiased counts", "they"),
		notes.PickedAfter(r.Accuracy.Confidence))
	return text +
		words.When(r.Uneven(), " Where cells have different errors it is that of the two for which it is largest.")
}

// distanceText returns the smallest real difference of two cells, a dash if it is not known.
func distanceText(s report.Statistic) string {
	return words.Either(s.CellsDifferFrom == 0, "–", budget.Group(s.CellsDifferFrom))
}
