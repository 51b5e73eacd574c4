package budget

import "math"

// This file holds the noise of a mechanism as it is really drawn: its variance, its margins, and its part in a sum.

// Variance returns the variance of the noise on one coordinate, of the discrete
// law really drawn and not of its continuous limit, with relative error below
// 1e-12. It is zero for a mechanism that adds no noise or does not validate.
func (m Mechanism) Variance() float64 {
	if !m.Kind.addsNoise() || m.Validate() != nil {
		return 0
	}
	term := m.NoiseTerm(1, 1)
	return float64(term.Count * term.variance())
}

// Margin returns the least m for which P(|X| ≤ m) ≥ confidence under the discrete law of one coordinate, as it is
// really drawn, and the probability attained, P(|X| ≤ m), which for a law on integers is usually higher.
//
// The tail P(|X| > m) carries a relative error below 1e-12, so m can be one too
// small only if P(|X| ≤ m) equals the confidence to that accuracy. A confidence
// of 1 or more has no finite margin and gives (2^63−1, 1).
//
// If the holders add more [Shares] than needed, m and P(|X| ≤ m) come from [NoiseSum.Margin]. P(|X| ≤ m) then has an
// absolute error of 1e-11 if [Mechanism.Draws] is 1.6 or more or the scale is at most 4000. Otherwise it is a lower
// bound, and m may exceed the least margin by 0.1 % of the standard deviation.
func (m Mechanism) Margin(confidence float64) (margin int64, attained float64) {
	if !m.Kind.addsNoise() || m.Validate() != nil {
		return 0, 0
	}
	term := m.NoiseTerm(1, 1)
	if term.Count == 1 || !(confidence < 1) {
		return leastMargin(confidence, m.Kind.law().tailFunction(term.Parameter))
	}
	least, attained := NewNoiseSum([]NoiseTerm{term}).Margin(confidence)
	return int64(math.Ceil(least)), attained
}

// NoiseTerm returns the noise of a number of answers with this mechanism, each times a weight, as a term of a sum.
// With [Shares] it is the noise really drawn.
func (m Mechanism) NoiseTerm(weight float64, answers int64) NoiseTerm {
	term := NoiseTerm{Weight: weight, Count: m.Shares.drawsFor(answers), Kind: m.Kind, Parameter: nearest(m.Parameter)}
	if m.Kind == DiscreteGaussian { // the shares add up to one draw of a larger σ²
		term.Count, term.Parameter = float64(answers), float64(term.Parameter*m.Draws())
	}
	return term
}

// Draws returns Added/Needed, the number of draws of the mechanism's law that the noise on one coordinate amounts to: 1
// without [Shares].
func (m Mechanism) Draws() float64 { return m.Shares.drawsFor(1) }
