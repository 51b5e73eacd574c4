package budget

import "math"

// SubsampledGaussian is the [Gaussian] mechanism run on a Poisson sample: every
// unit takes part with probability Rate, independently of the others.
//
// In units of Sigma, with μ = L2/Sigma, its worst pair is the mixture
// (1−Rate)·N(0, 1) + Rate·N(μ, 1) against N(0, 1): the mixture is P when a unit is
// removed, and Q when one is added (Mironov, Talwar & Zhang 2019; Zhu, Dong & Wang
// 2022). The loss of a removal,
//
//	L(x) = ln(1 − Rate + Rate·exp(μx − μ²/2)),
//
// increases in x from ln(1−Rate); that of an addition is −L.
type SubsampledGaussian struct {
	Gaussian
	Rate float64
}

// removal and addition are the two directions of a [SubsampledGaussian].
type (
	removal  SubsampledGaussian
	addition SubsampledGaussian
)

// cut returns the x with L(x) = loss, −Inf at and below the least loss.
func (s SubsampledGaussian) cut(loss float64) float64 {
	mu := s.mu()
	ratio := expm1(loss) / s.Rate
	if !(ratio > -1) {
		return math.Inf(-1)
	}
	unsampled := log1p(ratio)
	if math.IsInf(ratio, 1) {
		unsampled = loss - Log(s.Rate)
	}
	return unsampled/mu + float64(mu/2)
}

// mixture returns P(X > x) and P(X ≤ x) under the mixture.
func (s SubsampledGaussian) mixture(x float64) (above, below float64) {
	mu, rest := s.mu(), 1-s.Rate
	return float64(rest*normalTail(x)) + float64(s.Rate*normalTail(x-mu)),
		float64(rest*normalTail(-x)) + float64(s.Rate*normalTail(mu-x))
}

// lossTails returns P(L > x) and Q(L > x). Their relative error is that of the
// normal tails at c = cut(x), 2⁻⁵⁰·(16+c²), plus what the rounding of c takes:
// c·dc with dc = 2⁻⁵⁰·(|ln|+1)/μ/(1 + expm1(x)/Rate).
func (r removal) lossTails(x float64) (p, q float64) {
	s := SubsampledGaussian(r)
	c := s.cut(x)
	p, _ = s.mixture(c)
	return p, normalTail(c)
}

// lossHeads returns P(L ≤ x) and Q(L ≤ x), as accurate as lossTails.
func (r removal) lossHeads(x float64) (p, q float64) {
	s := SubsampledGaussian(r)
	c := s.cut(x)
	_, p = s.mixture(c)
	return p, normalTail(-c)
}

// lossRange returns the infimum and the supremum of the loss.
func (r removal) lossRange() (low, high float64) { return log1p(-r.Rate), math.Inf(1) }

// lossTails returns P(L > x) and Q(L > x), as accurate as those of a removal.
func (a addition) lossTails(x float64) (p, q float64) {
	q, p = removal(a).lossHeads(-x)
	return p, q
}

// lossHeads returns P(L ≤ x) and Q(L ≤ x), as accurate as lossTails.
func (a addition) lossHeads(x float64) (p, q float64) {
	q, p = removal(a).lossTails(-x)
	return p, q
}

// lossRange returns the infimum and the supremum of the loss.
func (a addition) lossRange() (low, high float64) { return math.Inf(-1), -log1p(-a.Rate) }
