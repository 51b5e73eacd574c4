package budget

import (
	"math"
	"math/big"
)

// This file composes privacy losses numerically. The loss of independent steps is
// the sum of their losses, so its distribution is a convolution: here a product
// of Fourier transforms, of distributions that were tilted by e^{θL} so that the
// part of the sum that decides δ is where transforms are accurate (Koskela,
// Jälkö & Honkela 2020; the tilt is the classical exponential change of measure
// of Esscher 1932). Every approximation errs towards more loss:
//
//   - losses between the multiples of the spacing go to both neighbours by
//     connecting the dots, which dominates;
//   - what lies above the window counts as an infinite loss, and what wraps
//     around from below it lands high;
//   - a bound on the rounding of transforms and sums is added.
//
// Where all losses lie on one lattice and the window holds it, the spacing is
// that lattice and only the rounding is left.

// A step is a pair and how often it is run.
type step struct {
	pair  pair
	count int64
}

// resolution says how fine the spacing is where there is no lattice.
type resolution struct {
	relative float64 // wanted relative growth of the variance of the sum
	points   int     // most points of a transform, a power of two
	least    int     // points that a window has at least where there is no lattice
}

// usual resolution: ε comes out too large by less than about 1e-7 of it for up
// to some thousand steps.
var usual = resolution{relative: 1e-7, points: 1 << 20}

// rough resolution is for what is only compared: ε is off by less than about 1e-5 of it, once [sum.excess] is allowed
// for.
var rough = resolution{relative: 1e-4, points: 1 << 14, least: 1 << 10}

// sum is the distribution of the total loss of a composition, tilted.
type sum struct {
	spacing float64   // between losses
	low     float64   // loss of mass[0]
	mass    []float64 // P(S = low + i·spacing)·e^{θS}/M, plus rounding
	theta   float64   // θ ≥ 0
	logM    float64   // ln M, M = E[e^{θS}; S < ∞]
	// infinite is P(S = ∞) with what lies above the window.
	infinite float64
	// noise bounds the rounding error of Σ mass_i·w_i for weights with Σw² ≤ 1.
	noise float64
	// relative bounds the relative rounding error of what is computed from mass.
	relative float64
	// lost bounds the part of the tilted sum that is missing from mass because a
	// bundle left it out below its window.
	lost float64
	// logSteep is ln E[e^{θ′S}; S < ∞] for the θ′ of another sum, which this one is
	// a part of.
	logSteep float64
	// excess estimates by how much connecting the dots has made ε larger.
	excess float64
}

// windowMargin leaves out parts of 1e-13.
const windowMargin = 30

// maxDecay is the largest θ times the spacing: beyond, the weight of one loss in
// tailSums would be nothing beside the next, and underflow at last.
const maxDecay = 30

// compose returns the distribution of the total loss of the steps, tilted by θ.
//
// Guarantee: the loss distribution that it describes, with its bounds on
// rounding added, dominates that of the steps run independently on the same data
// and fixed in advance. Neighbours: those that the pairs dominate. Theorem:
// dominating pairs compose (Zhu, Dong & Wang 2022, theorem 10). Argument:
// docs/proofs/pld.md.
func compose(steps []step, sketches []sketch, theta float64, r resolution) sum {
	for _, s := range steps {
		if a, ok := s.pair.(atoms); ok && a.unbounded >= 1 {
			return nothing()
		}
	}
	if g, ok := commonLattice(steps); ok {
		theta = min(theta, maxDecay/g.spacing)
	}
	// What matters of the sum is about e^{K(θ)−θK′(θ)}.
	rare := windowMargin + max(0, float64(theta*mean(sketches, theta))-cumulant(sketches, theta))
	steps, sketches = withoutRare(steps, sketches, rare)
	return convolve(steps, sketches, tilt{theta: theta, margin: windowMargin, rare: rare}, r)
}

// nothing is the sum of which nothing can be promised: its loss is infinite.
func nothing() sum { return sum{spacing: 1, mass: []float64{0}, infinite: 1} }

// withoutRare cuts off losses so high that all runs together have a probability
// of e^{−rare} of one of them: they then count as infinite.
func withoutRare(steps []step, sketches []sketch, rare float64) ([]step, []sketch) {
	cut, of := make([]step, len(steps)), make([]sketch, len(steps))
	for i, s := range steps {
		cut[i], of[i] = s, sketches[i]
		if t, ok := s.pair.(tails); ok {
			if high := t.quantile(Exp(-rare) / runs(steps)); high < t.high {
				t.high = high
				cut[i].pair = t
				of[i] = cut[i].sketch()
			}
		}
	}
	return cut, of
}

// tilt is how a sum is tilted, and for whom.
type tilt struct {
	theta  float64
	margin float64 // parts of the tilted sum below e^{−margin} do not matter
	rare   float64 // nor do losses of a probability below e^{−rare}
	part   bool    // of another sum, which wants to know
	steep  float64 // ln E[e^{θ′S}; S < ∞] for this θ′
}

// convolve is compose for any tilt.
func convolve(steps []step, sketches []sketch, at tilt, r resolution) sum {
	rough := outline(sketches, at)
	g := gridFor(steps, variance(sketches), rough.width, r)
	if g.exact == nil && !at.part {
		steps = bundle(steps, sketches, at, rough, r)
		g = gridFor(steps, variance(sketches), rough.width, r)
	}
	if float64(at.theta*g.spacing) > maxDecay { // the window is too wide for its points: nothing is told
		return nothing()
	}
	terms := make([]term, len(steps))
	for i, s := range steps {
		terms[i] = newTerm(s, g, at.theta)
	}
	low, high, tail := windowOf(terms, at, rough)
	points := 16
	for float64(points)*g.spacing < high-low+float64(4*g.spacing) {
		points *= 2
	}
	offset := g.offset(steps)
	first := int64(math.Floor((low - offset) / g.spacing)) // position of mass[0]
	s := sum{spacing: g.spacing, theta: at.theta, low: offset + float64(float64(first)*g.spacing), infinite: tail}
	p := newProduct(points)
	alone := len(terms) == 1 && terms[0].count == 1
	for _, t := range terms {
		clear(p.cells)
		for i, m := range t.tilted {
			p.cells[modulo(t.position[i], points)] += m
		}
		if !alone {
			p.multiply(t.count)
		}
		s.add(t, g)
		if at.part {
			s.logSteep += float64(float64(t.count) * t.cumulant(at.steep))
		}
	}
	if s.mass, s.noise = p.cells, 0; !alone {
		s.mass, s.noise = p.invert()
	}
	p.release()
	s.noise += inherited(terms)
	rotate(s.mass, modulo(first, points))
	if at.part {
		s.lost += 2 * Exp(-at.margin)
	}
	return s
}

// term is a step on a grid, tilted.
type term struct {
	spread
	tilted   []float64 // the masses times e^{θL}/e^{logM}
	count    int64
	logM     float64
	cumulant func(theta float64) float64 // ln E[e^{θL}; L < ∞]
	noise    float64                     // bounds √Σe² for the errors e of its tilted masses
	wrong    float64                     // bounds Σ|e|
	relative float64                     // bounds the relative errors of one run
	excess   float64                     // of ε, of one run, as connecting dots has it
	lost     float64
}

func newTerm(s step, g grid, theta float64) term {
	t := term{spread: s.on(g, theta), count: s.count}
	t.logM = logMoment(theta, t.mass, t.loss)
	t.cumulant = func(theta float64) float64 { return logMoment(theta, t.mass, t.loss) }
	t.tilted = make([]float64, len(t.mass))
	var size float64 // E|L|, tilted
	for i, m := range t.mass {
		t.tilted[i] = float64(m * Exp(float64(theta*t.loss(i))-t.logM))
		size += float64(t.tilted[i] * math.Abs(t.loss(i)))
	}
	t.relative = unitRoundoff * (8 + float64(4*theta*size) + float64(4*math.Abs(t.logM)))
	if g.exact == nil {
		t.excess = float64(g.spacing*g.spacing) * (theta + 1) / 8
	}
	switch inner := s.pair.(type) {
	case tails: // differences of tails lose digits in every cell, at random
		t.relative += float64(128 * unitRoundoff * (theta + 1) * max(1, math.Sqrt(float64(len(t.mass))/float64(s.count))))
	case *sum:
		// Each position takes from so many of the sum's masses, and a mass moved to
		// the next multiple weighs up to e^{θh} as much.
		sources := 2 * (math.Ceil(g.spacing/inner.spacing) + 1)
		heavier := Exp(theta * g.spacing)
		t.noise = float64(inner.noise * math.Sqrt(sources) * heavier)
		t.wrong = float64(inner.noise * math.Sqrt(float64(len(inner.mass))) * heavier)
		t.excess += inner.excess
		t.relative += inner.relative
		t.lost = inner.lost
		t.cumulant = func(theta float64) float64 {
			return inner.logSteep + float64(theta*(theta+1)*g.spacing*g.spacing/8)
		}
	}
	return t
}

// inherited bounds √Σe² for the errors e of the tilted masses of the terms' sum that
// come from those of the terms: to convolve with a distribution lengthens no error,
// to convolve with one whose own errors add up to w does by up to 1+w ≤ eʷ.
func inherited(terms []term) float64 {
	var noise, wrong float64
	for _, t := range terms {
		noise += float64(float64(t.count) * t.noise)
		wrong += float64(float64(t.count) * t.wrong)
	}
	return float64(noise * Exp(wrong))
}

// add notes the errors of a term, and what it may lose without bound.
func (s *sum) add(t term, g grid) {
	k := float64(t.count)
	s.logM += float64(k * t.logM)
	s.infinite = eitherOf(s.infinite, repeatedly(t.infinite, k))
	s.relative += float64(k*t.relative) + 200*unitRoundoff
	s.excess += float64(k * t.excess)
	s.lost += float64(k * t.lost)
}

// windowOf returns losses between which the sum of the terms lies, with a bound
// on P(S > high): Chernoff's, for the tilts that the outline found best, and none
// where no sum is higher. What lies beyond wraps around to the other end. At the
// end of it all that only adds to δ; of a part of another sum it is e^{−margin} of
// the tilted mass at most.
func windowOf(terms []term, at tilt, rough window) (low, high, tail float64) {
	var here, steep, gentle, least, most float64
	for _, t := range terms {
		k := float64(t.count)
		here += float64(k * t.logM)
		least += float64(k * t.loss(0))
		most += float64(k * t.loss(len(t.mass)-1))
		if rough.steepest > at.theta {
			steep += float64(k * t.cumulant(rough.steepest))
		}
		if at.part && rough.gentle < at.theta {
			gentle += float64(k * t.cumulant(rough.gentle))
		}
	}
	low, high = max(least, rough.low), most
	if at.part {
		low = least
		if rough.gentle < at.theta {
			low = max(least, (here-gentle-at.margin)/(at.theta-rough.gentle))
		}
	}
	if rough.steepest > at.theta {
		bound := (steep + at.rare) / rough.steepest
		if at.part {
			bound = max(bound, (steep-here+at.margin)/(rough.steepest-at.theta))
		}
		if bound < most {
			high, tail = bound, Exp(steep-float64(rough.steepest*bound)+1e-6)
		}
	}
	return low, min(max(high, low+rough.width), most), tail
}

// eitherOf is the probability that one of two independent events happens.
func eitherOf(a, b float64) float64 { return a + float64((1-a)*b) }

// repeatedly is the probability that an event happens at least once in k
// independent runs.
func repeatedly(p, k float64) float64 {
	if k == 1 {
		return p
	}
	return -expm1(float64(k * log1p(-p)))
}

const (
	// minBundle is the least number of runs of one pair that are bundled.
	minBundle = 64
	// leastGain is by how much bundling must lessen what connecting dots adds: it
	// lets rounding weigh more.
	leastGain = 8
)

// bundle composes about √k runs at a time of every pair that is run k times, on
// a finer grid of its own: dots are then connected √k times on either grid
// instead of k times, so that far fewer points give the same accuracy, unless a
// heavy tail needs the whole window already for few runs. steepest
// is the θ′ by which the whole sum's upper tail is bounded; connecting the dots
// of a bundle once more adds at most θ′(θ′+1)h²/8 to its cumulant, as a loss that
// stays within an interval of length h is (h²/8)-zCDP.
func bundle(steps []step, sketches []sketch, at tilt, whole window, r resolution) []step {
	finest := whole.width / float64(r.points)
	part := tilt{theta: at.theta, margin: at.margin, rare: at.rare + at.margin, part: true, steep: whole.steepest}
	var bundled []step
	for i, s := range steps {
		if s.count < minBundle {
			bundled = append(bundled, s)
			continue
		}
		size := int64(math.Sqrt(float64(s.count)))
		of := sketches[i]
		of.count = float64(size)
		inside := outline([]sketch{of}, part)
		wanted := math.Sqrt(4 * r.relative * variance([]sketch{of}) / float64(size))
		alone := max(wanted, finest)
		within := max(wanted, inside.width/float64(r.points))
		outside := max(float64(wanted*math.Sqrt(float64(size))), finest)
		if float64(within*within)+float64(outside*outside)/float64(size) >= float64(alone*alone)/leastGain {
			bundled = append(bundled, s)
			continue
		}
		inner := convolve([]step{{s.pair, size}}, []sketch{of}, part, r)
		bundled = append(bundled, step{&inner, s.count / size})
		if rest := s.count % size; rest > 0 {
			bundled = append(bundled, step{s.pair, rest})
		}
	}
	return bundled
}

// lattice, grain, place and span make a sum a pair, for the θ that it is tilted by.
func (s *sum) lattice() (lattice, bool) { return lattice{}, false }

func (s *sum) grain() *big.Rat { return nil }

func (s *sum) place(h, _ float64, add func(j int64, mass float64)) float64 {
	for i, m := range s.mass {
		if m > 0 {
			loss := s.low + float64(float64(i)*s.spacing)
			connectDots(loss, float64(m*Exp(s.logM-float64(s.theta*loss))), h, add)
		}
	}
	return s.infinite + float64(float64(len(s.mass))*smallestDelta) // with what is too small to be told from 0
}

func (s *sum) span() (low, high float64) {
	return s.low, s.low + float64(float64(len(s.mass)-1)*s.spacing)
}

// tailSums walks down the losses of a sum. At index i, with l_i = low + i·spacing
// and q the tilted mass, in units of M·e^{−θl_i}:
//
//	probability  B = Σ_{j ≥ i} q_j·e^{−(θ+1)(l_j−l_i)}
//	divergence   D = Σ_{j ≥ i} q_j·e^{−θ(l_j−l_i)}·(1−e^{−(l_j−l_i)}), δ at ε = l_i
//
// For ε = l_i − d with 0 ≤ d ≤ spacing it is D + (1−e^{−d})·B. All terms are
// positive: nothing cancels.
type tailSums struct {
	*sum
	i                        int
	probability, divergence  float64
	decay, steeperDecay, gap float64
	noise                    float64 // in the same units
}

func (s *sum) top() tailSums {
	t := tailSums{
		sum: s, i: len(s.mass) - 1,
		probability: s.mass[len(s.mass)-1],
		decay:       Exp(-s.theta * s.spacing), steeperDecay: Exp(-float64((s.theta + 1) * s.spacing)),
		gap: -expm1(-s.spacing),
	}
	reach := math.Sqrt(float64(len(s.mass))) // √Σw² for weights e^{−θ(l_j−l_i)}, j ≥ i
	if s.theta > 0 {
		reach = min(reach, 1/math.Sqrt(-expm1(-2*s.theta*s.spacing)))
	}
	t.noise = float64(s.noise*reach) + s.lost
	return t
}

func (t *tailSums) down() {
	t.divergence = float64(t.decay * (t.divergence + float64(t.gap*t.probability)))
	t.i--
	t.probability = t.mass[t.i] + float64(t.steeperDecay*t.probability)
}

func (t *tailSums) loss() float64 { return t.low + float64(float64(t.i)*t.spacing) }

// scale is M·e^{−θl_i}.
func (t *tailSums) scale() float64 { return Exp(t.logM - float64(t.theta*t.loss())) }

// delta returns δ at ε, rounded up. Below the window it is the chord from δ = 1 at
// e^ε = 0, as δ is convex in e^ε: what lies there was left out.
func (s *sum) delta(epsilon float64) float64 {
	t := s.top()
	epsilon -= t.blur()
	if epsilon >= t.loss() {
		return min(1, s.infinite)
	}
	for t.i > 0 && t.loss()-s.spacing > epsilon {
		t.down()
	}
	d := t.loss() - epsilon
	within := min(d, s.spacing)
	if t.i == 0 {
		within = 0
	}
	divergence := t.divergence + float64(-expm1(-within)*t.probability)
	delta := float64(t.scale()*(divergence+t.noise)*(1+s.relative)) + s.infinite
	if t.i == 0 {
		delta += float64(max(0, 1-delta) * -expm1(-d))
	}
	return min(1, max(delta, smallestDelta))
}

// epsilon returns the least ε whose δ, rounded up and below the window by its
// chord, is at most delta; +Inf where there is none. It may be negative.
func (s *sum) epsilon(delta float64) float64 {
	target := (delta - s.infinite) / (1 + s.relative)
	t := s.top()
	if !(target >= 0) {
		return math.Inf(1)
	}
	for t.i > 0 {
		next := t
		next.down()
		if !(float64(next.scale()*(next.divergence+t.noise)) <= target) {
			break
		}
		t = next
	}
	d := 0.0
	if t.i == 0 {
		if here := s.delta(t.loss()); here < delta && delta < 1 {
			d = -log1p(-(delta - here) / (1 - here))
		}
	} else if room := target/t.scale() - t.noise - t.divergence; room > 0 && t.probability > 0 {
		d = min(-log1p(-min(room/t.probability, 1)), t.spacing)
	}
	return t.loss() - d + t.blur()
}

// blur bounds by how much rounding has moved a loss.
func (s *sum) blur() float64 {
	return float64(16 * unitRoundoff * (math.Abs(s.low) + float64(float64(len(s.mass))*s.spacing)))
}

// truePositiveRate returns the least of δ(ε) + e^ε·falsePositiveRate over all ε:
// no test does better (Kairouz, Oh & Viswanath 2015, theorem 2.1). The sum must
// not be tilted.
func (s *sum) truePositiveRate(falsePositiveRate float64) float64 {
	least, moment, blur := 1.0, Exp(s.logM), s.blur()
	for t := s.top(); ; t.down() {
		power := float64((t.divergence+t.noise)*moment*(1+s.relative)) + s.infinite
		if falsePositiveRate > 0 { // e^ε may be infinite
			power += float64(Exp(t.loss()+blur) * falsePositiveRate)
		}
		least = min(least, power)
		if t.i == 0 {
			return least
		}
	}
}
