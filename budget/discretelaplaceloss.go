package budget

import "math/big"

// This file holds the privacy loss of discrete Laplace noise.

const (
	// maxLaplaceAtoms is the largest shift for which the losses of discrete Laplace noise are listed one by one. The
	// losses of a larger shift, up to maxLaplaceShift, are moved to multiples of a coarseParts-th of it, or of fewer
	// parts, at least leastParts.
	maxLaplaceAtoms = 1 << 13
	maxLaplaceShift = 1 << 50
	coarseParts     = 1 << 11
	leastParts      = 1 << 6
)

// coordinatePair returns the pair of one coordinate that changes by d: (X, X+d).
func (discreteLaplace) coordinatePair(scale *big.Rat, d int64) pair {
	switch {
	case d > maxLaplaceShift:
		return pureAtoms(new(big.Rat).Quo(new(big.Rat).SetInt64(d), scale))
	case d > maxLaplaceAtoms:
		return coarseLaplaceAtoms(scale, d, d, coarseParts)
	}
	return laplaceAtoms(scale, d)
}

func (discreteLaplace) atomCount(_ float64, d int64) (n float64, listed bool) {
	return float64(d) + 1, d <= maxLaplaceAtoms
}

// boundingPair returns the envelope of the coarse pairs of all shifts, or the pair of the mechanism's ε if there are
// none.
func (l discreteLaplace) boundingPair(m Mechanism, shifts []Shift) pair {
	if each := coarseLaplace(m.Parameter, shifts); each != nil {
		return envelope(each)
	}
	return pureAtoms(l.costOf(m))
}

// knownByNorms returns false: if shifts cannot be listed, the mechanism is accounted for by its ε.
func (discreteLaplace) knownByNorms(Mechanism) bool { return false }

func (discreteLaplace) isSmoothable() bool { return false }

// checkShifts: the loss is known by the norms.
func (discreteLaplace) checkShifts(Mechanism) error { return nil }

// coarseLaplace returns the pairs of whole shifts of Laplace noise, all moved to multiples of the same loss; nil if
// that would be too rough or too much work.
func coarseLaplace(scale *big.Rat, shifts []Shift) []atoms {
	largest, longest := int64(0), 0
	for _, shift := range shifts {
		largest, longest = max(largest, shift[0]), max(longest, len(shift))
	}
	parts := min(coarseParts, maxAtoms/32/int64(max(longest, 1)))
	if largest > maxLaplaceShift || parts < leastParts {
		return nil
	}
	var each []atoms
	for _, shift := range shifts {
		all := coarseLaplaceAtoms(scale, shift[0], largest, parts)
		for _, d := range shift[1:] {
			all = all.convolve(coarseLaplaceAtoms(scale, d, largest, parts))
		}
		each = append(each, all)
	}
	return each
}

// laplaceAtoms returns the pair (X, X+d) for the discrete Laplace of scale t: with T = min(max(X, 0), d), L = (d −
// 2T)/t, an integer times 1/t, and P(T = 0) = 1/(1+a), P(T ≥ j) = a^j/(1+a) for 1 ≤ j ≤ d, a = e^{−1/t}.
func laplaceAtoms(scale *big.Rat, d int64) atoms {
	h := nearest(new(big.Rat).Inv(scale))
	whole := 1 + Exp(-h)
	mass := make([]float64, d+1) // in the order of rising losses: T falls from d to 0
	mass[0] = Exp(-float64(float64(d)*h)) / whole
	for j := int64(1); j < d; j++ {
		mass[d-j] = -expm1(-h) * Exp(-float64(float64(j)*h)) / whole
	}
	mass[d] = 1 / whole
	return atoms{lattice{new(big.Rat).Inv(scale), -d, 2}, mass, 0}
}

// coarseLaplaceAtoms returns a pair that dominates laplaceAtoms, for d up to 2^50, with losses at the multiples of
// whole/(parts·t). Losses in between are shared by connecting the dots. T from b to c−1, for 0 < b < c ≤ d, has
//
//	P = (a^b − a^c)/(1+a),   ln(P/Q) = (d+1−b−c)/t,
//
// so the mass between two multiples is one atom.
func coarseLaplaceAtoms(scale *big.Rat, d, whole, parts int64) atoms {
	h := nearest(new(big.Rat).Inv(scale))
	unit := new(big.Rat).Quo(big.NewRat(whole, parts), scale)
	high := floorQuotient(d*parts-1, whole) + 1
	low := -high
	mass := make([]float64, high-low+1)
	width := float64(whole) / float64(parts)
	add := func(loss int64, p float64) { // loss in units of 1/t
		j := floorQuotient(loss*parts, whole)
		over := float64(loss*parts-j*whole) / float64(parts)
		up := expm1(-float64(over*h)) / expm1(-float64(width*h))
		if mass[j-low] += float64(p * (1 - up)); up > 0 {
			mass[j+1-low] += float64(p * up)
		}
	}
	all := 1 + Exp(-h)
	add(-d, Exp(-float64(float64(d)*h))/all)
	for j := low; j < high; j++ { // losses d − 2T from j to j+1 multiples
		from := max(1, floorQuotient(d*parts-(j+1)*whole, 2*parts)+1)
		to := min(d, floorQuotient(d*parts-j*whole, 2*parts)+1)
		if from < to {
			p := Exp(-float64(float64(from)*h)) * -expm1(-float64(float64(to-from)*h)) / all
			add(d+1-from-to, p)
		}
	}
	add(d, 1/all)
	return atoms{lattice{unit, low, 1}, mass, 0}
}

// floorQuotient returns ⌊x/y⌋ for y > 0.
func floorQuotient(x, y int64) int64 {
	q := x / y
	if x%y < 0 {
		q--
	}
	return q
}
