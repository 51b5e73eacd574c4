package notes

// This file says from which difference on two cells of a table differ by more than noise.

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// PickedAfter says why pairs must be chosen beforehand: a pair of equal cells differs that much with a probability of
// at most 1 − confidence, so among all pairs that one looks at, up to that share do, on average.
func PickedAfter(confidence float64) string {
	return fmt.Sprintf("Among many pairs, up to %s in 100 equal ones are that far apart by chance.",
		words.InHundred(confidence))
}

// comparisonWarning is the warning about comparing two counts; "" if their errors are zero.
func comparisonWarning(r *report.Report) string {
	least, most := r.DifferenceRange()
	sure := words.Level(r.Accuracy.Confidence)
	unbiased := words.When(r.FittedSome(),
		" Of tables whose counts were made to add up, compare the unbiased counts: adding up has moved the published ones.")
	switch {
	case most > 0 && least == most:
		return fmt.Sprintf("Do not call two counts of a table different if they are less than %s apart: that may be noise. If they are at least that far apart, and you picked them beforehand, they differ, %s sure.",
			budget.Group(most), sure) + unbiased
	case most > 0:
		return fmt.Sprintf("Do not call two counts of a table different if they are closer than the %s says (%s to %s, by table): that may be noise. If they are at least that far apart, and you picked them beforehand, they differ, %s sure.",
			DifferenceColumn, budget.Group(least), budget.Group(most), sure) + unbiased
	case r.Accuracy.Margin > 0 && !hasOneMargin(r):
		return "Do not call two counts of a table different if they are less than twice its margin apart: that may be noise." +
			unbiased
	case r.Accuracy.Margin > 0:
		return fmt.Sprintf("Do not call two counts of a table different if they are less than twice the margin apart (here ±%s at most): that may be noise.",
			budget.Group(describe.WholeMargin(r.Accuracy.Margin))) + unbiased
	}
	return ""
}

// differenceNote says when two cells differ by more than noise: by the distribution of their difference and, across
// tables, if their intervals do not overlap. One of two intervals fails with a probability of at most the sum of their
// failure probabilities, however the noise of the cells is correlated.
func differenceNote(r *report.Report) report.Note {
	chance, confidence := r.Bounded("at most")+" ", words.Exact(strconv.FormatFloat(r.Accuracy.Confidence, 'g', -1, 64))
	miss := new(big.Rat).Sub(big.NewRat(1, 1), confidence)
	once, _ := miss.Float64()
	both, _ := new(big.Rat).Mul(big.NewRat(2, 1), miss).Float64()
	intervals := fmt.Sprintf(
		"differ if their intervals do not touch; that is wrong with a chance of %s%s, usually far less.",
		chance, budget.Percent(both))
	least, most := r.DifferenceRange()
	if most == 0 {
		return report.Note{Heading: "Two cells differ if their intervals are apart",
			Text: "Two cells that you picked beforehand " + intervals +
				" If the intervals overlap, the difference may be noise. Of many pairs some are apart by chance."}
	}
	distance, which := budget.Group(most)+" apart", "That distance is"
	if least != most {
		distance = fmt.Sprintf("as far apart as the %s says (%s to %s, by table)", DifferenceColumn,
			budget.Group(least), budget.Group(most))
		which = "These distances are"
	}
	counts := words.Either(r.FittedSome(), "unbiased", "published")
	text := fmt.Sprintf("Two cells of one table that you picked beforehand differ if their %[1]s counts are at least %[2]s; if their exact counts are equal, that happens with a chance of at most %[3]s. %[4]s computed from the noise of both cells together, and usually less than twice the margin.",
		counts, distance, budget.Percent(once), which)
	text += words.When(r.Reconstructed(),
		" If cells share noise, as in tables made from several measurements, that is taken into account.")
	if bound := tablesWithBound(r); bound != nil {
		half := words.Level(1 - float64(once/2))
		text += fmt.Sprintf(" For %s it is a bound that holds however the noise of two cells is correlated: two margins at %s, more than is needed.",
			words.FirstFew(bound), half)
	}
	text += words.When(r.FittedSome(),
		" Published counts that were made to add up have been moved: do not compare them this way.")
	return report.Note{Heading: "Two cells differ if they are far enough apart", Text: text +
		" Two cells of different tables, or two figures other than counts, " + intervals}
}

// tablesWithBound returns the tables whose smallest real difference comes from a bound.
func tablesWithBound(r *report.Report) []string {
	return report.PathsWhere(r.Tables, func(t report.Table) bool { return !t.Aside && t.Statistics[0].CellsDifferBound })
}
