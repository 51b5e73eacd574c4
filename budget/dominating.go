package budget

import (
	"math"
	"math/big"
)

// This file holds the dominating pair of each kind of mechanism.

const (
	// maxAtoms is the most atoms that a discrete Gaussian pair lists; a wider law
	// is given by its tails.
	maxAtoms = 1 << 17
	// tailDeviations is how many σ the listed atoms reach: the mass beyond is below
	// e^{−17²/2} < 1e-62 and counts as an infinite loss.
	tailDeviations = 17
	// maxGaussianShift is the largest shift whose losses are counted in integers:
	// d² + 2d·reach must be one.
	maxGaussianShift = 1 << 30
	// maxConvolution bounds the products of one convolution of atoms.
	maxConvolution = 1 << 26
	// maxLaplaceAtoms is the largest shift of which the losses of discrete Laplace noise are listed one by one. Those of a
	// larger one, up to maxLaplaceShift, are brought to the multiples of a coarseParts-th of it, or of fewer parts, but
	// leastParts.
	maxLaplaceAtoms = 1 << 13
	maxLaplaceShift = 1 << 50
	coarseParts     = 1 << 11
	leastParts      = 1 << 6
)

// steps returns the steps whose independent composition dominates the mechanism
// run count times.
//
// Guarantee: for the neighbours of the sensitivities. Theorem: the noise on the
// coordinates is independent, so the loss of a shift vector is the sum of the
// losses of its coordinates; of several shifts the envelope dominates each (Zhu,
// Dong & Wang 2022, proposition 8). [Compose] sees to mechanisms without shifts.
// Argument: docs/proofs/shifts.md.
func (m Mechanism) steps(count int64) []step {
	switch m.Kind {
	case ExponentialMechanism:
		return []step{{boundedRange(nearest(m.Parameter)), count}}
	case ExponentialQuantiles:
		return m.quantileSteps(count)
	case PermuteAndFlip, RandomizedResponse:
		return []step{{pureAtoms(m.Parameter), count}}
	}
	shifts, ok := m.worstShifts()
	if ok && len(shifts) == 1 {
		var steps []step
		for _, d := range shifts[0] {
			steps = append(steps, step{m.coordinate(d), count})
		}
		return merge(steps)
	}
	if ok && m.listsAtoms(shifts) {
		worst := rememberedPairs.of(m.text(), func() atoms {
			var each []atoms
			for _, shift := range shifts {
				each = append(each, m.vector(shift))
			}
			return envelope(each)
		})
		return []step{{worst, count}}
	}
	if each := m.coarse(shifts); ok && each != nil {
		return []step{{envelope(each), count}}
	}
	return []step{{pureAtoms(laplaceEpsilon(m.L1, m.Parameter)), count}}
}

// withoutShifts tells that of the mechanism no more is known, or worked out, than
// norms or a ρ: an adaptive block, quantiles of no one worst shift, or Gaussian noise whose shifts cannot be listed,
// take too many atoms, or are of many shapes beside so much noise that their norm
// tells nearly everything, or beside so much that it tells everything.
func (m Mechanism) withoutShifts() bool {
	switch m.Kind {
	case DiscreteGaussian:
	case ExponentialQuantiles:
		return !m.listsChoices()
	default:
		return m.Kind == AdaptiveBlock
	}
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

// merge joins steps of one pair, as equal coordinates of a shift give.
func merge(steps []step) []step {
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

func sameAtoms(a, b pair) bool {
	x, ok := a.(atoms)
	y, also := b.(atoms)
	return ok && also && x.at.first == y.at.first && x.at.stride == y.at.stride && len(x.mass) == len(y.mass)
}

// coordinate is the pair of one coordinate that changes by d: (X, X+d).
func (m Mechanism) coordinate(d int64) pair {
	if m.Kind == DiscreteLaplace {
		switch {
		case d > maxLaplaceShift:
			return pureAtoms(new(big.Rat).Quo(new(big.Rat).SetInt64(d), m.Parameter))
		case d > maxLaplaceAtoms:
			return coarseLaplaceAtoms(m.Parameter, d, d, coarseParts)
		}
		return laplaceAtoms(m.Parameter, d)
	}
	if sigma := math.Sqrt(nearest(m.Parameter)); 2*tailDeviations*sigma > maxAtoms {
		return gaussianTails(nearest(m.Parameter), float64(d))
	}
	if d > maxGaussianShift {
		return atoms{lattice{new(big.Rat).Inv(m.Parameter), 0, 1}, []float64{0}, 1} // no test is too good
	}
	return gaussianAtoms(m.Parameter, d)
}

// listsAtoms tells that the pair of every shift has few enough atoms: no more
// than about maxConvolution products to convolve its coordinates.
func (m Mechanism) listsAtoms(shifts []Shift) bool {
	width := float64(2*tailDeviations*math.Sqrt(nearest(m.Parameter))) + 3 // of a coordinate's noise
	for _, shift := range shifts {
		var reach, work float64
		for _, d := range shift {
			atoms := width
			if m.Kind == DiscreteLaplace {
				atoms = float64(d) + 1
			}
			reach += float64(float64(d) * atoms)
			work += float64(reach * atoms)
			if atoms > maxAtoms || m.Kind == DiscreteLaplace && d > maxLaplaceAtoms || work > maxConvolution {
				return false
			}
		}
	}
	return true
}

// vector is the pair of a whole shift.
func (m Mechanism) vector(shift Shift) atoms {
	all := m.coordinate(shift[0]).(atoms)
	for _, d := range shift[1:] {
		all = all.convolve(m.coordinate(d).(atoms))
	}
	return all
}

// coarse are the pairs of whole shifts of Laplace noise, all brought to the same multiples of a loss; nil where that
// would be too rough, or too much work.
func (m Mechanism) coarse(shifts []Shift) []atoms {
	largest, longest := int64(0), 0
	for _, shift := range shifts {
		largest, longest = max(largest, shift[0]), max(longest, len(shift))
	}
	parts := min(coarseParts, maxAtoms/32/int64(max(longest, 1)))
	if m.Kind != DiscreteLaplace || largest > maxLaplaceShift || parts < leastParts {
		return nil
	}
	var each []atoms
	for _, shift := range shifts {
		all := coarseLaplaceAtoms(m.Parameter, shift[0], largest, parts)
		for _, d := range shift[1:] {
			all = all.convolve(coarseLaplaceAtoms(m.Parameter, d, largest, parts))
		}
		each = append(each, all)
	}
	return each
}

// gaussianAtoms is the pair (X, X+d) for the discrete Gaussian of parameter σ²:
// L = (d² − 2dX)/2σ² at X, an integer times 1/2σ².
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

// gaussianTails is the same for σ ≥ 2^10, by the distribution function.
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

// laplaceAtoms is the pair (X, X+d) for the discrete Laplace of scale t: with
// T = min(max(X, 0), d), L = (d − 2T)/t, an integer times 1/t, and
// P(T = 0) = 1/(1+a), P(T ≥ j) = a^j/(1+a) for 1 ≤ j ≤ d, a = e^{−1/t}.
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

// coarseLaplaceAtoms is a pair that dominates laplaceAtoms, for d up to 2^50, with losses at the multiples of
// whole/(parts·t): losses in between are shared by connecting the dots. T from b to c−1, for 0 < b < c ≤ d, has
//
//	P = (a^b − a^c)/(1+a),   ln(P/Q) = (d+1−b−c)/t,
//
// so that what lies between two multiples is one atom.
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

// floorQuotient is ⌊x/y⌋ for y > 0.
func floorQuotient(x, y int64) int64 {
	q := x / y
	if x%y < 0 {
		q--
	}
	return q
}

// pureAtoms is the pair of randomized response, which dominates every ε-private
// mechanism (Kairouz, Oh & Viswanath 2015, theorem 3.3): L = ±ε.
func pureAtoms(epsilon *big.Rat) atoms {
	kept := 1 / (1 + Exp(-nearest(epsilon)))
	return atoms{lattice{epsilon, -1, 2}, []float64{kept * Exp(-nearest(epsilon)), kept}, 0}
}

// boundedRange is the pair that dominates every mechanism whose losses lie in an
// interval of length ε, such as the exponential mechanism: the envelope over t of
// the pairs with L ∈ {t−ε, t}, whose profile is
//
//	δ(x) = (e^{ε/2} − e^{x/2})²/(e^ε − 1), −ε ≤ x ≤ ε,
//
// so that P(L > x) = e^{ε/2}(e^{ε/2} − e^{x/2})/(e^ε − 1) and Q(L > x) =
// (e^{(ε−x)/2} − 1)/(e^ε − 1). Source: the extreme pairs are those of Dong,
// Durfee & Rogers 2020; the envelope is worked out in docs/proofs/pld.md.
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

// zcdpPoints is how many points of its profile the pair of a ρ-zCDP mechanism
// has for each √(2ρ) of loss.
const zcdpPoints = 512

// maxZCDPRho is the largest ρ whose profile is worked out; beyond, e^ε would
// overflow.
const maxZCDPRho = 100

// zcdpAtoms is a pair that dominates every ρ-zCDP mechanism: its profile joins
// the values of ZCDPDelta, and below 0 of δ(−x) = 1 − e^{−x}(1 − δ(x)), the same
// bound for the neighbours in the other order.
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

// convexHull returns the largest values, at most those given, that are convex in
// e^{ih}. What bounds a convex profile still does so afterwards.
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
