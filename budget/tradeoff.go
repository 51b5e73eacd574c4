package budget

import "math"

// TruePositiveRate returns the largest rate at which a test can tell neighbours
// apart at the given rate of false positives, whatever (ε, δ)-differentially
// private mechanism it watches, rounded up:
//
//	min(e^ε·fpr + δ, 1 − e^{−ε}(1−δ−fpr), 1).
//
// A mechanism's own curve, such as [Gaussian.TruePositiveRate], is lower.
//
// Guarantee: for the neighbours of ε and δ. Theorem: Wasserman & Zhou 2010; Kairouz,
// Oh & Viswanath 2015, theorem 2.1.
func TruePositiveRate(epsilon, delta, falsePositiveRate float64) float64 {
	if !isAmount(epsilon) || !(delta >= 0) || !(falsePositiveRate < 1) {
		return 1
	}
	fpr := math.Max(0, falsePositiveRate)
	if fpr == 0 {
		return math.Min(1, delta)
	}
	likely := raised(float64(Exp(epsilon)*fpr)+delta, 4)
	unlikely := 1 - lowered(float64(Exp(-epsilon)*(1-delta-fpr)), 4)
	return math.Min(1, math.Min(likely, raised(unlikely, 1)))
}
