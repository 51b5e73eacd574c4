package budget

import (
	"math"
	"math/big"
)

// This file holds the privacy loss of discrete Gaussian noise from its shifts; smoothing.go bounds it from the norm
// alone.

// maxGaussianShift is the largest shift whose losses are represented as integers: d² + 2d·reach must fit in one.
const maxGaussianShift = 1 << 30

// coordinatePair returns the pair of one coordinate that changes by d: (X, X+d). A law of more than maxAtoms atoms is
// represented by its tails.
func (discreteGaussian) coordinatePair(sigmaSquared *big.Rat, d int64) pair {
	if sigma := math.Sqrt(nearest(sigmaSquared)); 2*tailDeviations*sigma > maxAtoms {
		return gaussianTails(nearest(sigmaSquared), float64(d))
	}
	if d > maxGaussianShift {
		return atoms{lattice{new(big.Rat).Inv(sigmaSquared), 0, 1}, []float64{0}, 1} // infinite loss
	}
	return gaussianAtoms(sigmaSquared, d)
}

func (discreteGaussian) atomCount(sigmaSquared float64, _ int64) (n float64, listed bool) {
	return float64(2*tailDeviations*math.Sqrt(sigmaSquared)) + 3, true
}

// boundingPair returns the pair of the mechanism's ρ: [Compose] bounds such a mechanism by its norms.
func (l discreteGaussian) boundingPair(m Mechanism, _ []Shift) pair {
	return zcdpPair(nearest(l.costOf(m)))
}

// knownByNorms reports whether the mechanism is accounted for by its norms: its shifts cannot be listed or take too
// many atoms; there are many shapes of shifts and so much noise that the norm determines the loss nearly; or there is
// so much noise that the norm determines it.
func (discreteGaussian) knownByNorms(m Mechanism) bool {
	if m.Parameter.Cmp(big.NewRat(nearlyContinuous, 1)) >= 0 {
		return true
	}
	if m.Shifts == nil && m.L2Squared.Cmp(new(big.Int).Mul(m.L1, m.L1)) < 0 &&
		m.Parameter.Cmp(big.NewRat(plainlySmooth, 1)) >= 0 {
		return true
	}
	shifts, ok := m.worstShifts()
	return !ok || len(shifts) > 1 && !m.listsAtoms(shifts)
}

func (discreteGaussian) isSmoothable() bool { return true }

// checkShifts: the loss is known by the norms.
func (discreteGaussian) checkShifts(Mechanism) error { return nil }

// gaussianAtoms returns the pair (X, X+d) for the discrete Gaussian of parameter σ²: L = (d² − 2dX)/2σ² at X, an
// integer times 1/2σ².
func gaussianAtoms(sigmaSquared *big.Rat, d int64) atoms {
	twice := float64(2 * nearest(sigmaSquared))
	reach := int64(math.Ceil(tailDeviations*math.Sqrt(nearest(sigmaSquared)))) + 1
	mass := make([]float64, 2*reach+1) // in the order of rising losses: X falls from reach to −reach
	var sum float64
	for x := reach; x >= 1; x-- {
		weight := Exp(-float64(x) * float64(x) / twice)
		mass[reach-x], mass[reach+x] = weight, weight
		sum += 2 * weight
	}
	mass[reach] = 1
	sum++
	for i := range mass {
		mass[i] /= sum
	}
	unit := new(big.Rat).Inv(new(big.Rat).Mul(sigmaSquared, big.NewRat(2, 1)))
	// The tails beyond reach are below e^{−reach²/2σ²}·reach < 1e-62 each; the sum
	// without them makes every mass larger by as little.
	return atoms{lattice{unit, d*d - 2*d*reach, 2 * d}, mass, 1e-62}
}

// gaussianTails returns the same pair for σ ≥ 2^10, represented by its distribution functions.
func gaussianTails(sigmaSquared, d float64) tails {
	upper := gaussianUpper(sigmaSquared)
	// L > x where X ≤ c for the largest integer c below (d² − 2σ²x)/2d.
	cut := func(x float64) float64 {
		return math.Ceil((float64(d*d)-float64(2*sigmaSquared*x))/(2*d)) - 1
	}
	reach := float64(tailDeviations*math.Sqrt(sigmaSquared)) + 1
	return tails{
		above: func(x float64) (p, q float64) { c := cut(x); return upper(-c), upper(d - c) },
		below: func(x float64) (p, q float64) { c := cut(x); return upper(c + 1), upper(c + 1 - d) },
		low:   (float64(d*d) - float64(2*d*reach)) / (2 * sigmaSquared),
		high:  (float64(d*d) + float64(2*d*reach)) / (2 * sigmaSquared),
	}
}

// gaussianUpper returns the function m ↦ P(X ≥ m), accurate relatively where it
// is below ½, for σ² ≥ 2^20.
func gaussianUpper(sigmaSquared float64) func(m float64) float64 {
	z := gaussianNormaliser(sigmaSquared)
	return func(m float64) float64 {
		if m > 0 {
			return gaussianUpperSumByEuler(sigmaSquared, m) / z
		}
		return 1 - gaussianUpperSumByEuler(sigmaSquared, 1-m)/z
	}
}
