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
	return fmt.Sprintf("Who looks at many pairs and picks some finds up to %s in 100 equal ones so far apart by chance.",
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
		return fmt.Sprintf("Do not call two counts of a table different that are less than %s apart: that may be noise alone. From there on two that were picked beforehand differ, %s sure.",
			budget.Group(most), sure) + unbiased
	case most > 0:
		return fmt.Sprintf("Do not call two counts of a table different that are less apart than the %s says (%s to %s, by table): that may be noise alone. From there on two that were picked beforehand differ, %s sure.",
			DifferenceColumn, budget.Group(least), budget.Group(most), sure) + unbiased
	case r.Accuracy.Margin > 0 && !hasOneMargin(r):
		return "Do not call two counts of a table different that are less than twice the margin of the table apart: that may be noise alone." +
			unbiased
	case r.Accuracy.Margin > 0:
		return fmt.Sprintf("Do not call two counts of a table different that are less than twice the margin apart (the margin is ±%s at most here): that may be noise alone.",
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
		"can be called different where their intervals do not touch: that is wrong with a chance of %s%s, and usually of far less.",
		chance, budget.Percent(both))
	least, most := r.DifferenceRange()
	if most == 0 {
		return report.Note{Heading: "Two cells differ where their intervals are apart",
			Text: "Two cells that were picked beforehand " + intervals +
				" Where the intervals overlap the difference may be noise alone. Of many pairs some are apart by chance."}
	}
	distance, which := budget.Group(most)+" apart", "That distance is"
	if least != most {
		distance = fmt.Sprintf("as far apart as the %s of the list of tables says (%s to %s, by table)", DifferenceColumn,
			budget.Group(least), budget.Group(most))
		which = "These distances are"
	}
	counts := words.Either(r.FittedSome(), "unbiased", "published")
	text := fmt.Sprintf("Two cells of one table that were picked beforehand differ beyond noise if their %[1]s counts are at least %[2]s, even where their intervals overlap. Where their exact counts are equal noise takes the %[1]s ones so far apart with a chance of at most %[3]s. %[4]s from the law of the noise of both cells together: as a rule less than twice the margin, as noise seldom pushes both the wrong way, and about √2 times the margin where each cell has noise of its own.",
		counts, distance, budget.Percent(once), which)
	text += words.When(r.Reconstructed(),
		" Where cells share noise, in tables that were put together from several measurements, that is reckoned with, and the distance is that of the two cells for which it is largest.")
	if bound := tablesWithBound(r); bound != nil {
		half := words.Level(1 - float64(once/2))
		text += fmt.Sprintf(" Of %s it is a bound that holds however the noise of two cells is correlated: two margins at %s, rather more than is needed.",
			words.FirstFew(bound), half)
	}
	text += words.When(r.FittedSome(),
		" Published counts that were made to add up have been moved, and are not to be compared so.")
	text += words.When(r.Uneven(), " Cells with smaller errors than others differ from less on.")
	return report.Note{Heading: "Two cells differ where they are far enough apart", Text: text +
		" Two cells of different tables, or two figures beside counts, " + intervals + " " +
		PickedAfter(r.Accuracy.Confidence)}
}

// tablesWithBound returns the tables whose smallest real difference comes from a bound.
func tablesWithBound(r *report.Report) []string {
	return report.PathsWhere(r.Tables, func(t report.Table) bool { return !t.Aside && t.Statistics[0].CellsDifferBound })
}
