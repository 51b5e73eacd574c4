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

// A step is a pair and the number of times it is run.
type step struct {
	pair  pair
	count int64
}

// resolution is how fine the spacing is if there is no lattice.
type resolution struct {
	relative float64 // wanted relative growth of the variance of the sum
	points   int     // largest number of points of a transform, a power of two
	least    int     // least number of points of a window if there is no lattice
}

// usual is the resolution for published figures: it overestimates ε by less than about 1e-7 of it for up to some
// thousand steps.
var usual = resolution{relative: 1e-7, points: 1 << 20}

// rough is the resolution for comparisons: the relative error of ε is less than about 1e-5 once [sum.excess] is
// subtracted.
var rough = resolution{relative: 1e-4, points: 1 << 14, least: 1 << 10}

// sum is the distribution of the total loss of a composition, tilted.
type sum struct {
	spacing float64   // between losses
	low     float64   // loss of mass[0]
	mass    []float64 // P(S = low + i·spacing)·e^{θS}/M, plus rounding
	theta   float64   // θ ≥ 0
	logM    float64   // ln M, M = E[e^{θS}; S < ∞]
	// infinite is P(S = ∞), including the mass above the window.
	infinite float64
	// noise bounds the rounding error of Σ mass_i·w_i for weights with Σw² ≤ 1.
	noise float64
	// relative bounds the relative rounding error of what is computed from mass.
	relative float64
	// lost bounds the part of the tilted sum that is missing from mass because a bundle dropped it below its window.
	lost float64
	// logSteep is ln E[e^{θ′S}; S < ∞] for the θ′ of the larger sum that this one is a part of.
	logSteep float64
	// excess estimates how much connecting the dots has increased ε.
	excess float64
}

// windowMargin makes windows leave out parts of at most 1e-13.
const windowMargin = 30

// maxDecay is the largest θ times the spacing. Beyond it, the weight of one loss in tailSums would be negligible
// compared with the next, and eventually underflow.
const maxDecay = 30

// compose returns the distribution of the total loss of the steps, tilted by θ.
//
// Guarantee: the loss distribution that it describes, with its bounds on rounding added, dominates that of the steps
// run independently on the same data and fixed in advance. Neighbours: those that the pairs dominate. Theorem:
// dominating pairs compose (Zhu, Dong & Wang 2022, theorem 10). Argument: docs/proofs/pld.md.
func compose(steps []step, sketches []sketch, theta float64, r resolution) sum {
	for _, s := range steps {
		if a, ok := s.pair.(atoms); ok && a.unbounded >= 1 {
			return unboundedSum()
		}
	}
	if g, ok := commonLattice(steps); ok {
		theta = min(theta, maxDecay/g.spacing)
	}
	// The relevant part of the sum has a probability of about e^{K(θ)−θK′(θ)}.
	rare := windowMargin + max(0, float64(theta*tiltedMean(sketches, theta))-sumCumulant(sketches, theta))
	steps, sketches = withoutRare(steps, sketches, rare)
	return composeTilted(steps, sketches, tilt{theta: theta, margin: windowMargin, rare: rare}, r)
}

// unboundedSum returns the sum whose loss is infinite, for which nothing is promised.
func unboundedSum() sum { return sum{spacing: 1, mass: []float64{0}, infinite: 1} }

// withoutRare truncates losses so high that one of them occurs in all runs together with a probability of e^{−rare}:
// they then count as infinite.
func withoutRare(steps []step, sketches []sketch, rare float64) ([]step, []sketch) {
	cut, of := make([]step, len(steps)), make([]sketch, len(steps))
	for i, s := range steps {
		cut[i], of[i] = s, sketches[i]
		if t, ok := s.pair.(tails); ok {
			if high := t.lossQuantile(Exp(-rare) / totalRuns(steps)); high < t.high {
				t.high = high
				cut[i].pair = t
				of[i] = cut[i].sketchOf()
			}
		}
	}
	return cut, of
}

// tilt describes how a sum is tilted and which parts of it are relevant.
type tilt struct {
	theta  float64
	margin float64 // parts of the tilted sum below e^{−margin} are negligible
	rare   float64 // losses of a probability below e^{−rare} are negligible
	part   bool    // whether it is a part of another sum, which needs steep
	steep  float64 // ln E[e^{θ′S}; S < ∞] for this θ′
}

// composeTilted does what compose does for any tilt.
func composeTilted(steps []step, sketches []sketch, at tilt, r resolution) sum {
	rough := outlineWindow(sketches, at)
	g := gridFor(steps, sumVariance(sketches), rough.width, r)
	if g.exact == nil && !at.part {
		steps = bundleRuns(steps, sketches, at, rough, r)
		g = gridFor(steps, sumVariance(sketches), rough.width, r)
	}
	if float64(at.theta*g.spacing) > maxDecay { // the window is too wide for its points: promise nothing
		return unboundedSum()
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
	offset := g.sumOffset(steps)
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
			p.multiplyPower(t.count)
		}
		s.addTerm(t, g)
		if at.part {
			s.logSteep += float64(float64(t.count) * t.cumulant(at.steep))
		}
	}
	if s.mass, s.noise = p.cells, 0; !alone {
		s.mass, s.noise = p.invert()
	}
	p.releaseTransform()
	s.noise += inheritedNoise(terms)
	rotateToFront(s.mass, modulo(first, points))
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
	excess   float64                     // estimated increase of ε by connecting the dots, of one run
	lost     float64
}

func newTerm(s step, g grid, theta float64) term {
	t := term{spread: s.spreadOn(g, theta), count: s.count}
	t.logM = logMoment(theta, t.mass, t.lossAt)
	t.cumulant = func(theta float64) float64 { return logMoment(theta, t.mass, t.lossAt) }
	t.tilted = make([]float64, len(t.mass))
	var size float64 // E|L|, tilted
	for i, m := range t.mass {
		t.tilted[i] = float64(m * Exp(float64(theta*t.lossAt(i))-t.logM))
		size += float64(t.tilted[i] * math.Abs(t.lossAt(i)))
	}
	t.relative = unitRoundoff * (8 + float64(4*theta*size) + float64(4*math.Abs(t.logM)))
	if g.exact == nil {
		t.excess = float64(g.spacing*g.spacing) * (theta + 1) / 8
	}
	switch inner := s.pair.(type) {
	case tails: // differences of tails lose digits in every cell, at random
		t.relative += float64(128 * unitRoundoff * (theta + 1) * max(1,
			math.Sqrt(float64(len(t.mass))/float64(s.count))))
	case *sum:
		// Each position receives from this many masses of the inner sum, and a mass moved to the next multiple weighs
		// up to e^{θh} as much.
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

// inheritedNoise bounds √Σe² for the errors e of the tilted masses of the sum that come from the errors of the terms.
// Convolving with a distribution does not enlarge errors; convolving with one whose own errors add up to w enlarges
// them by a factor of at most 1+w ≤ eʷ.
func inheritedNoise(terms []term) float64 {
	var noise, wrong float64
	for _, t := range terms {
		noise += float64(float64(t.count) * t.noise)
		wrong += float64(float64(t.count) * t.wrong)
	}
	return float64(noise * Exp(wrong))
}

// addTerm adds the error bounds of a term, and its probability of an infinite loss.
func (s *sum) addTerm(t term, g grid) {
	k := float64(t.count)
	s.logM += float64(k * t.logM)
	s.infinite = eitherOf(s.infinite, atLeastOnce(t.infinite, k))
	s.relative += float64(k*t.relative) + 200*unitRoundoff
	s.excess += float64(k * t.excess)
	s.lost += float64(k * t.lost)
}

// windowOf returns losses between which the sum of the terms lies, and a bound on P(S > high): Chernoff's bound for the
// best tilts that the outline found, or 0 if no sum is higher. Mass beyond wraps around to the other end. In the final
// sum this only adds to δ; in a part of another sum it is at most e^{−margin} of the tilted mass.
func windowOf(terms []term, at tilt, rough window) (low, high, tail float64) {
	var here, steep, gentle, least, most float64
	for _, t := range terms {
		k := float64(t.count)
		here += float64(k * t.logM)
		least += float64(k * t.lossAt(0))
		most += float64(k * t.lossAt(len(t.mass)-1))
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

// eitherOf returns the probability that at least one of two independent events happens.
func eitherOf(a, b float64) float64 { return a + float64((1-a)*b) }

// atLeastOnce returns the probability that an event happens at least once in k independent runs.
func atLeastOnce(p, k float64) float64 {
	if k == 1 {
		return p
	}
	return -expm1(float64(k * log1p(-p)))
}

const (
	// minBundle is the least number of runs of one pair that are bundled.
	minBundle = 64
	// leastGain is the least factor by which bundling must reduce what connecting the dots adds, since bundling
	// increases the weight of rounding.
	leastGain = 8
)

// bundleRuns composes about √k runs at a time of every pair that is run k times, on a finer grid of its own. Dots are
// then connected √k times on either grid instead of k times, so that far fewer points give the same accuracy, unless a
// heavy tail needs the whole window for few runs already. steepest is the θ′ that bounds the upper tail of the whole
// sum; connecting the dots of a bundle once more adds at most θ′(θ′+1)h²/8 to its cumulant, as a loss that stays within
// an interval of length h is (h²/8)-zCDP.
func bundleRuns(steps []step, sketches []sketch, at tilt, whole window, r resolution) []step {
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
		inside := outlineWindow([]sketch{of}, part)
		wanted := math.Sqrt(4 * r.relative * sumVariance([]sketch{of}) / float64(size))
		alone := max(wanted, finest)
		within := max(wanted, inside.width/float64(r.points))
		outside := max(float64(wanted*math.Sqrt(float64(size))), finest)
		if float64(within*within)+float64(outside*outside)/float64(size) >= float64(alone*alone)/leastGain {
			bundled = append(bundled, s)
			continue
		}
		inner := composeTilted([]step{{s.pair, size}}, []sketch{of}, part, r)
		bundled = append(bundled, step{&inner, s.count / size})
		if rest := s.count % size; rest > 0 {
			bundled = append(bundled, step{s.pair, rest})
		}
	}
	return bundled
}

// These methods make a sum a pair, for the θ that it is tilted by.
func (s *sum) lattice() (lattice, bool) { return lattice{}, false }

func (s *sum) commonGrain() *big.Rat { return nil }

func (s *sum) spreadOver(h, _ float64, add func(j int64, mass float64)) float64 {
	for i, m := range s.mass {
		if m > 0 {
			loss := s.low + float64(float64(i)*s.spacing)
			connectDots(loss, float64(m*Exp(s.logM-float64(s.theta*loss))), h, add)
		}
	}
	return s.infinite + float64(float64(len(s.mass))*smallestDelta) // including masses that underflow to 0
}

func (s *sum) lossSpan() (low, high float64) {
	return s.low, s.low + float64(float64(len(s.mass)-1)*s.spacing)
}

// tailSums visits the losses of a sum in descending order. At index i, with l_i = low + i·spacing and q the tilted
// mass, in units of M·e^{−θl_i}:
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

func (s *sum) topTail() tailSums {
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

func (t *tailSums) stepDown() {
	t.divergence = float64(t.decay * (t.divergence + float64(t.gap*t.probability)))
	t.i--
	t.probability = t.mass[t.i] + float64(t.steeperDecay*t.probability)
}

func (t *tailSums) currentLoss() float64 { return t.low + float64(float64(t.i)*t.spacing) }

// currentScale returns M·e^{−θl_i}.
func (t *tailSums) currentScale() float64 { return Exp(t.logM - float64(t.theta*t.currentLoss())) }

// deltaAt returns δ at ε, rounded up. Below the window, whose lower part was left out, it is the chord from δ = 1 at
// e^ε = 0, as δ is convex in e^ε.
func (s *sum) deltaAt(epsilon float64) float64 {
	t := s.topTail()
	epsilon -= t.lossError()
	if epsilon >= t.currentLoss() {
		return min(1, s.infinite)
	}
	for t.i > 0 && t.currentLoss()-s.spacing > epsilon {
		t.stepDown()
	}
	d := t.currentLoss() - epsilon
	within := min(d, s.spacing)
	if t.i == 0 {
		within = 0
	}
	divergence := t.divergence + float64(-expm1(-within)*t.probability)
	delta := float64(t.currentScale()*(divergence+t.noise)*(1+s.relative)) + s.infinite
	if t.i == 0 {
		delta += float64(max(0, 1-delta) * -expm1(-d))
	}
	return min(1, max(delta, smallestDelta))
}

// epsilonAt returns the least ε whose δ, as deltaAt computes it, is at most delta; +Inf if there is none. It may be
// negative.
func (s *sum) epsilonAt(delta float64) float64 {
	target := (delta - s.infinite) / (1 + s.relative)
	t := s.topTail()
	if !(target >= 0) {
		return math.Inf(1)
	}
	for t.i > 0 {
		next := t
		next.stepDown()
		if !(float64(next.currentScale()*(next.divergence+t.noise)) <= target) {
			break
		}
		t = next
	}
	d := 0.0
	if t.i == 0 {
		if here := s.deltaAt(t.currentLoss()); here < delta && delta < 1 {
			d = -log1p(-(delta - here) / (1 - here))
		}
	} else if room := target/t.currentScale() - t.noise - t.divergence; room > 0 && t.probability > 0 {
		d = min(-log1p(-min(room/t.probability, 1)), t.spacing)
	}
	return t.currentLoss() - d + t.lossError()
}

// lossError bounds the rounding error of a loss.
func (s *sum) lossError() float64 {
	return float64(16 * unitRoundoff * (math.Abs(s.low) + float64(float64(len(s.mass))*s.spacing)))
}

// truePositiveRate returns the least of δ(ε) + e^ε·falsePositiveRate over all ε: no test has more power (Kairouz, Oh &
// Viswanath 2015, theorem 2.1). The sum must not be tilted.
func (s *sum) truePositiveRate(falsePositiveRate float64) float64 {
	least, moment, blur := 1.0, Exp(s.logM), s.lossError()
	for t := s.topTail(); ; t.stepDown() {
		power := float64((t.divergence+t.noise)*moment*(1+s.relative)) + s.infinite
		if falsePositiveRate > 0 { // e^ε may be infinite
			power += float64(Exp(t.currentLoss()+blur) * falsePositiveRate)
		}
		least = min(least, power)
		if t.i == 0 {
			return least
		}
	}
}
