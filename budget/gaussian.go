package budget

import "math"

// Gaussian is the mechanism that adds independent N(0, Sigma²) noise to the
// coordinates of a real query whose answers move, between neighbours, by at most
// L2 in Euclidean norm. It is for figures of other programs and for comparison:
// what this one draws is the discrete law of [GaussianFor].
//
// With μ = L2/Sigma the loss L = ln dP/dQ of the worst pair is N(μ²/2, μ²) under
// P and N(−μ²/2, μ²) under Q, in both directions (Balle & Wang 2018; Dong, Roth &
// Su 2022).
type Gaussian struct {
	Sigma, L2 float64
}

func (g Gaussian) mu() float64 { return g.L2 / g.Sigma }

// lossTails returns P(L > x) and Q(L > x), each within 2⁻⁵⁰·(16+z²) of it
// relatively, where z = |x|/μ + μ/2 and it is above 1e-300.
func (g Gaussian) lossTails(x float64) (p, q float64) {
	mu := g.mu()
	return normalTail(x/mu - float64(mu/2)), normalTail(x/mu + float64(mu/2))
}

// lossHeads returns P(L ≤ x) and Q(L ≤ x), as accurate as lossTails.
func (g Gaussian) lossHeads(x float64) (p, q float64) {
	mu := g.mu()
	return normalTail(float64(mu/2) - x/mu), normalTail(-float64(mu/2) - x/mu)
}

// lossRange returns the least and the greatest loss.
func (Gaussian) lossRange() (low, high float64) { return math.Inf(-1), math.Inf(1) }
