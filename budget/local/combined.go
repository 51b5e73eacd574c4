package local

import (
	"math"
	"slices"
)

// This file holds the law of what is estimated from the reports to several questions about the same answers.

// Combined is a sum over N respondents, Σ c(x), as it is estimated from reports to several questions about the same
// answers: Constant + Σ_h T_h, with the estimates T_h of Σ a_h(x) of [Weighted]. Each device drew one question,
// whatever the answers are, and n_h drew question h. The estimate is unbiased if Constant/N + Σ_h a_h(x) = c(x).
//
// Source: docs/proofs/local.md.
type Combined struct {
	Respondents int64 // N
	Constant    float64
	// Questions are the estimates, each of the N respondents by its n_h ≥ 1 reports, with the weights of all
	// categories.
	Questions []Weighted
}

// Estimate returns the estimate, from how many reports to each question hold each of its categories.
func (c Combined) Estimate(supports [][]int64) float64 {
	sum := c.Constant
	for h, w := range c.Questions {
		sum += w.Estimate(supports[h])
	}
	return sum
}

// Deviation returns the standard deviation of [Combined.Estimate], if these parts of all respondents have the
// categories of each question, and among is the variance of c(x) among the respondents:
//
//	N · √(Σ_h (Var z_h + B_h/(N−1))/n_h − among/(N−1)),
//
// with z_h = (s − q A₁)/(p−q) for the score s of a report to question h, and the variance B_h of a_h(x) among the
// respondents. Source: docs/proofs/local.md.
func (c Combined) Deviation(parts [][]float64, among float64) float64 {
	n := float64(c.Respondents)
	variance := -among / math.Max(1, n-1)
	for h, w := range c.Questions {
		variance += w.ReportVariance(w.moments(parts[h]), n) / float64(w.Reports)
	}
	return float64(n * math.Sqrt(math.Max(0, variance)))
}

// MostDeviation returns an upper bound of the standard deviation, whatever the answers are. Each answer is one of the
// lists in answers, which has its category in each question.
//
// Var z_h + B_h/(N−1) is at most N/(N−1) · Var z_h, and Var z_h at most E (z_h − κ)² for any κ, which is linear in the
// parts of the respondents: so the bound is where all give the same answer. κ is the mean weight.
func (c Combined) MostDeviation(answers [][]int) float64 {
	squares := make([][]float64, len(c.Questions))
	for h, w := range c.Questions {
		squares[h] = w.expectedSquares()
	}
	most := 0.0
	for _, answer := range answers {
		sum := 0.0
		for h, v := range answer {
			sum += squares[h][v]
		}
		most = max(most, sum)
	}
	n := float64(c.Respondents)
	return float64(n * math.Sqrt(most*n/math.Max(1, n-1)))
}

// expectedSquares returns, for each category, E (z − κ)² / n of a respondent who has it, with z and κ of
// [Combined.MostDeviation] and n the number of reports.
func (w Weighted) expectedSquares() []float64 {
	p, q := w.floats()
	var sum, squares float64
	for _, a := range w.Weights {
		sum += a
	}
	middle := sum / float64(len(w.Weights))
	sum = 0
	for _, a := range w.Weights {
		sum, squares = sum+(a-middle), squares+float64((a-middle)*(a-middle))
	}
	out := make([]float64, len(w.Weights))
	for v, a := range w.Weights {
		a -= middle
		own := float64(a * a) // all respondents have this category
		variance := w.scoreVarianceOf(Moments{Sum: float64(sum * sum), Squares: squares, Cross: float64(sum * a),
			Mean: own, MeanSquare: own})
		out[v] = (variance/float64((p-q)*(p-q)) + own) / float64(w.Reports)
	}
	return out
}

// MostInfluence returns by how much one report, whatever it says and whichever question it answers, can move the
// estimate.
func (c Combined) MostInfluence() float64 {
	most := make([]float64, len(c.Questions))
	for h, w := range c.Questions {
		most[h] = w.MostInfluence()
	}
	return slices.Max(most)
}
