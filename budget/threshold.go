package budget

import "math"

// A threshold hides groups that only one unit may have made: with noise on the
// count of every group, one is published where the noisy count reaches it. A unit
// is in at most maxGroups groups and moves the count of each by at most
// maxPerGroup. The chance that any group of which it is the only member is
// published is then at most δ; all groups not hidden for that reason have had a
// member in both neighbours, and cost what their noise costs.

// LaplaceThreshold returns the least threshold for continuous Laplace noise of the
// given ε for all counts of a unit together, rounded up: with the scale
// b = maxGroups·maxPerGroup/ε and δ′ = 1−(1−δ)^(1/maxGroups)
//
//	maxPerGroup + b·ln(1/2δ′),   or maxPerGroup − b·ln(1/2(1−δ′)) for δ′ > ½.
//
// Guarantee: for neighbours in which a unit is added or removed. Theorem: Korolova,
// Kenthapadi, Mishra & Ntoulas 2009. Argument: docs/proofs/partition.md. It is +Inf
// where ε or δ is not positive.
func LaplaceThreshold(maxGroups, maxPerGroup int64, epsilon, delta float64) float64 {
	if !(epsilon > 0) || !(delta > 0) || maxGroups < 1 || maxPerGroup < 0 {
		return math.Inf(1)
	}
	if delta >= 1 {
		return math.Inf(-1)
	}
	_, each := oneOf(epsilon, delta, maxGroups)
	scale := float64(maxGroups) * float64(maxPerGroup) / epsilon
	reach := -Log(2 * each)
	if each > 0.5 {
		reach = Log(2 * (1 - each))
	}
	margin := float64((math.Abs(reach) + 1) * 0x1p-48)
	return float64(maxPerGroup) + raisedFrom(float64(scale*(reach+margin)), float64(maxPerGroup))
}

// DiscreteLaplaceThreshold returns the least integer threshold, from maxPerGroup on,
// for discrete Laplace noise of the given ε for all counts of a unit together: with
// a = exp(−ε/(maxGroups·maxPerGroup)) and δ′ as above
//
//	maxPerGroup + ⌈ln(1/(δ′(1+a)))/ln(1/a)⌉,   P(X ≥ t) = a^t/(1+a).
//
// Guarantee, theorem and argument: as for [LaplaceThreshold]. It may be one more
// where the quotient of logarithms is an integer to 13 digits. It returns false
// where ε or δ is not positive, or the threshold is above 2^50.
func DiscreteLaplaceThreshold(maxGroups, maxPerGroup int64, epsilon, delta float64) (int64, bool) {
	if !(epsilon > 0) || !(delta > 0) || maxGroups < 1 || maxPerGroup < 1 {
		return 0, false
	}
	_, each := oneOf(epsilon, math.Min(delta, 1), maxGroups)
	h := epsilon / float64(maxGroups) / float64(maxPerGroup)
	above := (-Log(each) - log1p(Exp(-h))) / h
	margin := float64((math.Abs(Log(each))/h + 1) * 0x1p-48)
	threshold := math.Max(0, math.Ceil(above+margin)) + float64(maxPerGroup)
	if !(threshold < 1<<50) {
		return 0, false
	}
	return int64(threshold), true
}

// GaussianThreshold returns the least threshold for continuous Gaussian noise of
// the given sigma on every count, rounded up: with δ′ as above
//
//	maxPerGroup + sigma·Q⁻¹(δ′),   Q(z) = P(N(0,1) > z).
//
// The δ of the noise itself comes on top.
//
// Guarantee, theorem and argument: as for [LaplaceThreshold]. It is +Inf where δ is
// not positive or sigma negative.
func GaussianThreshold(maxGroups, maxPerGroup int64, sigma, delta float64) float64 {
	if !(sigma >= 0) || !(delta > 0) || maxGroups < 1 || maxPerGroup < 0 {
		return math.Inf(1)
	}
	if delta >= 1 {
		return math.Inf(-1)
	}
	_, each := oneOf(1, delta, maxGroups)
	z := NormalQuantile(each)
	z += float64((1 + math.Abs(z)) * 0x1p-44)
	return float64(maxPerGroup) + raisedFrom(float64(sigma*z), float64(maxPerGroup))
}

// raisedFrom raises x by what the rounding of x and of its sum with y can be.
func raisedFrom(x, y float64) float64 {
	return x + float64((math.Abs(x)+math.Abs(y))*0x1p-51)
}
