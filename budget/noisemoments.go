package budget

import "math"

// This file holds bounds on a weighted sum of noise from moments alone, which take much less work than its law.

// NoiseMoments holds the standard deviation σ of a sum of terms, and what bounds its margins. A sum of Laplace noise
// has the fourth moment 3σ⁴ + Σ n·w⁴·κ, with κ = v(1+3v) the fourth cumulant of a draw of variance v: twice that of a
// geometric variable of variance v/2, as the draw is the difference of two of these. A sum of Gaussian noise has E
// e^{λS} ≤ e^{pλ²/2} with p = Σ n·w²·σ² (Canonne, Kamath & Steinke 2020, corollary 17).
type NoiseMoments struct {
	Deviation float64
	fourth    float64 // E S⁴, if all noise is Laplace
	proxy     float64 // p, if all noise is Gaussian
}

// MomentsOf returns the moments of the sum of these terms.
func MomentsOf(terms []NoiseTerm) NoiseMoments {
	var last NoiseTerm
	var draw, excess, variance, cumulant, proxy float64
	normal, other := true, true // all terms are
	for _, t := range terms {
		if t.Weight == 0 || t.Count == 0 {
			continue
		}
		if t.Kind != last.Kind || t.Parameter != last.Parameter {
			last, draw = t, t.variance()
			excess = t.Kind.ExcessOver(draw)
			normal, other = normal && t.Kind.Normal(), other && !t.Kind.Normal()
		}
		count, square := t.Count, float64(t.Weight*t.Weight)
		variance += float64(square * float64(count*draw))
		proxy += float64(square * float64(count*t.Parameter))
		cumulant += float64(float64(square*square) * float64(count*float64(draw*excess)))
	}
	m := NoiseMoments{Deviation: math.Sqrt(variance)}
	switch {
	case other:
		m.fourth = float64(3*variance*variance) + cumulant
	case normal:
		m.proxy = proxy
	}
	return m
}

// Bound returns an m with P(|S| ≤ m) at least the confidence: by Chernoff's inequality for Gaussian noise, by Markov's
// for the fourth power of Laplace noise, and by Chebyshev's for a mixture.
func (m NoiseMoments) Bound(confidence float64) float64 {
	beyond := 1 - confidence
	bound := m.Deviation / math.Sqrt(beyond)
	switch {
	case m.proxy > 0:
		bound = math.Min(bound, math.Sqrt(2*m.proxy*Log(2/beyond)))
	case m.fourth > 0:
		bound = math.Min(bound, math.Sqrt(math.Sqrt(m.fourth/beyond)))
	}
	return bound
}
