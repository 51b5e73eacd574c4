package synth

import (
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
)

// This file holds the statistic of a question that respondents answered through their randomising devices.

// RespondentsOf returns how many respondents there are, by the answers to all questions of the plan, of which m is one:
// where each device draws the question that it answers, those of all questions; otherwise as many as the question with
// the most reports has, of whom those of another are a part. No published count exceeds it.
func RespondentsOf(all []measured.Measured, m measured.Measured) int64 {
	sum, most := int64(0), int64(0)
	for _, other := range all {
		sum, most = sum+other.Reports.Kept, max(most, other.Reports.Kept)
	}
	if m.Measurement.IsDrawn() {
		return sum
	}
	return most
}

// ReportSum is the number of respondents, asked the question or not, whose answer is in some cells of it.
//
// Guarantee: over the randomisation, and over which respondents drew the question and its bands, the estimate is
// unbiased. The interval covers the number with at least the confidence asked for where devices answer without bands;
// with bands about so, as the error is taken for normal. Theorem: docs/proofs/local.md.
type ReportSum struct {
	Cells                      int
	Unbiased, Error, Low, High float64
}

// cellScores returns, for each cell of a question, how many of its categories reports hold, and how many of the
// categories these are: 1 or, if numbers are asked for, as many as there are points.
func cellScores(m measured.Measured) (scores []int64, each int64) {
	question, _ := m.Measurement.Reports()
	each = max(1, question.Points)
	scores = make([]int64, int64(m.Values.Len())/each)
	for i, v := range m.Values.Int64Values() {
		scores[int64(i)/each] += v
	}
	return scores, each
}

// ReportSums adds up cells of a question, row by row of an answer: one Grouping for each key, the last one's rows
// fastest. all are the answers to all questions of the plan, of which at is the question's.
//
// Guarantee: as of the cells of a table ([ReportSum]), for cells that are named without looking at the reports.
// Theorem: docs/proofs/local.md. Sums of several cells need a question that has them ([counted.Reports.HasSums]).
func ReportSums(p *plan.Plan, all []measured.Measured, at int, groupings []Grouping, confidence float64) []ReportSum {
	m := all[at]
	question, _ := m.Measurement.Reports()
	rowOf, rows := rowsOfCells(groupings)
	if len(question.Bands) > 0 {
		return newBanded(p, m, RespondentsOf(all, m), confidence).sumsOfRows(rowOf, rows)
	}
	out, scores := make([]ReportSum, rows), make([]int64, rows)
	cellScores, each := cellScores(m)
	for cell, row := range rowOf {
		if row >= 0 {
			out[row].Cells++
			scores[row] += cellScores[cell]
		}
	}
	law := local.Count{Randomiser: question.Randomiser(), Respondents: RespondentsOf(all, m), Reports: m.Reports.Kept}
	for i := range out {
		switch cells := out[i].Cells; {
		case cells == 0:
		case cells == len(rowOf): // every respondent's answer is there
			out[i].Unbiased = float64(law.Respondents)
			out[i].Low, out[i].High = out[i].Unbiased, out[i].Unbiased
		default:
			law.Cells = int64(cells) * each
			out[i].set(law, scores[i], confidence)
		}
	}
	return out
}

// set estimates the sum from the score of the reports.
func (r *ReportSum) set(law local.Count, score int64, confidence float64) {
	r.Unbiased = law.Estimate(score)
	r.Error = law.Deviation(math.Max(0, math.Min(r.Unbiased, float64(law.Respondents))))
	low, high := law.Interval(score, confidence)
	r.Low, r.High = math.Min(float64(low), r.Unbiased), math.Max(float64(high), r.Unbiased)
}

// reportStatistic returns the statistic of a question with so many respondents from the figures of its cells.
func reportStatistic(st plan.Statistic, sums []ReportSum, respondents int64) Statistic {
	n := len(sums)
	cells, errors, low, high := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	squares := 0.0
	for i, one := range sums {
		cells[i], errors[i], low[i], high[i] = one.Unbiased, one.Error, one.Low, one.High
		squares += float64(errors[i] * errors[i])
	}
	out := newStatistic(st.Name, cells, errors, func(int) float64 { return 0 })
	out.Skewed = true
	shown := slices.Clone(out.Published.Int64Values())
	for i := range cells {
		shown[i] = min(shown[i], respondents)
		for _, v := range []float64{cells[i], float64(shown[i])} { // the exact number is within it of both
			out.Margin = math.Max(out.Margin, math.Max(high[i]-v, v-low[i]))
		}
		if low[i] <= 0 {
			out.Flags[i] = NoiseDominates
		}
	}
	out.Published = int64Column(shown)
	out.Low, out.High = float64Column(low), float64Column(high)
	out.StandardError = st.StandardError
	if n > 0 {
		out.StandardError = math.Sqrt(squares / float64(n))
	}
	out.Confidence, out.Attained = st.Confidence, st.Confidence
	return out
}

// cellSums returns the figures of a question's table. A cell is the number of respondents whose answer is its category
// or, along the keys on which the table counts up, one before.
func cellSums(p *plan.Plan, m measured.Measured, respondents int64, keys []Key, up []bool,
	confidence float64) []ReportSum {
	question, _ := m.Measurement.Reports()
	if len(question.Bands) > 0 {
		return newBanded(p, m, respondents, confidence).sumsOfCells(keys, up)
	}
	law := local.Count{Randomiser: question.Randomiser(), Respondents: respondents, Reports: m.Reports.Kept}
	if question.Length > 0 {
		return textSums(m, law, confidence)
	}
	scores, each := cellScores(m)
	n := len(scores)
	held := make([]int64, n)
	for i := range held {
		held[i] = 1
	}
	countUp(scores, keys, up)
	countUp(held, keys, up)
	sums := make([]ReportSum, n)
	for i := range sums {
		sums[i].Cells = int(held[i])
		if sums[i].Cells == n { // every respondent's answer is there
			all := float64(respondents)
			sums[i].Unbiased, sums[i].Low, sums[i].High = all, all, all
		} else {
			law.Cells = held[i] * each
			sums[i].set(law, scores[i], confidence)
		}
	}
	return sums
}

// textSums returns the numbers of respondents with texts that were found, from the reports of whole texts. Which were
// found does not depend on these.
func textSums(m measured.Measured, law local.Count, confidence float64) []ReportSum {
	law.Reports = m.Reports.Forms[0]
	sums := make([]ReportSum, m.Values.Len())
	for i, support := range m.Values.Int64Values() {
		sums[i].Cells = 1
		sums[i].set(law, support, confidence)
	}
	return sums
}

// countsUp reports along which keys a table counts up.
func countsUp(p *plan.Plan, t plan.Table, keys []Key) []bool {
	along, _ := p.SummedAlong(t)
	up := make([]bool, len(keys))
	for i, key := range keys {
		up[i] = slices.Contains(along, key.Attribute.String())
	}
	return up
}

// countUp replaces each cell by the sum of itself and the cells before it along the keys that are marked.
func countUp(cells []int64, keys []Key, up []bool) {
	stride := len(cells)
	for k, key := range keys {
		size := key.Level.Size()
		stride /= size
		for i := range cells {
			if up[k] && i/stride%size > 0 {
				cells[i] += cells[i-stride]
			}
		}
	}
}
