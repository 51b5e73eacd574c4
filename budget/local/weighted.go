package local

import (
	"math"
	"slices"
)

// This file holds weighted sums of the counts of several categories, from which sums and means of numbers are made.

// Weighted is a weighted sum over N respondents, Σ a(x), as it is estimated from n reports. A respondent has the weight
// a_v of their category v, or 0 if v is not listed. A number that a respondent gives is rounded on the device: at
// random to one of two categories with neighbouring weights, so that the mean weight is a(x).
//
// It holds for reports in the form of a set only: the deviation rests on how often three categories are in a report
// together.
type Weighted struct {
	Randomiser
	Respondents int64     // N
	Reports     int64     // n
	Weights     []float64 // a_v
	Gap         float64   // between neighbouring weights, h; 0 if no category is drawn
}

// Estimate returns the unbiased estimate Σ a_v N (S_v/n − q)/(p − q), from how many reports hold each of the
// categories.
func (w Weighted) Estimate(supports []int64) float64 {
	p, q := w.floats()
	var sum float64
	for v, a := range w.Weights {
		share := float64(supports[v])/float64(w.Reports) - q
		sum += float64(a * share)
	}
	return float64(float64(w.Respondents)*sum) / (p - q)
}

// Step returns by how much the estimate changes if one report holds a neighbouring category instead.
func (w Weighted) Step() float64 {
	p, q := w.floats()
	return float64(float64(w.Respondents)/float64(w.Reports)*w.Gap) / (p - q)
}

// MostInfluence returns by how much one report, whatever it says, can move the estimate: the most that a report's score
// differs from q A₁, times N/(n (p−q)).
func (w Weighted) MostInfluence() float64 {
	p, q := w.floats()
	weights := slices.Sorted(slices.Values(w.Weights))
	others := w.Categories - int64(len(weights)) // of weight 0, perhaps 10⁹ of them
	var all, least, most float64
	for i, a := range weights {
		all += a
		if b := int64(i); b < w.Support && (a < 0 || b+others < w.Support) {
			least += a
		}
		if b := int64(len(weights) - 1 - i); b < w.Support && (a > 0 || b+others < w.Support) {
			most += a
		}
	}
	off := math.Max(most-float64(q*all), float64(q*all)-least)
	return float64(float64(w.Respondents)/float64(w.Reports)*off) / (p - q)
}

// Deviation returns an upper bound of the standard deviation of [Weighted.Estimate], if these parts of all respondents
// have the categories (where categories are drawn, on average):
//
//	N/(p−q) · √((Var s − (p−q)² B (n−1)/(N−1)) / n),
//	B = max(0, Σ f_v a_v² − (Σ f_v a_v)² − h²/4 · Σ f_v),
//
// with the score s = Σ a_v over the categories v of a report. It is the standard deviation if no category is drawn. B
// is the least that the variance of a(x) among the respondents can be, which is no part of the error as far as all of
// them answer. With A₁ = Σ a_v, A₂ = Σ a_v², the category u, and the probabilities p₂ that a report holds u and
// another given category and q₂ that it holds two others,
//
//	E(s | u) = q A₁ + (p−q) a_u,
//	E(s² | u) = p a_u² + q (A₂ − a_u²) + 2 p₂ a_u (A₁ − a_u) + q₂ ((A₁ − a_u)² − A₂ + a_u²),
//	p₂ = p (w−1)/(k−1),  q₂ = (w−1) (p (w−2) + (1−p) w)/((k−1)(k−2)).
//
// Source: docs/proofs/local.md.
func (w Weighted) Deviation(parts []float64) float64 {
	var mean, square, listed float64
	for v, a := range w.Weights {
		mean, square = mean+float64(parts[v]*a), square+float64(float64(parts[v]*a)*a)
		listed += parts[v]
	}
	return w.DeviationAmong(parts, math.Max(0, square-float64(mean*mean)-float64(float64(w.Gap*w.Gap)/4*listed)))
}

// DeviationAmong returns the standard deviation of [Weighted.Estimate] if B, the variance of a(x) among the
// respondents, is known.
func (w Weighted) DeviationAmong(parts []float64, among float64) float64 {
	p, q := w.floats()
	answering := float64(w.Reports-1) / math.Max(1, float64(w.Respondents-1))
	variance := w.scoreVariance(parts) - float64(float64(float64((p-q)*(p-q))*among)*answering)
	return float64(float64(w.Respondents)*math.Sqrt(math.Max(0, variance)/float64(w.Reports))) / (p - q)
}

// scoreVariance returns the variance of the score of a report, if the respondent is one of all, of whom these parts
// have the categories.
func (w Weighted) scoreVariance(parts []float64) float64 { return w.scoreVarianceOf(w.moments(parts)) }

// moments returns the moments of the weights for these parts.
func (w Weighted) moments(parts []float64) (m Moments) {
	var sum, mean float64
	for v, a := range w.Weights {
		sum, mean = sum+a, mean+float64(parts[v]*a)
		m.Squares += float64(a * a)
		m.MeanSquare += float64(float64(parts[v]*a) * a)
	}
	m.Sum, m.Cross, m.Mean = float64(sum*sum), float64(sum*mean), float64(mean*mean)
	return m
}

// Moments are what the variance of a score rests on, of weights a_v of categories and the parts f_v of the respondents
// who have them.
type Moments struct {
	Sum        float64 // A₁², the squared sum of the weights
	Squares    float64 // A₂, the sum of their squares
	Cross      float64 // A₁ Σ f_v a_v
	Mean       float64 // (Σ f_v a_v)²
	MeanSquare float64 // Σ f_v a_v²
}

// scoreVarianceOf is [Weighted.scoreVariance], which is linear in the moments: of several weights, the mean of the
// moments gives the mean variance.
func (r Randomiser) scoreVarianceOf(m Moments) float64 {
	p, q := r.floats()
	withOwn, others := r.pairs(p)
	first := float64(q*q*m.Sum) + float64(2*q*(p-q)*m.Cross) + float64((p-q)*(p-q)*m.Mean)
	cross := m.Cross - m.MeanSquare                   // E a_u (A₁ − a_u)
	rest := m.Sum - float64(2*m.Cross) + m.MeanSquare // E (A₁ − a_u)²
	second := float64(p*m.MeanSquare) + float64(q*(m.Squares-m.MeanSquare)) + float64(2*float64(withOwn*cross)) +
		float64(others*(rest-m.Squares+m.MeanSquare))
	return second - first
}

// ReportVariance returns Var z + B/(N−1) of [Combined.Deviation], for the moments of the weights of a question.
func (r Randomiser) ReportVariance(m Moments, respondents float64) float64 {
	p, q := r.floats()
	return r.scoreVarianceOf(m)/float64((p-q)*(p-q)) + (m.MeanSquare-m.Mean)/math.Max(1, respondents-1)
}

// pairs returns the probabilities that a report holds the respondent's category and another given one, and that it
// holds two given others.
func (r Randomiser) pairs(p float64) (withOwn, others float64) {
	k, w := float64(r.Categories), float64(r.Support)
	if w == 1 {
		return 0, 0
	}
	return float64(p*(w-1)) / (k - 1),
		float64((w-1)*(float64(p*(w-2))+float64((1-p)*w))) / float64((k-1)*(k-2))
}
