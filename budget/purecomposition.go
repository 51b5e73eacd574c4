package budget

import (
	"cmp"
	"math"
	"math/big"
	"slices"
)

// PureStep is Count mechanisms, each (Epsilon, Delta)-differentially private and
// nothing more known of it. The worst such mechanism is randomized response: with
// probability Delta it tells everything, and else its loss is Epsilon with
// probability p = e^Epsilon/(1+e^Epsilon) and −Epsilon otherwise (Kairouz, Oh &
// Viswanath 2015). Adaptive choices lose no more.
//
// Figures of a step with a negative or infinite Epsilon, a Delta outside [0, 1] or
// a Count outside 0 … 2³² are those of no protection.
type PureStep struct {
	Epsilon, Delta float64
	Count          int64
}

// PureComposition is the optimal composition of steps of which only their ε and δ
// are known.
type PureComposition []PureStep

func (s PureStep) valid() bool {
	return isAmount(s.Epsilon) && s.Delta >= 0 && s.Delta <= 1 && s.Count >= 0 && s.Count <= 1<<32 &&
		isAmount(s.Epsilon*float64(s.Count))
}

// GridEpsilon returns the least of the ε = (k−2i)·ε₀ ≥ 0 with Delta(ε) ≤ δ, which is
// the form in which theorem 3.3 is stated, rounded up: +Inf where there is none,
// as where 1 − (1−δ₀)^k is above δ.
//
// Guarantee and theorem: as for [PureComposition.Delta].
func (s PureStep) GridEpsilon(delta float64) float64 {
	if !s.valid() {
		return math.Inf(1)
	}
	law := s.losses()
	fits, exceeds := int64(-1), s.Count/2+1
	for exceeds-fits > 1 {
		middle := fits + (exceeds-fits)/2
		if s.gridDelta(law, middle) <= delta {
			fits = middle
		} else {
			exceeds = middle
		}
	}
	if fits < 0 {
		return math.Inf(1)
	}
	high, low := twoProduct(float64(s.Count-2*fits), s.Epsilon)
	if low > 0 {
		return math.Nextafter(high, math.Inf(1))
	}
	return high
}

// gridDelta is δ at (k−2i)·ε₀, with the differences of losses exact.
func (s PureStep) gridDelta(law binomialLosses, i int64) float64 {
	var sum float64
	for j := law.first; j < i && j < law.end(); j++ {
		sum += float64(law.mass[j-law.first] * -expm1(-float64(float64(2*(i-j))*s.Epsilon)))
	}
	return afterFailure(PureComposition{s}.failure(), law.enlarged(sum))
}

// GridStepFor returns the step of largest Epsilon for which GridEpsilon(δ) ≤ ε,
// given how many there are and the δ of each: 0 where there is none.
//
// Guarantee: GridEpsilon(δ) ≤ ε holds of what is returned. Theorem: as for
// [PureComposition.Delta].
func GridStepFor(count int64, stepDelta, epsilon, delta float64) PureStep {
	step := func(e float64) PureStep { return PureStep{e, stepDelta, count} }
	if count < 1 || !isAmount(epsilon) {
		return step(0)
	}
	// On the grid's point i, ε allows (k−2i)·ε₀ ≤ ε, which rises with i, and δ an ε₀
	// that falls with i: the best i is where they cross.
	allowed := func(i int64) float64 {
		if count == 2*i {
			return math.MaxFloat64 / float64(count)
		}
		return epsilon / float64(count-2*i)
	}
	within := func(e float64, i int64) bool { return step(e).gridDelta(step(e).losses(), i) <= delta }
	low, high := int64(0), count/2+1
	for high-low > 1 {
		if middle := low + (high-low)/2; within(allowed(middle), middle) {
			low = middle
		} else {
			high = middle
		}
	}
	best := 0.0
	for i := low; i <= min(low+1, count/2); i++ {
		best = math.Max(best, greatestFitting(func(e float64) bool { return e <= allowed(i) && within(e, i) }))
	}
	for best > 0 && step(best).GridEpsilon(delta) > epsilon {
		best = math.Nextafter(best, 0) // what allowed rounded up
	}
	return step(best)
}

// Delta returns the least δ for which all steps are together (ε, δ)-differentially
// private, rounded up: by less than 1e-9 of it for up to 24 different ε. For k
// steps of the same ε₀ and δ₀
//
//	δ = 1 − (1−δ₀)^k·(1 − Σⱼ C(k,j)·[e^{(k−j)ε₀} − e^{ε+jε₀}]₊/(1+e^{ε₀})^k);
//
// of others the sum is over all sums of losses. Negative ε are allowed. Where more
// than about 40 different ε would make too many sums, they are first rounded up to
// multiples of a fraction of the largest.
//
// Guarantee: for the neighbours of the steps. Theorem: Kairouz, Oh & Viswanath
// 2015, theorem 3.3; Murtagh & Vadhan 2016, theorem 1.5, and section 4 for the
// rounding. Argument: docs/proofs/purecomposition.md.
func (c PureComposition) Delta(epsilon float64) float64 {
	profile, ok := c.profile()
	if !ok || epsilon != epsilon {
		return 1
	}
	return profile(epsilon)
}

// Epsilon returns the least ε ≥ 0 with Delta(ε) ≤ δ: +Inf where there is none.
//
// Guarantee and theorem: as for Delta.
func (c PureComposition) Epsilon(delta float64) float64 {
	profile, ok := c.profile()
	if !ok || delta < c.failure() {
		return math.Inf(1)
	}
	return leastFitting(func(epsilon float64) bool { return profile(epsilon) <= delta })
}

// profile returns δ as a function of ε, or false for a step that is not valid.
func (c PureComposition) profile() (profile func(epsilon float64) float64, ok bool) {
	most := new(big.Rat)
	for _, s := range c {
		if !s.valid() {
			return nil, false
		}
		all := exactRat(s.Epsilon)
		most.Add(most, all.Mul(all, new(big.Rat).SetInt64(s.Count)))
	}
	failure, groups := c.failure(), c.groups()
	pure := pairwise(groups)
	if len(groups) == 1 {
		pure = groups[0].pureDelta(groups[0].losses())
	}
	return func(epsilon float64) float64 {
		switch {
		case epsilon < 0:
			at := afterFailure(failure, pureAt(pure, most, -epsilon))
			return math.Min(1, raised(-expm1(epsilon)+float64(Exp(epsilon)*at), 4))
		default:
			return afterFailure(failure, pureAt(pure, most, epsilon))
		}
	}, true
}

// pureAt is 0 from the sum of all ε on, whatever rounding says.
func pureAt(pure func(float64) float64, most *big.Rat, epsilon float64) float64 {
	if math.IsInf(epsilon, 1) || exactRat(epsilon).Cmp(most) >= 0 {
		return 0
	}
	return pure(epsilon)
}

func exactRat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// failure returns 1 − Π(1−δᵢ), rounded up.
func (c PureComposition) failure() float64 {
	var sum float64
	for _, s := range c {
		if s.Delta == 1 && s.Count > 0 {
			return 1
		}
		sum += float64(float64(s.Count) * log1p(-s.Delta))
	}
	return math.Min(1, raised(-expm1(sum), float64(4+len(c))))
}

// afterFailure joins the δ of telling everything with that of the rest.
func afterFailure(failure, pure float64) float64 {
	return math.Min(1, raised(failure+float64((1-failure)*pure), 2))
}

// groups joins steps of one ε, leaves out those of none, and rounds ε up until
// both halves of the groups have few enough sums.
func (c PureComposition) groups() []PureStep {
	const roundings = 24
	var largest float64
	for _, s := range c {
		largest = math.Max(largest, s.Epsilon)
	}
	groups := c.joined(func(e float64) float64 { return e })
	for bits := roundings; !fewSums(groups); bits-- {
		unit := largest * powerOfTwo(-bits) // exact
		groups = c.joined(func(e float64) float64 { return math.Min(largest, math.Ceil(e/unit)*unit) })
	}
	return groups
}

func (c PureComposition) joined(rounded func(e float64) float64) []PureStep {
	counts := map[float64]int64{}
	for _, s := range c {
		if s.Epsilon > 0 && s.Count > 0 {
			counts[rounded(s.Epsilon)] += s.Count
		}
	}
	var groups []PureStep
	for e, count := range counts {
		groups = append(groups, PureStep{Epsilon: e, Count: count})
	}
	// The most outcomes first; a fixed order whatever that of the map.
	slices.SortFunc(groups, func(a, b PureStep) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Epsilon, a.Epsilon))
	})
	return groups
}

// mostSums bounds the sums of losses in each half.
const mostSums = 1 << 20

func fewSums(groups []PureStep) bool {
	left, right := halves(groups)
	return outcomes(left) <= mostSums && outcomes(right) <= mostSums || len(groups) == 1
}

// halves splits the groups so that the two have about as many outcomes.
func halves(groups []PureStep) (left, right []PureStep) {
	for _, g := range groups {
		if outcomes(left) <= outcomes(right) {
			left = append(left, g)
		} else {
			right = append(right, g)
		}
	}
	return left, right
}

// outcomes bounds the sums of losses: a binomial law of k has masses above 2⁻¹⁰⁰⁰
// only within 19√k of its mean (Hoeffding's bound).
func outcomes(groups []PureStep) float64 {
	product := 1.0
	for _, g := range groups {
		k := float64(g.Count)
		product *= math.Min(k+1, float64(40*math.Sqrt(k))+40)
	}
	return product
}

// lostMass is what binomialLosses may leave out at either end.
const lostMass = 0x1p-980

// binomialLosses is the law of the sum of k losses ±ε₀ under P: mass[i] is the
// probability of (k−2j)·ε₀ at j = first+i. Masses below 2⁻¹⁰⁰⁰ are left out, less
// than lostMass in all. Each mass is within 2⁻⁵³·(8n+16) of the exact one, n the length.
type binomialLosses struct {
	first int64
	mass  []float64
}

func (l binomialLosses) end() int64 { return l.first + int64(len(l.mass)) }

// enlarged makes up for the rounding of a sum over masses.
func (l binomialLosses) enlarged(sum float64) float64 {
	if l.first > 0 {
		sum += lostMass
	}
	return raised(sum, float64(5*len(l.mass)+32))
}

// losses works the law out by the ratios of neighbours, outwards from the mode,
// and divides by the sum.
func (s PureStep) losses() binomialLosses {
	const least = 0x1p-1000
	k := float64(s.Count)
	rise, fall := Exp(s.Epsilon), Exp(-s.Epsilon)
	mode := math.Min(k, math.Floor((k+1)*(fall/(1+fall))))
	var before, after []float64
	weight := 1.0
	for j := mode; j > 0 && weight >= least; j-- {
		weight = float64(weight*(j/(k-j+1))) * rise
		before = append(before, weight)
	}
	weight = 1
	for j := mode; j < k && weight >= least; j++ {
		weight = float64(weight*((k-j)/(j+1))) * fall
		after = append(after, weight)
	}
	slices.Reverse(before)
	mass := slices.Concat(before, []float64{1}, after)
	var sum float64
	for _, m := range mass {
		sum += m
	}
	for i := range mass {
		mass[i] /= sum
	}
	return binomialLosses{int64(mode) - int64(len(before)), mass}
}

// pureDelta returns ε ↦ Σ mass·(1 − e^{ε−L}) over the losses L above ε, which are
// compared with ε exactly.
func (s PureStep) pureDelta(law binomialLosses) func(epsilon float64) float64 {
	return func(epsilon float64) float64 {
		var sum float64
		for i, mass := range law.mass {
			high, low := twoProduct(float64(s.Count-2*(law.first+int64(i))), s.Epsilon)
			gap := (high - epsilon) + low
			if !(gap > 0) {
				break
			}
			sum += float64(mass * -expm1(-gap))
		}
		return math.Max(law.enlarged(sum), smallestDelta)
	}
}

// pairwise returns ε ↦ δ of independent groups: every sum of losses of one half
// meets the sums of the other that lift it above ε.
func pairwise(groups []PureStep) func(epsilon float64) float64 {
	if len(groups) == 0 {
		return func(float64) float64 { return 0 }
	}
	leftGroups, rightGroups := halves(groups)
	left, right := sumsOfLosses(leftGroups), sumsOfLosses(rightGroups)
	upper := upperSums(right)
	// Rounding moves a sum of losses by less than 2⁻⁵² of the largest for each group.
	var units float64
	for _, g := range groups {
		units += float64(float64(len(groups))*g.Epsilon*float64(g.Count)) + float64(8*outcomes([]PureStep{g})) + 16
	}
	units += float64(4*len(right)+len(left)) + 64
	return func(epsilon float64) float64 {
		var sum, size float64
		reached := 0
		for i := len(left) - 1; i >= 0; i-- { // as its loss rises, the threshold falls
			l := left[i]
			threshold := epsilon - l.loss
			for reached < len(right) && right[reached].loss > threshold {
				reached++
			}
			if reached == 0 {
				continue
			}
			at := upper[reached-1]
			sum += float64(l.mass * (at.mass - float64(Exp(threshold-right[reached-1].loss)*at.scaled)))
			size += float64(l.mass * at.mass)
		}
		delta := sum + float64(size*units*0x1p-52) + lostMass
		return math.Min(1, delta)
	}
}

// sumsOfLosses lists the sums of losses of independent groups, largest first.
func sumsOfLosses(groups []PureStep) []lossAtom {
	sums := []lossAtom{{0, 1}}
	for _, g := range groups {
		law := g.losses()
		next := make([]lossAtom, 0, len(sums)*len(law.mass))
		for _, s := range sums {
			for i, mass := range law.mass {
				loss := float64(float64(g.Count-2*(law.first+int64(i))) * g.Epsilon)
				next = append(next, lossAtom{s.loss + loss, s.mass * mass})
			}
		}
		sums = next
	}
	slices.SortFunc(sums, func(a, b lossAtom) int { return cmp.Compare(b.loss, a.loss) })
	return sums
}

// upperSum is, over the losses from the largest down to L, the sum of their masses
// and of their masses under Q, times e^L.
type upperSum struct{ mass, scaled float64 }

func upperSums(atoms []lossAtom) []upperSum {
	sums := make([]upperSum, len(atoms))
	var sum upperSum
	for i, atom := range atoms {
		if i > 0 {
			sum.scaled *= Exp(atom.loss - atoms[i-1].loss)
		}
		sum.mass += atom.mass
		sum.scaled += atom.mass
		sums[i] = sum
	}
	return sums
}

// twoProduct returns x·y as the nearest float64 and the rest, exactly unless the
// product or its rest is out of range (Dekker 1971).
func twoProduct(x, y float64) (high, low float64) {
	high = float64(x * y)
	if math.Abs(high) > 1e290 || math.Abs(x) > 1e290 || math.Abs(y) > 1e290 {
		return high, 0
	}
	xHigh, xLow := splitHalves(x)
	yHigh, yLow := splitHalves(y)
	low = float64(xHigh*yHigh) - high
	low += float64(xHigh * yLow)
	low += float64(xLow * yHigh)
	return high, low + float64(xLow*yLow)
}

// splitHalves writes x as the sum of two numbers of 26 bits.
func splitHalves(x float64) (high, low float64) {
	c := float64(x * (1<<27 + 1))
	high = c - (c - x)
	return high, x - high
}
