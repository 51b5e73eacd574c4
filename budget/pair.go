package budget

import (
	"math"
	"math/big"
)

// A pair is a dominating pair of distributions (P, Q) of one step, seen through
// its privacy loss L = ln(dP/dQ) under P: no test between two neighbours does
// better than the best test between P and Q (Zhu, Dong & Wang 2022, definition
// 7). Every pair here dominates both orders of the neighbours.
type pair interface {
	// lattice returns the lattice that holds every finite loss, or false.
	lattice() (lattice, bool)
	// commonGrain returns a loss of which the losses of all atoms are multiples, or nil.
	commonGrain() *big.Rat
	// spreadOver spreads the finite losses over the multiples of h, by add(j, mass) for the loss j·h: the mass between
	// two multiples goes to both of them in the proportion that keeps both its P and its Q (connecting the dots:
	// Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022, section 4). It returns P(L = ∞), including tails that are
	// left out. Positions rise except for the last two. Mass that is negligible in a sum tilted by θ may be spread
	// over fewer of them.
	spreadOver(h, theta float64, add func(j int64, mass float64)) (infinite float64)
	// lossSpan returns the least and the largest finite loss that spreadOver spreads.
	lossSpan() (low, high float64)
}

// lattice is the set of losses {(first + i·stride)·unit : i ≥ 0}.
type lattice struct {
	unit          *big.Rat
	first, stride int64
}

// firstLoss returns the least loss, and lossSpacing the distance between two neighbouring losses.
func (l lattice) firstLoss() *big.Rat {
	return new(big.Rat).Mul(l.unit, new(big.Rat).SetInt64(l.first))
}
func (l lattice) lossSpacing() *big.Rat {
	return new(big.Rat).Mul(l.unit, new(big.Rat).SetInt64(l.stride))
}

// atoms is a pair whose losses lie on a lattice: mass[i] is the probability of the i-th loss. Losses are kept as
// integer multiples, so that no rounding decides where an atom lies.
type atoms struct {
	at        lattice
	mass      []float64
	unbounded float64 // P(L = ∞)
}

func (a atoms) lattice() (lattice, bool) { return a.at, true }

func (a atoms) commonGrain() *big.Rat {
	whole := greatestDivisor(max(a.at.first, -a.at.first), a.at.stride)
	return new(big.Rat).Mul(a.at.unit, new(big.Rat).SetInt64(whole))
}

// lossAt returns the i-th loss, the product of an integer and the rounded unit. The integer is small, so the product is
// within 1 ulp.
func (a atoms) lossAt(i int) float64 { return a.lossFunction()(i) }

// lossFunction returns the function from an index to its loss. The unit is rounded once for all of them.
func (a atoms) lossFunction() func(i int) float64 {
	unit := nearest(a.at.unit)
	return func(i int) float64 { return float64(a.at.first+int64(i)*a.at.stride) * unit }
}

func (a atoms) lossSpan() (low, high float64) { return a.lossAt(0), a.lossAt(len(a.mass) - 1) }

func (a atoms) spreadOver(h, _ float64, add func(j int64, mass float64)) float64 {
	loss := a.lossFunction()
	for i, mass := range a.mass {
		if mass > 0 {
			connectDots(loss(i), mass, h, add)
		}
	}
	return a.unbounded
}

// connectDots adds an atom to the two multiples of h around it, so that their
// P and Q add up to its own: x·h up to (x+1)·h share P = m and Q = m·e^{−L}.
func connectDots(loss, mass, h float64, add func(j int64, mass float64)) {
	j := math.Floor(loss / h)
	up := expm1(float64(j*h)-loss) / expm1(-h)
	up = min(max(up, 0), 1) // true except for rounding
	add(int64(j), float64(mass*(1-up)))
	add(int64(j)+1, float64(mass*up))
}

// convolve returns the pair of two independent steps with losses of one unit.
func (a atoms) convolve(b atoms) atoms {
	stride := greatestDivisor(a.at.stride, b.at.stride)
	da, db := int(a.at.stride/stride), int(b.at.stride/stride)
	sum := make([]float64, (len(a.mass)-1)*da+(len(b.mass)-1)*db+1)
	for i, x := range a.mass {
		row := sum[i*da:]
		if db == 1 {
			row = row[:len(b.mass)]
			for j, y := range b.mass {
				row[j] += float64(x * y)
			}
			continue
		}
		for j, y := range b.mass {
			row[j*db] += float64(x * y)
		}
	}
	return atoms{
		at:        lattice{a.at.unit, a.at.first + b.at.first, stride},
		mass:      sum,
		unbounded: a.unbounded + b.unbounded, // at least 1 − (1−a)(1−b)
	}
}

// profile returns δ at the losses n·unit for n from first on, at the given number of points: the hockey-stick
// divergence E[(1 − e^{ε−L})₊] of the pair, without cancellation.
func (a atoms) profile(first int64, points int) []float64 {
	unit := nearest(a.at.unit)
	step, gap := Exp(-unit), -expm1(-unit)
	delta := make([]float64, points)
	// With B = Σ_{l>ε} P(l)e^{ε−l}: from ε to ε − unit every term of δ grows by
	// (1−e^{−unit})·e^{ε−l}·P(l), and B becomes e^{−unit}(B + P(ε)).
	sum, below := a.unbounded, 0.0
	last := a.at.first + int64(len(a.mass)-1)*a.at.stride
	for n := max(last, first+int64(points)-1); n >= first; n-- {
		if n < first+int64(points) {
			delta[n-first] = sum
		}
		if i := n - a.at.first; i >= 0 && i%a.at.stride == 0 && i/a.at.stride < int64(len(a.mass)) {
			below += a.mass[i/a.at.stride]
		}
		sum += float64(gap * below)
		below = float64(step * below)
	}
	return delta
}

// maxEnvelope is the largest number of points that an envelope is refined to.
const maxEnvelope = 1 << 13

// envelope returns a pair that dominates all given pairs, which share a unit. Its profile joins the largest of their
// values at the multiples of a fraction of the unit.
//
// Guarantee: it dominates every pair that one of the given pairs dominates. Theorem: a profile that is convex in e^ε
// and bounds theirs belongs to a dominating pair (Zhu, Dong & Wang 2022, proposition 8). Argument: docs/proofs/pld.md.
func envelope(pairs []atoms) atoms {
	if len(pairs) == 1 {
		return pairs[0]
	}
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, p := range pairs {
		low = min(low, p.at.first)
		high = max(high, p.at.first+int64(len(p.mass)-1)*p.at.stride)
	}
	parts := int64(1) // where two profiles cross, their maximum has a corner
	for 2*parts*(high-low) < maxEnvelope {
		parts *= 2
	}
	unit := new(big.Rat).Quo(pairs[0].at.unit, new(big.Rat).SetInt64(parts))
	worst := make([]float64, (high-low)*parts+1)
	for _, p := range pairs {
		finer := atoms{lattice{unit, p.at.first * parts, p.at.stride * parts}, p.mass, p.unbounded}
		for i, delta := range finer.profile(low*parts, len(worst)) {
			worst[i] = max(worst[i], delta)
		}
	}
	return fromProfile(unit, low*parts, worst)
}

// fromProfile returns the pair with these values of δ at ε = (first+i)·unit, joined by straight lines in e^ε. The
// values must be convex in e^ε up to rounding. Below the first ε the profile is taken to be the largest possible.
func fromProfile(unit *big.Rat, first int64, delta []float64) atoms {
	h := nearest(unit)
	n := len(delta)
	mass := make([]float64, n)
	// −slope of the line from i to i+1, times e^{ε_i}; and the same slope times
	// e^{ε_{i+1}} for the next.
	growth, above := expm1(h), 0.0
	var sum float64
	for i := n - 1; i > 0; i-- {
		drop := max(0, delta[i-1]-delta[i]) / growth // times e^{ε_{i−1}}
		here := float64(drop * Exp(h))               // times e^{ε_i}
		mass[i] = max(0, here-above)
		above = drop
		sum += mass[i]
	}
	infinite := delta[n-1]
	mass[0] = max(0, 1-infinite-sum)
	return atoms{lattice{unit, first, 1}, mass, infinite}.withRoundingSlack(n)
}

// withRoundingSlack returns the pair with masses enlarged by what rounding may take from a profile of so many points:
// the slopes of all points after one add up to its δ, each with few roundings.
func (a atoms) withRoundingSlack(points int) atoms {
	slack := 1 + float64(16*unitRoundoff*float64(points+16))
	mass := make([]float64, len(a.mass))
	for i, m := range a.mass {
		mass[i] = float64(m * slack)
	}
	return atoms{a.at, mass, float64(a.unbounded * slack)}
}

// greatestDivisor returns the greatest common divisor of two positive integers.
func greatestDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// tails is a pair that is given by its distribution functions, since its losses have no useful lattice.
type tails struct {
	// above returns P(L > x) and Q(L > x), below P(L ≤ x) and Q(L ≤ x), each
	// accurate relatively.
	above, below func(x float64) (p, q float64)
	low, high    float64  // finite; what lies outside has a mass below 1e-60, or none
	ends         *big.Rat // if there are atoms at both ends, the distance of an end from 0
}

func (t tails) lattice() (lattice, bool) { return lattice{}, false }

func (t tails) commonGrain() *big.Rat { return t.ends }

func (t tails) lossSpan() (low, high float64) { return t.low, t.high }

func (t tails) spreadOver(h, theta float64, add func(j int64, mass float64)) float64 {
	const coarsest = 1 << 16
	first, last := int64(math.Ceil(t.low/h))-1, int64(math.Ceil(t.high/h))
	at := func(j int64) float64 { return float64(float64(j) * h) }
	if at(last) < t.high { // by rounding
		last++
	}
	median := t.lossQuantile(0.5)
	left := t.massBeyond(at(first), median)
	if !left.upper {
		add(first+1, left.p) // mass below the span, moved up
	}
	width := int64(1)
	for j := first; j < last; {
		// A tail of tilted mass m may lie in cells of width h/√m without adding
		// more to the variance than the rest does.
		width = min(2*width, coarsest, last-j)
		right := t.massBeyond(at(j+width), median)
		for width > 1 {
			heaviest := right.p
			if left.upper {
				heaviest = left.p
			}
			if left.upper == right.upper &&
				float64(heaviest*Exp(float64(theta*at(j+width))))*float64(width*width) < 0.01 {
				break
			}
			width /= 2
			right = t.massBeyond(at(j+width), median)
		}
		p, q := massBetween(left, right)
		up := (p - float64(q*Exp(at(j)))) / -expm1(-float64(width)*h)
		up = min(max(up, 0), p)
		add(j, p-up)
		add(j+width, up)
		j, left = j+width, right
	}
	return left.p
}

// edge is the mass above a loss if upper is set, and up to it if not: the smaller of the two.
type edge struct {
	p, q  float64
	upper bool
}

func (t tails) massBeyond(loss, median float64) edge {
	if loss >= median {
		p, q := t.above(loss)
		return edge{p, q, true}
	}
	p, q := t.below(loss)
	return edge{p, q, false}
}

// massBetween returns the mass between two edges.
func massBetween(left, right edge) (p, q float64) {
	switch {
	case right.upper && left.upper:
		p, q = left.p-right.p, left.q-right.q
	case right.upper:
		p, q = (1-left.p)-right.p, (1-left.q)-right.q
	default:
		p, q = right.p-left.p, right.q-left.q
	}
	return max(p, 0), max(q, 0)
}

// lossQuantile returns approximately the loss above which P has this mass.
func (t tails) lossQuantile(above float64) float64 {
	low, high := t.low, t.high
	for range 60 {
		middle := (low + high) / 2
		if p, _ := t.above(middle); p > above {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
