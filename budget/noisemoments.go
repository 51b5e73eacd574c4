package budget

import "math"

// This file holds what moments alone say of a weighted sum of noise: much less work than its law.

// NoiseMoments are the deviation σ of a sum of terms, and what bounds its margins. A sum of Laplace noise has the
// fourth moment 3σ⁴ + Σ n·w⁴·κ, with κ = v(1+3v) the fourth cumulant of a draw of variance v: twice that of a geometric
// variable of variance v/2, whose difference the draw is. A sum of Gaussian noise has E e^{λS} ≤ e^{pλ²/2} with p = Σ
// n·w²·σ² (Canonne, Kamath & Steinke 2020, corollary 17).
type NoiseMoments struct {
	Deviation float64
	fourth    float64 // E S⁴, where all is Laplace noise
	proxy     float64 // p, where all is Gaussian noise
}

// MomentsOf are those of the sum of these terms.
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
		count, square := float64(t.Count), float64(t.Weight*t.Weight)
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

// Bound is an m with P(|S| ≤ m) at least the confidence: by Chernoff's inequality for Gaussian noise, by Markov's for
// the fourth power of Laplace noise, else by Chebyshev's.
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
