package notes

// This file says from which difference on two cells of a table differ by more than noise.

import (
	"math"
	"math/big"
	"strconv"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// Comparison says when two counts of a table differ; "" if their errors are zero. The noise of a difference is
// log-concave, so twice the distance has at most the square of the probability of the distance.
func Comparison(r *report.Report) string {
	l := r.In()
	least, most := r.DifferenceRange()
	text := ""
	switch {
	case most > 0 && least == most:
		text = l.Text("Call two counts of one table different only if they are at least %s apart.",
			budget.Group(most))
	case most > 0:
		text = l.Text("Call two counts of one table different only if they are at least as far apart as the %s says "+
			"(%s to %s, by table).",
			l.Text(DifferenceColumn), budget.Group(least), budget.Group(most))
	case r.Accuracy.Margin > 0 && !hasOneMargin(r):
		text = l.Text("Call two counts of one table different only if they are at least twice its margin apart.")
	case r.Accuracy.Margin > 0:
		text = l.Text("Call two counts of one table different only if they are at least twice the margin apart (here "+
			"±%s at most).",
			budget.Group(describe.WholeMargin(r.Accuracy.Margin)))
	default:
		return ""
	}
	text += words.When(most > 0, " "+l.Text("Noise puts two cells with equal exact counts that far apart at most %s "+
		"times in 100.",
		l.Number(words.InHundred(r.Accuracy.Confidence)))+" "+
		l.Text("If you picked the two because their counts differ, require twice that distance."))
	return text + words.When(r.FittedSome(),
		" "+l.Text("In tables whose counts were made to add up, compare the unbiased counts: adding up has moved the "+
			"published ones.")) + " " + acrossText(r)
}

// acrossText says when two cells of different tables or releases, or two figures other than counts, differ: if their
// intervals do not overlap. One of two intervals fails with a probability of at most the sum of their failure
// probabilities, however the noise of the cells is correlated.
func acrossText(r *report.Report) string {
	l, both := r.In(), new(big.Rat).Mul(big.NewRat(2, 1), missOf(r))
	chance, _ := both.Float64()
	return words.Either(r.IsApproximate(),
		l.Text("Cells of two tables or releases, and other figures, differ if their intervals do not touch. Two "+
			"equal figures are taken for different about %s of the time.", l.Percent(chance)),
		l.Text("Cells of two tables or releases, and other figures, differ if their intervals do not touch. Two "+
			"equal figures are taken for different at most %s of the time.", l.Percent(chance)))
}

// missOf returns the probability with which an interval of a count may fail.
func missOf(r *report.Report) *big.Rat {
	confidence := words.Exact(strconv.FormatFloat(r.Accuracy.Confidence, 'g', -1, 64))
	return new(big.Rat).Sub(big.NewRat(1, 1), confidence)
}

// differenceNote says what [Comparison] omits.
func differenceNote(r *report.Report) report.Note {
	l := r.In()
	if !r.HasCellDifferences() {
		return report.Note{Heading: l.Text("Two cells differ if their intervals are apart"),
			Text: words.When(r.Comparison == "", acrossText(r)+" ") +
				l.Text("If the intervals overlap, the difference may be noise. Of many pairs some are apart by "+
					"chance.")}
	}
	text := l.Text("Within a table the smallest real difference is usually less than twice the margin: it is " +
		"computed from the noise of both cells together.")
	text += words.When(r.Reconstructed(),
		" "+l.Text("Noise that cells share, as in tables made from several measurements, is taken into account."))
	once, _ := missOf(r).Float64()
	if bound := tablesWithBound(r); bound != nil {
		half := l.Number(words.Level(1 - float64(once/2)))
		text += " " + l.Text("For %s it is a bound, larger than needed: two margins at %s, which holds however the "+
			"noise of two cells is correlated.",
			l.FirstFew(bound), half)
	}
	pairs := int64(math.Round(1 / once))
	return report.Note{Heading: l.Text("Two cells differ if they are far enough apart"), Text: text + " " +
		l.Text("Twice that distance is enough if there were up to %s pairs to pick from.", budget.Group(pairs))}
}

// tablesWithBound returns the tables whose smallest real difference comes from a bound.
func tablesWithBound(r *report.Report) []string {
	return report.PathsWhere(r.Tables, func(t report.Table) bool {
		return !t.Aside &&
			t.Statistics[0].CellsDifferBound
	})
}
