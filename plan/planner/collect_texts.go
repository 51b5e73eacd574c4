package planner

import (
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file plans questions for texts that nobody lists: how many characters devices are asked for.

const (
	// mostComparisons bounds how often a report is compared with a text after one question: about ten seconds.
	mostComparisons = 1e10
	// leastCandidates and mostCandidates bound the texts that are tried after a question.
	leastCandidates, mostCandidates = 20_000, 1_000_000
	// leastFollowed is how many prefixes can be followed after each question, or more.
	leastFollowed = 100
	// wholeShare is the share of those who are asked who report whole texts.
	wholeShare = 1. / 3
)

// textSearch is how texts that nobody lists are searched, and the shares of those who are asked the question who are
// asked for each prefix.
type textSearch struct {
	selection.Texts
	shares []float64
}

// searchTexts plans how the texts of a question are searched. It follows a third more prefixes than there can be texts
// that are frequent enough to be found, if comparing them with the reports does not take too long.
func (q *inquiry) searchTexts(f selection.Texts, respondents int64) {
	// About an eighth of the respondents report each length.
	limit := math.Min(math.Max(8*mostComparisons/float64(respondents), leastCandidates), mostCandidates)
	most := int64(math.Floor(limit / float64(len([]rune(f.Alphabet)))))
	most = min(max(most, leastFollowed), selection.MostFollowed)
	for wanted := int64(leastFollowed); wanted > f.Followed; {
		f.Followed = wanted
		q.reports.Prefixes = prefixesOf(f, q.reports.Length, limit)
		q.texts = &textSearch{f, sharesOf(f, q.reports.PrefixLengths())}
		laws, thresholds := q.measurement().PrefixLaws(respondents, q.prefixReports(respondents))
		frequent := float64(respondents) / float64(local.LeastDetected(laws, thresholds, 1-plan.MissRate))
		wanted = min(int64(math.Ceil(4./3*frequent)), most)
	}
}

// prefixesOf returns the questions for first characters of texts of so many: they ask for as many at first, and more
// each time, as leave no more texts to try than the limit.
func prefixesOf(f selection.Texts, length int64, limit float64) (all []counted.Prefix) {
	letters := float64(len([]rune(f.Alphabet)))
	for asked, from := int64(0), 1.; asked < length; from = float64(f.Followed) {
		tried, more, next := from, from, asked
		for next < length && (next == asked || tried+float64(more*letters) <= limit) {
			more = float64(more * letters)
			tried += more
			next++
		}
		asked = next
		all = append(all, counted.Prefix{Length: asked})
	}
	return all
}

// sharesOf returns the shares, of those who are asked a question, who are asked for prefixes of these lengths: such
// that a text has the same chance to pass each, in proportion to the squared number of deviations that this takes.
func sharesOf(f selection.Texts, lengths []int64) []float64 {
	shares, squares := make([]float64, len(lengths)), 0.0
	for i, tried := range f.Tried(lengths) {
		deviations := budget.NormalQuantile(math.Min(0.5, f.FalsePositiveRate(tried, i == len(lengths)-1))) +
			budget.NormalQuantile(plan.MissRate/float64(len(lengths)))
		shares[i] = float64(deviations * deviations)
		squares += shares[i]
	}
	for i := range shares {
		shares[i] *= (1 - wholeShare) / squares
	}
	return shares
}

// prefixReports returns how many of so many respondents report each prefix, about.
func (q inquiry) prefixReports(respondents int64) []int64 {
	reports := make([]int64, len(q.texts.shares))
	for i, share := range q.texts.shares {
		reports[i] = int64(math.Round(float64(float64(q.share*share) * float64(respondents))))
	}
	return reports
}

// detectionLimit returns the detection limit of a question for texts ([plan.Measurement.DetectionLimit]), if so many
// respond.
func (q inquiry) detectionLimit(respondents int64) int64 {
	return q.measurement().DetectionLimit(respondents, q.prefixReports(respondents))
}
