package hierarchy

import (
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file chooses how many devices are asked each level, and says how precise the sums along a column will be.

// LeastReports is how many reports to bands a collection must expect to ask for them: estimates from fewer are not
// nearly normal.
const LeastReports = 200

const (
	// rounds is how often the shares are improved for the same levels.
	rounds = 15
	// leastShare is the share of a level below which it is left out.
	leastShare = 0.02
	// worthwhile is by which factor the mean squared error must fall: without a hierarchy intervals are exact, with one
	// they are not.
	worthwhile = 1.1
)

// Choose returns the levels of which devices draw one, out of those given, and with which probabilities, so that the
// mean squared error of the sums along the column is least where all answers are given equally often. The first level
// is always among them. Others are left out that would have fewer than [LeastReports] of so many reports, and all where
// they would not lower the error by much.
//
// Method: for given weights of the estimate the mean squared error is Σ_h J_h/share_h, which is least where the shares
// are in proportion to √J_h; and the weights are the best ones for given shares. Each of the two steps lowers it.
func Choose(q Question, sums residual.Sums, levels []Level, reports float64) (chosen []Level, shares []float64) {
	chosen, shares = slices.Clone(levels), slices.Repeat([]float64{1 / float64(len(levels))}, len(levels))
	for {
		for range rounds {
			shares = improved(lossesOf(q, sums, chosen, shares), shares)
		}
		least := 0
		for h := range shares {
			if h > 0 && (least == 0 || shares[h] < shares[least]) {
				least = h
			}
		}
		if least == 0 || shares[least] >= math.Max(leastShare, LeastReports/reports) {
			break
		}
		chosen, shares = slices.Delete(chosen, least, least+1), slices.Delete(shares, least, least+1)
	}
	if alone := levels[:1]; total(lossesOf(q, sums, alone, []float64{1})) <
		float64(worthwhile*total(lossesOf(q, sums, chosen, shares))) {
		return alone, []float64{1}
	}
	return chosen, shares
}

// improved returns the best shares, if the levels contribute these parts of the mean squared error at the shares that
// are best for the estimate: J_h is the part times the share, and the shares have been in proportion to √J_h.
func improved(losses, shares []float64) []float64 {
	better := make([]float64, len(losses))
	for h, loss := range losses {
		better[h] = math.Sqrt(float64(loss * shares[h]))
	}
	sum := total(better)
	for h := range better {
		better[h] /= sum
	}
	return better
}

func total(parts []float64) (sum float64) {
	for _, part := range parts {
		sum += part
	}
	return sum
}

// many respondents, all of whom answer: shares of them are whole numbers, nearly.
const many = 1 << 50

// lossesOf returns what each level contributes to the mean squared error of the sums at these shares, times the number
// of respondents.
func lossesOf(q Question, sums residual.Sums, levels []Level, shares []float64) []float64 {
	levels = slices.Clone(levels)
	for h := range levels {
		levels[h].Reports = max(1, int64(math.Round(float64(shares[h]*many))))
	}
	losses := New(q, many, levels).losses(sums)
	for h := range losses {
		losses[h] *= many
	}
	return losses
}

// losses returns what the reports to each level contribute to the mean squared error of the sums, as a part of the
// squared number of respondents, if all answers are given equally often: the mean over the sums of the variances that
// [local.Combined.Deviation] adds up.
func (e *Estimator) losses(sums residual.Sums) []float64 {
	q := e.question
	rows := make([][][]float64, len(e.levels)) // by level, band and category of the first row, the weight of the band
	for h, l := range e.levels {
		rows[h] = make([][]float64, q.Bands(l.Width))
	}
	for i := range q.Size {
		one := make([]float64, q.Cells())
		one[i*q.Inner] = 1
		for h, question := range e.Sum(one).Questions {
			for band, a := range question.Weights {
				rows[h][band] = append(rows[h][band], a)
			}
		}
	}
	even := slices.Repeat([]float64{1 / float64(q.Cells())}, q.Cells())
	out := make([]float64, len(e.levels))
	for h, parts := range e.Parts(even) {
		l := e.levels[h]
		out[h] = l.ReportVariance(meanMoments(sums, rows[h], parts), float64(e.respondents)) / float64(l.Reports)
	}
	return out
}

// meanMoments returns the means over the sums of the moments of the weights of bands, which have these parts of the
// respondents. A row has the weights of a band in each category.
func meanMoments(sums residual.Sums, rows [][]float64, parts []float64) (m local.Moments) {
	all, mean := make([]float64, len(rows[0])), make([]float64, len(rows[0]))
	for band, row := range rows {
		square := meanSquare(sums, row)
		m.Squares += square
		m.MeanSquare += float64(parts[band] * square)
		for i, a := range row {
			all[i] += a
			mean[i] += float64(parts[band] * a)
		}
	}
	m.Sum, m.Mean = meanSquare(sums, all), meanSquare(sums, mean)
	for i := range all {
		all[i] += mean[i]
	}
	m.Cross = (meanSquare(sums, all) - m.Sum - m.Mean) / 2
	return m
}

// meanSquare returns the mean of the squares of what the sums along a row are.
func meanSquare(sums residual.Sums, row []float64) float64 {
	n := float64(len(row))
	var prefix, prefixes, squares float64
	for _, x := range row {
		if prefix += x; sums == residual.Cells {
			prefix = x
		}
		prefixes, squares = prefixes+prefix, squares+float64(prefix*prefix)
	}
	if sums == residual.Ranges { // those from j to k are differences of two prefixes, of which one more is 0
		return (float64((n+1)*squares) - float64(prefixes*prefixes)) / float64(n*(n+1)/2)
	}
	return squares / n
}

// MeanDeviation returns the root mean square of the standard errors of the sums along the column, if all answers are
// given equally often. It needs reports to all levels.
func (e *Estimator) MeanDeviation(sums residual.Sums) float64 {
	n := float64(e.respondents)
	square := total(e.losses(sums))
	// What the answers vary among respondents is no error, as far as all of them answer: [local.Combined.Deviation].
	ones := make([]float64, e.question.Size)
	cells := float64(e.question.Cells())
	for i := range ones {
		ones[i] = 1 / cells
	}
	size := meanSquare(sums, ones) // the squared share of a sum
	square -= (e.meanShare(sums) - size) / math.Max(1, n-1)
	return float64(n * math.Sqrt(math.Max(0, square)))
}

// meanShare returns the share of all cells that a sum has, on average.
func (e *Estimator) meanShare(sums residual.Sums) float64 {
	categories := 1.0
	switch size := float64(e.question.Size); sums {
	case residual.Prefixes:
		categories = (size + 1) / 2
	case residual.Ranges:
		categories = (size + 2) / 3
	}
	return categories / float64(e.question.Cells())
}
