package page

// This file holds from how far apart on two cells of a table differ beyond noise, as pages show it.

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/report/notes"
)

// apartText is the rule in a sentence, "" where none is known.
func apartText(s report.Statistic) string {
	if s.Apart == 0 {
		return ""
	}
	return fmt.Sprintf("%s less than %[2]s apart: may be noise alone. At least %[2]s apart, even where intervals overlap: more than noise (wrong for at most %[3]s in 100 pairs that are equal and picked beforehand; whoever looks at many pairs finds such by chance). Sampling error, if any, comes on top.",
		words.Either(s.Fitted != nil, "Two unbiased counts", "Two cells"), budget.Group(s.Apart), words.InHundred(s.Confidence))
}

// ApartRule is the rule for all tables, "" where no distance is known.
func (r View) ApartRule() string {
	if !r.Apart() {
		return ""
	}
	text := fmt.Sprintf("Smallest real difference: two cells of a table, picked beforehand, differ, %s sure, if %s are at least so far apart, even where intervals overlap. %s That is of noise, not of sampling error.",
		words.Level(r.Accuracy.Confidence), words.Either(r.FittedSome(), "their unbiased counts", "they"),
		notes.PickedAfter(r.Accuracy.Confidence))
	return text + words.When(r.Uneven(), " Where cells have different errors it is that of the two for which it is largest.")
}

// distanceText is from how far apart on two of its cells differ, a dash where that is not known.
func distanceText(s report.Statistic) string {
	return words.Either(s.Apart == 0, "–", budget.Group(s.Apart))
}
