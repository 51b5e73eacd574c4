package budget

import "math"

// Gaussian is the mechanism that adds independent N(0, Sigma²) noise to the coordinates of a real query with L2
// sensitivity L2. It serves the figures of other programs and comparisons: this program draws the discrete law of
// [GaussianFor].
//
// With μ = L2/Sigma the loss L = ln dP/dQ of the worst pair is N(μ²/2, μ²) under
// P and N(−μ²/2, μ²) under Q, in both directions (Balle & Wang 2018; Dong, Roth &
// Su 2022).
//
// If Sigma is not positive, or L2 is negative or not finite, every method answers as for a mechanism that protects
// nothing.
type Gaussian struct {
	Sigma, L2 float64
}

func (g Gaussian) mu() float64 { return g.L2 / g.Sigma }

func (g Gaussian) isValid() bool { return g.Sigma > 0 && isAmount(g.L2) }

// Delta returns the least δ for which the mechanism is (ε, δ)-differentially
// private,
//
//	δ(ε) = Q(ε/μ − μ/2) − e^ε·Q(ε/μ + μ/2),   Q(z) = P(N(0,1) > z),
//
// rounded up: it is above it by less than 1e-10 of it where it is above 1e-300,
// and at least 2⁻¹⁰²² for L2 > 0. Negative ε are allowed.
//
// Guarantee: for the neighbours of L2. Theorem: Balle & Wang 2018, theorem 8.
// Argument: docs/proofs/gaussian-continuous.md.
func (g Gaussian) Delta(epsilon float64) float64 {
	if !g.isValid() || epsilon != epsilon {
		return 1
	}
	return gaussianHockeyStick(g.mu(), epsilon)
}

// Epsilon returns the least ε ≥ 0 with Delta(ε) ≤ δ; +Inf if there is none.
//
// Guarantee and theorem: as for Delta.
func (g Gaussian) Epsilon(delta float64) float64 {
	return leastFitting(func(epsilon float64) bool { return g.Delta(epsilon) <= delta })
}

// TruePositiveRate returns the largest true-positive rate of a test between neighbours at the given false-positive
// rate, Q(Q⁻¹(fpr) − μ), rounded up.
//
// Guarantee: for the neighbours of L2. Theorem: Dong, Roth & Su 2022, theorem 3.7.
func (g Gaussian) TruePositiveRate(falsePositiveRate float64) float64 {
	if !g.isValid() || !(falsePositiveRate < 1) {
		return 1
	}
	z := NormalQuantile(falsePositiveRate)
	if math.IsInf(z, 1) {
		return 0
	}
	mu := g.mu()
	z -= float64((1 + math.Abs(z) + mu) * 0x1p-44) // covers the quantile and μ
	return math.Min(1, raisedBy(normalTail(z-mu), 32))
}

// gaussianHockeyStick returns sup over events of P − e^ε·Q for P = N(μ, 1) and
// Q = N(0, 1), rounded up. With a = ε/μ − μ/2 and b = a + μ,
//
//	δ = exp(−a²/2)·(S(a) − S(b)) = exp(−a²/2)·∫ₐᵇ D(t) dt,
//
// S and D as in normal.go. μ may be off by 8 units of 2⁻⁵³, as from a quotient and
// a root.
func gaussianHockeyStick(mu, epsilon float64) float64 {
	switch {
	case epsilon < 0: // H(P, Q) at ε is 1 − e^ε + e^ε·H(Q, P) at −ε
		return atMostOne(raisedBy(-expm1(epsilon)+float64(Exp(epsilon)*gaussianHockeyStick(mu, -epsilon)), 4))
	case mu == 0:
		return 0
	case math.IsInf(mu, 1):
		return 1
	}
	half := float64(mu / 2)
	center := epsilon / mu
	var delta float64
	switch {
	case center-half > 40: // exp(−a²/2) is below 1e-347
		return smallestDelta
	case mu < 0.5:
		delta = narrowHockeyStick(center, half)
	default:
		delta = wideHockeyStick(center, half)
	}
	return atMostOne(math.Max(delta, smallestDelta))
}

// gaussLegendre lists the nodes above 0 and the weights of the quadrature of
// order 8 on [−1, 1]: exact for polynomials of degree 15.
var gaussLegendre = [...]struct{ node, weight float64 }{
	{0.18343464249564980494, 0.36268378337836198297},
	{0.52553240991632898582, 0.31370664587788728734},
	{0.79666647741362673959, 0.22238103445337447054},
	{0.96028985649753623168, 0.10122853629037625915},
}

// narrowHockeyStick evaluates the form with the integral, for μ < ½, where D changes so slowly that the quadrature is
// exact to 1e-18. The rounding of centre and μ moves ln δ by less than 2⁻⁵³·16·(b²+3).
func narrowHockeyStick(center, half float64) float64 {
	var sum float64
	for _, point := range gaussLegendre {
		move := float64(half * point.node)
		sum += float64(point.weight * (scaledSlope(center-move) + scaledSlope(center+move)))
	}
	b := center + half
	return raisedBy(expHalfSquare(center-half)*half*sum, 64+float64(8*(float64(b*b)+3)))
}

// wideHockeyStick evaluates the form with the difference, for μ ≥ ½. Its slack covers the rounding of both terms and
// the effect of the rounding of a and b, 8 units of 2⁻⁵³ of b each: ∂δ/∂a = −exp(−a²/2)·(1/√2π − a·S(b)) and ∂δ/∂b =
// exp(−a²/2)·D(b).
func wideHockeyStick(center, half float64) float64 {
	a, b := center-half, center+half
	scale, far := expHalfSquare(a), scaledTail(b)
	moved := float64(b * (inverseRoot - float64(a*far) + scaledSlope(b)))
	if a < 0 {
		return normalTail(a) - float64(scale*far) + float64((2+float64(scale*moved))*0x1p-49)
	}
	near := scaledTail(a)
	return float64(scale*(near-far)) + float64(scale*(moved+float64(4*near))*0x1p-49)
}

// lossTails returns P(L > x) and Q(L > x), each within 2⁻⁵⁰·(16+z²) of it
// relatively, where z = |x|/μ + μ/2 and it is above 1e-300.
func (g Gaussian) lossTails(x float64) (p, q float64) {
	mu := g.mu()
	return normalTail(x/mu - float64(mu/2)), normalTail(x/mu + float64(mu/2))
}

// lossHeads returns P(L ≤ x) and Q(L ≤ x), as accurately as lossTails.
func (g Gaussian) lossHeads(x float64) (p, q float64) {
	mu := g.mu()
	return normalTail(float64(mu/2) - x/mu), normalTail(-float64(mu/2) - x/mu)
}
