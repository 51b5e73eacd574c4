package budget

import "math"

// This file holds continuous laws of losses that no mechanism of this program has. Their tails test that a composition
// accepts any law.

// lossRange returns the least and the greatest loss.
func (Gaussian) lossRange() (low, high float64) { return math.Inf(-1), math.Inf(1) }

// laplace is the mechanism that adds independent noise of density exp(−|x|/scale)/(2·scale) to a real answer of L1
// sensitivity l1. With e = l1/scale its loss lies in [−e, e] and has
//
//	P(L > x) = 1 − ½·exp(−(e−x)/2),   Q(L > x) = ½·exp(−(e+x)/2),   −e ≤ x < e
//
// in both directions.
type laplace struct{ scale, l1 float64 }

func (l laplace) pure() float64 { return l.l1 / l.scale }

// lossTails returns P(L > x) and Q(L > x), each within 2⁻⁵⁰·(1+e) of it
// relatively, but for the exact place of the steps at −e and e.
func (l laplace) lossTails(x float64) (p, q float64) {
	e := l.pure()
	switch {
	case x >= e:
		return 0, 0
	case x < -e:
		return 1, 1
	}
	return 1 - float64(Exp((x-e)/2)/2), Exp(-(x+e)/2) / 2
}

// lossHeads returns P(L ≤ x) and Q(L ≤ x), as accurate as lossTails.
func (l laplace) lossHeads(x float64) (p, q float64) {
	e := l.pure()
	switch {
	case x >= e:
		return 1, 1
	case x < -e:
		return 0, 0
	}
	return Exp((x-e)/2) / 2, 1 - float64(Exp(-(x+e)/2)/2)
}

// lossRange returns the least and the greatest loss.
func (l laplace) lossRange() (low, high float64) {
	e := l.pure()
	return -e, e
}

// subsampledGaussian is the [Gaussian] mechanism run on a Poisson sample: every
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
type subsampledGaussian struct {
	Gaussian
	Rate float64
}

// removal and addition are the two directions of a [subsampledGaussian].
type (
	removal  subsampledGaussian
	addition subsampledGaussian
)

// cut returns the x with L(x) = loss, −Inf at and below the least loss.
func (s subsampledGaussian) cut(loss float64) float64 {
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
func (s subsampledGaussian) mixture(x float64) (above, below float64) {
	mu, rest := s.mu(), 1-s.Rate
	return float64(rest*normalTail(x)) + float64(s.Rate*normalTail(x-mu)),
		float64(rest*normalTail(-x)) + float64(s.Rate*normalTail(mu-x))
}

// lossTails returns P(L > x) and Q(L > x). Their relative error is at most
// 2⁻⁵⁰·(16+c²), the error of the normal tails at c = cut(x), plus c·dc from the rounding of c, with
// dc = 2⁻⁵⁰·(|ln|+1)/μ/(1 + expm1(x)/Rate).
func (r removal) lossTails(x float64) (p, q float64) {
	s := subsampledGaussian(r)
	c := s.cut(x)
	p, _ = s.mixture(c)
	return p, normalTail(c)
}

// lossHeads returns P(L ≤ x) and Q(L ≤ x), as accurate as lossTails.
func (r removal) lossHeads(x float64) (p, q float64) {
	s := subsampledGaussian(r)
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

// replacement is a [subsampledGaussian] in which a unit is replaced by another, if it takes part, with answers that
// move by L2 to one side or to the other: the mixture with N(μ, 1) against that with N(−μ, 1). The loss,
//
//	L(x) = ln((1 − Rate + Rate·exp(μx − μ²/2)) / (1 − Rate + Rate·exp(−μx − μ²/2))),
//
// increases in x, and L(−x) = −L(x).
type replacement subsampledGaussian

// cut returns the x with L(x) = loss: sinh(μx − loss/2) = (1−Rate)/Rate·exp(μ²/2)·sinh(loss/2).
func (r replacement) cut(loss float64) float64 {
	mu := r.mu()
	rest := (1 - r.Rate) / r.Rate * math.Exp(mu*mu/2) * math.Sinh(loss/2)
	return (loss/2 + math.Asinh(rest)) / mu
}

// lossTails returns P(L > x) and Q(L > x).
func (r replacement) lossTails(x float64) (p, q float64) {
	c := r.cut(x)
	p, _ = subsampledGaussian(r).mixture(c)
	_, q = subsampledGaussian(r).mixture(-c)
	return p, q
}

// lossHeads returns P(L ≤ x) and Q(L ≤ x).
func (r replacement) lossHeads(x float64) (p, q float64) {
	q, p = r.lossTails(-x)
	return p, q
}

// lossRange returns the infimum and the supremum of the loss.
func (replacement) lossRange() (low, high float64) { return math.Inf(-1), math.Inf(1) }
