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
	"github.com/dprelease/dprelease/spec/language"
)

// PickedAfter advises on pairs that are picked for their figures. A pair of equal cells differs that much with a
// probability of at most 1 − confidence, so among all pairs that one looks at, up to that share do, on average. The
// noise of a difference is log-concave, so twice the distance has at most the square of that probability.
func PickedAfter(l *language.Language, confidence float64) string {
	pairs := int64(math.Round(1 / (1 - confidence)))
	return l.Text("Among many pairs, up to %s in 100 with equal exact counts are that far apart by chance. If you pick a pair because its counts differ, ask for twice the distance: that is enough if there were up to %s pairs to pick from.",
		l.Number(words.InHundred(confidence)), budget.Group(pairs))
}

// comparisonWarning is the warning about comparing two counts; "" if their errors are zero.
func comparisonWarning(r *report.Report) string {
	l := r.In()
	least, most := r.DifferenceRange()
	chance := l.Number(words.InHundred(r.Accuracy.Confidence))
	unbiased := words.When(r.FittedSome(),
		" "+l.Text("In tables whose counts were made to add up, compare the unbiased counts: adding up has moved the published ones."))
	switch {
	case most > 0 && least == most:
		return l.Text("Do not call two counts of a table different if they are less than %s apart: that may be noise. If two cells that you chose before you saw them have equal exact counts, noise puts the published ones that far apart at most %s times in 100.",
			budget.Group(most), chance) + unbiased
	case most > 0:
		return l.Text("Do not call two counts of a table different if they are closer than the %s says (%s to %s, by table): that may be noise. If two cells that you chose before you saw them have equal exact counts, noise puts the published ones that far apart at most %s times in 100.",
			l.Text(DifferenceColumn), budget.Group(least), budget.Group(most), chance) + unbiased
	case r.Accuracy.Margin > 0 && !hasOneMargin(r):
		return l.Text("Do not call two counts of a table different if they are less than twice its margin apart: that may be noise.") +
			unbiased
	case r.Accuracy.Margin > 0:
		return l.Text("Do not call two counts of a table different if they are less than twice the margin apart (here ±%s at most): that may be noise.",
			budget.Group(describe.WholeMargin(r.Accuracy.Margin))) + unbiased
	}
	return ""
}

// differenceNote says when two cells differ by more than noise: by the distribution of their difference and, across
// tables, if their intervals do not overlap. One of two intervals fails with a probability of at most the sum of their
// failure probabilities, however the noise of the cells is correlated.
func differenceNote(r *report.Report) report.Note {
	l := r.In()
	confidence := words.Exact(strconv.FormatFloat(r.Accuracy.Confidence, 'g', -1, 64))
	miss := new(big.Rat).Sub(big.NewRat(1, 1), confidence)
	once, _ := miss.Float64()
	twice, _ := new(big.Rat).Mul(big.NewRat(2, 1), miss).Float64()
	both, sampled := l.Percent(twice), r.IsApproximate()
	least, most := r.DifferenceRange()
	if most == 0 {
		return report.Note{Heading: l.Text("Two cells differ if their intervals are apart"),
			Text: words.Either(sampled,
				l.Text("Two cells that you picked beforehand differ if their intervals do not touch; that is wrong with a chance of about %s, usually far less.", both),
				l.Text("Two cells that you picked beforehand differ if their intervals do not touch; that is wrong with a chance of at most %s, usually far less.", both)) +
				" " + l.Text("If the intervals overlap, the difference may be noise. Of many pairs some are apart by chance.")}
	}
	text := distanceRule(r, least, most, l.Percent(once))
	text += words.When(r.Reconstructed(),
		" "+l.Text("If cells share noise, as in tables made from several measurements, that is taken into account."))
	if bound := tablesWithBound(r); bound != nil {
		half := l.Number(words.Level(1 - float64(once/2)))
		text += " " + l.Text("For %s, the distance is a bound that holds however the noise of two cells is correlated: two margins at %s, which is more than needed.",
			l.FirstFew(bound), half)
	}
	text += words.When(r.FittedSome(),
		" "+l.Text("Published counts that were made to add up have been moved: do not compare them this way."))
	return report.Note{Heading: l.Text("Two cells differ if they are far enough apart"), Text: text + " " + words.Either(sampled,
		l.Text("Two cells of different tables, or two figures other than counts, differ if their intervals do not touch; that is wrong with a chance of about %s, usually far less.", both),
		l.Text("Two cells of different tables, or two figures other than counts, differ if their intervals do not touch; that is wrong with a chance of at most %s, usually far less.", both))}
}

// distanceRule says how far apart the counts of two cells of one table must be.
func distanceRule(r *report.Report, least, most int64, chance string) string {
	l, unbiased := r.In(), r.FittedSome()
	if least == most {
		apart := budget.Group(most)
		return words.Either(unbiased,
			l.Text("Two cells of one table that you picked beforehand differ if their unbiased counts are at least %s apart. Cells with equal exact counts are that far apart with a chance of at most %s.", apart, chance),
			l.Text("Two cells of one table that you picked beforehand differ if their published counts are at least %s apart. Cells with equal exact counts are that far apart with a chance of at most %s.", apart, chance)) +
			" " + l.Text("That distance is computed from the noise of both cells together, and usually less than twice the margin.")
	}
	column, from, to := l.Text(DifferenceColumn), budget.Group(least), budget.Group(most)
	return words.Either(unbiased,
		l.Text("Two cells of one table that you picked beforehand differ if their unbiased counts are at least as far apart as the %s says (%s to %s, by table). Cells with equal exact counts are that far apart with a chance of at most %s.",
			column, from, to, chance),
		l.Text("Two cells of one table that you picked beforehand differ if their published counts are at least as far apart as the %s says (%s to %s, by table). Cells with equal exact counts are that far apart with a chance of at most %s.",
			column, from, to, chance)) +
		" " + l.Text("These distances are computed from the noise of both cells together, and are usually less than twice the margin.")
}

// tablesWithBound returns the tables whose smallest real difference comes from a bound.
func tablesWithBound(r *report.Report) []string {
	return report.PathsWhere(r.Tables, func(t report.Table) bool { return !t.Aside && t.Statistics[0].CellsDifferBound })
}
