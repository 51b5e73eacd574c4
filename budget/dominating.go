package budget

import (
	"math"
	"math/big"
	"slices"
)

// This file holds the dominating pair of each kind of mechanism.

const (
	// maxAtoms is the largest number of atoms that a pair lists.
	maxAtoms = 1 << 17
	// tailDeviations is the number of σ that the listed atoms of a Gaussian pair cover. The mass beyond is below
	// e^{−17²/2} < 1e-62 and counts as an infinite loss.
	tailDeviations = 17
	// maxConvolution bounds the number of products in one convolution of atoms.
	maxConvolution = 1 << 26
)

// dominatingSteps returns the steps whose independent composition dominates the mechanism run count times.
//
// Guarantee: for the neighbours of the sensitivities. Theorem: the noise on the coordinates is independent, so the loss
// of a shift vector is the sum of the losses of its coordinates; for several shifts the envelope dominates each (Zhu,
// Dong & Wang 2022, proposition 8). [Compose] handles mechanisms without shifts. Argument: docs/proofs/shifts.md.
func (m Mechanism) dominatingSteps(count int64) []step {
	switch m.Kind {
	case ExponentialMechanism:
		return []step{{boundedRange(nearest(m.Parameter)), count}}
	case ExponentialQuantiles:
		return m.quantileSteps(count)
	case PermuteAndFlip, RandomizedResponse, SubsetSelection:
		return []step{{pureAtoms(m.Parameter), count}}
	}
	shifts, ok := m.worstShifts()
	if ok && len(shifts) == 1 {
		var steps []step
		for _, d := range shifts[0] {
			steps = append(steps, step{m.Kind.law().coordinatePair(m.Parameter, d), count})
		}
		return mergeEqualSteps(steps)
	}
	if ok && m.listsAtoms(shifts) {
		worst := rememberedPairs.getOrCompute(m.identityText(), func() atoms {
			var each []atoms
			for _, shift := range shifts {
				each = append(each, m.shiftPair(shift))
			}
			return envelope(each)
		})
		return []step{{worst, count}}
	}
	if !ok {
		shifts = nil
	}
	return []step{{m.Kind.law().boundingPair(m, shifts), count}}
}

// withoutShifts reports whether the mechanism is accounted for by its norms or its ρ alone: an adaptive block,
// quantiles without a single worst shift, or noise whose norms say as much as its shifts (knownByNorms).
func (m Mechanism) withoutShifts() bool {
	switch {
	case m.Kind.addsNoise():
		return m.Kind.law().knownByNorms(m)
	case m.Kind == ExponentialQuantiles:
		return !m.listsChoices()
	}
	return m.Kind == AdaptiveBlock
}

// mergeEqualSteps merges consecutive steps with the same pair, which equal coordinates of a shift produce.
func mergeEqualSteps(steps []step) []step {
	joined := steps[:1]
	for _, s := range steps[1:] {
		last := &joined[len(joined)-1]
		if a, b := s.pair, last.pair; sameAtoms(a, b) {
			last.count += s.count
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// sameAtoms reports whether two pairs of coordinates with the same noise are equal.
func sameAtoms(a, b pair) bool {
	if x, ok := a.(scattered); ok {
		y, also := b.(scattered)
		return also && slices.Equal(x.loss, y.loss)
	}
	x, ok := a.(atoms)
	y, also := b.(atoms)
	return ok && also && x.at.first == y.at.first && x.at.stride == y.at.stride && len(x.mass) == len(y.mass)
}

// listsAtoms reports whether the pair of every shift has few enough atoms: convolving its coordinates takes no more
// than about maxConvolution products.
func (m Mechanism) listsAtoms(shifts []Shift) bool {
	law, parameter := m.Kind.law(), nearest(m.Parameter)
	for _, shift := range shifts {
		var reach, work float64
		for _, d := range shift {
			atoms, listed := law.atomCount(parameter, d)
			reach += float64(float64(d) * atoms)
			work += float64(reach * atoms)
			if !listed || atoms > maxAtoms || work > maxConvolution {
				return false
			}
		}
	}
	return true
}

// shiftPair returns the pair of a whole shift.
func (m Mechanism) shiftPair(shift Shift) atoms {
	coordinate := m.Kind.law().coordinatePair
	all := coordinate(m.Parameter, shift[0]).(atoms)
	for _, d := range shift[1:] {
		all = all.convolve(coordinate(m.Parameter, d).(atoms))
	}
	return all
}

// pureAtoms returns the pair of randomized response, which dominates every ε-private mechanism (Kairouz, Oh & Viswanath
// 2015, theorem 3.3): L = ±ε.
func pureAtoms(epsilon *big.Rat) atoms {
	kept := 1 / (1 + Exp(-nearest(epsilon)))
	return atoms{lattice{epsilon, -1, 2}, []float64{kept * Exp(-nearest(epsilon)), kept}, 0}
}

// boundedRange returns the pair that dominates every mechanism whose losses lie in an interval of length ε, such as the
// exponential mechanism: the envelope over t of the pairs with L ∈ {t−ε, t}, whose profile is
//
//	δ(x) = (e^{ε/2} − e^{x/2})²/(e^ε − 1), −ε ≤ x ≤ ε,
//
// so that P(L > x) = e^{ε/2}(e^{ε/2} − e^{x/2})/(e^ε − 1) and Q(L > x) = (e^{(ε−x)/2} − 1)/(e^ε − 1). Source: Dong,
// Durfee & Rogers 2020 for the extreme pairs; docs/proofs/pld.md derives the envelope.
func boundedRange(epsilon float64) tails {
	// Both are written with e^{−ε} so that a large ε does not overflow.
	whole := -expm1(-epsilon)
	return tails{
		above: func(x float64) (p, q float64) {
			gap := -expm1(-min(max((epsilon-x)/2, 0), epsilon))
			return gap / whole, float64(Exp(-(epsilon+max(x, -epsilon))/2) * gap / whole)
		},
		below: func(x float64) (p, q float64) {
			rise := min(max((epsilon+x)/2, 0), epsilon)
			return float64(expm1(rise)*Exp(-epsilon)) / whole, -expm1(-rise) / whole
		},
		low: -epsilon, high: epsilon,
	}
}

// zcdpPoints is the number of points in the profile of a ρ-zCDP pair for each √(2ρ) of loss.
const zcdpPoints = 512

// maxZCDPRho is the largest ρ whose profile is computed; beyond it e^ε would overflow.
const maxZCDPRho = 100

// zcdpPair returns what [zcdpAtoms] does, from memory if it can: the adaptive part of a release is composed for each
// attribute again.
func zcdpPair(rho float64) atoms {
	return rememberedZCDP.getOrCompute(rho, func() atoms { return zcdpAtoms(rho) })
}

// zcdpAtoms returns a pair that dominates every ρ-zCDP mechanism. Its profile joins the values of ZCDPDelta, and below
// 0 those of δ(−x) = 1 − e^{−x}(1 − δ(x)), the same bound for the neighbours in the other order.
func zcdpAtoms(rho float64) atoms {
	deviation := math.Sqrt(2 * rho)
	unit := new(big.Rat).SetFloat64(deviation / zcdpPoints)
	h := nearest(unit)
	if rho > maxZCDPRho {
		return atoms{lattice{unit, 0, 1}, []float64{0}, 1} // no test is too good
	}
	// ZCDPDelta(ρ, ε) ≤ e^{−(ε−ρ)²/4ρ}: 17√(2ρ) beyond ρ it is below 1e-62.
	points := int64(math.Ceil((rho + float64(tailDeviations*deviation)) / h))
	delta := make([]float64, 2*points+1)
	for i := int64(0); i <= points; i++ {
		x := float64(float64(i) * h)
		delta[points+i] = ZCDPDelta(rho, x)
		delta[points-i] = -expm1(-x) + float64(Exp(-x)*delta[points+i])
	}
	return fromProfile(unit, -points, convexHull(h, delta))
}

// convexHull returns the largest values, at most those given, that are convex in e^{ih}. If the given values bound a
// convex profile, the hull bounds it too.
func convexHull(h float64, delta []float64) []float64 {
	// at[j] − at[i] = e^{ih}(e^{(j−i)h} − 1); slopes are compared times e^{ih}.
	var corners []int
	for i := range delta {
		for len(corners) > 1 {
			a, b := corners[len(corners)-2], corners[len(corners)-1]
			toB, toI := expm1(float64(b-a)*h), expm1(float64(i-a)*h)
			if float64((delta[b]-delta[a])*toI) < float64((delta[i]-delta[a])*toB) {
				break
			}
			corners = corners[:len(corners)-1]
		}
		corners = append(corners, i)
	}
	hull := make([]float64, len(delta))
	for c := 1; c < len(corners); c++ {
		a, b := corners[c-1], corners[c]
		whole := expm1(float64(b-a) * h)
		for i := a; i <= b; i++ {
			part := expm1(float64(i-a)*h) / whole
			hull[i] = float64(delta[a]*(1-part)) + float64(delta[b]*part)
		}
	}
	return hull
}
