package budget

import "math"

// BoundedRange is a mechanism whose losses, for any two neighbours, lie in an
// interval of length Epsilon, such as the exponential mechanism of that ε (McSherry
// & Talwar 2007) and Report Noisy Max with Gumbel noise (Durfee & Rogers 2019).
type BoundedRange struct {
	Epsilon float64
}

// Rho returns ρ = ε²/8 of zero-concentrated differential privacy, rounded up.
//
// Guarantee: for the neighbours of Epsilon. Theorem: Cesar & Rogers 2021, lemma
// 3.2.
func (m BoundedRange) Rho() float64 {
	if !isAmount(m.Epsilon) {
		return math.Inf(1)
	}
	return raised(float64(m.Epsilon*m.Epsilon)/8, 1)
}

// RDP returns a bound on the Rényi divergence of order α ≥ 1, rounded up: the
// smaller of ε and κ + (α−1)·ε²/8, where
//
//	κ = y + e^{−y} − 1,   y = ln((e^ε−1)/ε),
//
// is the largest Kullback–Leibler divergence. Orders below 1 get the bound of 1.
//
// Guarantee: for the neighbours of Epsilon. Theorem: κ by Dong, Durfee & Rogers
// 2020; the slope by Hoeffding's lemma on a loss of range ε and mean at most κ.
// Argument: docs/proofs/rdp.md.
func (m BoundedRange) RDP(order float64) float64 {
	if !isAmount(m.Epsilon) || order != order {
		return math.Inf(1)
	}
	e := m.Epsilon
	bound := m.divergence() + float64((math.Max(order, 1)-1)*e*e/8)
	return math.Min(e, raised(bound, 64))
}

// divergence returns κ, within 64 units of 2⁻⁵³ of it.
func (m BoundedRange) divergence() float64 {
	e := m.Epsilon
	switch {
	case e == 0:
		return 0
	case e > 700:
		return excess(Log(e) - e)
	}
	return excess(-log1p(excess(e) / e))
}

// RepeatedEpsilon returns an ε ≥ 0 for which count such mechanisms are together
// (ε, δ)-differentially private, rounded up: the smaller of the sum and, with
// D_α ≤ αρ − (ρ−κ) for each,
//
//	ZCDPEpsilon(count·ρ, δ) − count·(ρ−κ),   ρ = ε²/8.
//
// Guarantee: for the neighbours of Epsilon, and mechanisms chosen adaptively.
// Theorem: as for RDP; Canonne, Kamath & Steinke 2020, proposition 12, in which
// the constant moves ε. Argument: docs/proofs/rdp.md.
func (m BoundedRange) RepeatedEpsilon(count int64, delta float64) float64 {
	if !isAmount(m.Epsilon) || count < 0 {
		return math.Inf(1)
	}
	k, rho := float64(count), float64(m.Epsilon*m.Epsilon/8)
	saved := lowered(k*math.Max(0, rho-m.divergence()-float64(rho*0x1p-46)), 4)
	converted := raised(ZCDPEpsilon(raised(k*rho, 4), delta), 4)
	return math.Min(raised(k*m.Epsilon, 1), math.Max(0, converted-saved))
}
