package budget

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
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
}

// usual resolution: ε comes out too large by less than about 1e-7 of it for up
// to some thousand steps.
var usual = resolution{relative: 1e-7, points: 1 << 20}

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
	// excess estimates by how much connecting the dots has made ε larger.
	excess float64
}

// grid is the spacing that a composition is computed with; exact is nil unless
// the losses of every pair keep this distance as they are.
type grid struct {
	spacing float64
	exact   *big.Rat
}

// offset is the loss at position 0 of the sum. On an exact grid a pair's first
// loss has position 0, else a loss of j·spacing has position j.
func (g grid) offset(steps []step) float64 {
	if g.exact == nil {
		return 0
	}
	total := new(big.Rat)
	for _, s := range steps {
		l, _ := s.pair.lattice()
		total.Add(total, new(big.Rat).Mul(l.offset(), new(big.Rat).SetInt64(s.count)))
	}
	return nearest(total)
}

// spread is the masses of a pair on a grid: mass[i] at position first + i.
type spread struct {
	first    int64
	mass     []float64
	infinite float64
	step
}

// on spreads the pair of a step over the grid.
func (s step) on(g grid) spread {
	if a, ok := s.pair.(atoms); ok && g.exact != nil {
		every := int(new(big.Rat).Quo(a.at.spacing(), g.exact).Num().Int64())
		mass := make([]float64, (len(a.mass)-1)*every+1)
		for i, m := range a.mass {
			mass[i*every] = m
		}
		return spread{mass: mass, infinite: a.unbounded, step: s}
	}
	low, high := s.pair.span()
	first, last := int64(math.Floor(low/g.spacing))-1, int64(math.Floor(high/g.spacing))+2
	mass := make([]float64, last-first+1)
	infinite := s.pair.place(g.spacing, func(j int64, m float64) { mass[j-first] += m })
	return spread{first: first, mass: mass, infinite: infinite, step: s}
}

// sketch is a pair in few points, to find tilt and window by: the mass of each
// bin at its mean loss.
type sketch struct {
	loss, mass []float64
	count      float64
	square     float64 // E[L²]
}

const (
	// sketchBins is how many bins a sketch has.
	sketchBins = 512
	// sketchParts is into how many parts a bin is cut to find the mean loss of it.
	sketchParts = 64
)

func (s step) sketch() sketch {
	low, high := s.pair.span()
	width := max((high-low)/sketchBins, 0x1p-1000)
	mass, moment := make([]float64, sketchBins+2), make([]float64, sketchBins+2)
	k := sketch{count: float64(s.count)}
	add := func(loss, m float64) {
		bin := int(min(max((loss-low)/width, 0), sketchBins+1))
		mass[bin] += m
		moment[bin] += float64(m * loss)
		k.square += float64(m * loss * loss)
	}
	if a, ok := s.pair.(atoms); ok {
		for i, m := range a.mass {
			add(a.loss(i), m)
		}
	} else {
		h := width / sketchParts
		s.pair.place(h, func(j int64, m float64) { add(float64(j)*h, m) })
	}
	for bin, m := range mass {
		if m > 0 {
			k.loss = append(k.loss, moment[bin]/m)
			k.mass = append(k.mass, m)
		}
	}
	return k
}

// cumulant returns ln E[e^{θL}] of all the sketches' steps together.
func cumulant(sketches []sketch, theta float64) float64 {
	var total float64
	for _, s := range sketches {
		total += float64(s.count * logMoment(theta, s.mass, func(i int) float64 { return s.loss[i] }))
	}
	return total
}

// logMoment returns ln Σ mass_i·e^{θ·loss(i)}.
func logMoment(theta float64, mass []float64, loss func(i int) float64) float64 {
	top := math.Inf(-1)
	for i, m := range mass {
		if m > 0 {
			top = max(top, float64(theta*loss(i)))
		}
	}
	var sum float64
	for i, m := range mass {
		if m > 0 {
			sum += float64(m * Exp(float64(theta*loss(i))-top))
		}
	}
	return top + Log(sum)
}

// variance is of the total loss, roughly.
func variance(sketches []sketch) float64 {
	var total float64
	for _, s := range sketches {
		var mean float64
		for i, m := range s.mass {
			mean += float64(m * s.loss[i])
		}
		total += float64(s.count * max(0, s.square-float64(mean*mean)))
	}
	return total
}

// maxTilt keeps exponents within range; above it nothing is gained.
const maxTilt = 1e5

// tiltFor returns the θ at which Chernoff's bound on P(S > ε) is least for the ε
// of a probability e^{−exponent}: the minimiser of (K(θ) + exponent)/θ.
func tiltFor(sketches []sketch, exponent float64) float64 {
	return minimise(func(theta float64) float64 { return (cumulant(sketches, theta) + exponent) / theta })
}

// tiltAt returns the θ at which Chernoff's bound K(θ) − θε is least.
func tiltAt(sketches []sketch, epsilon float64) float64 {
	return minimise(func(theta float64) float64 { return cumulant(sketches, theta) - float64(theta*epsilon) })
}

// minimise returns about where on [1e-3, maxTilt] a function of one valley is
// least, by golden sections of the logarithm.
func minimise(f func(float64) float64) float64 {
	const golden = 0.6180339887498949
	low, high := Log(1e-3), Log(maxTilt)
	a, b := high-float64(golden*(high-low)), low+float64(golden*(high-low))
	fa, fb := f(Exp(a)), f(Exp(b))
	for high-low > 1e-2 {
		if fa <= fb {
			high, b, fb = b, a, fa
			a = high - float64(golden*(high-low))
			fa = f(Exp(a))
		} else {
			low, a, fa = a, b, fb
			b = low + float64(golden*(high-low))
			fb = f(Exp(b))
		}
	}
	return Exp((low + high) / 2)
}

// window returns losses between which all of the tilted sum lies but for parts
// below e^{−margin}, by Chernoff's bound on both sides, and the tilt that
// gave the upper one, or 0 where no loss can be higher.
func window(sketches []sketch, theta, margin float64) (low, high, steepest float64) {
	for _, s := range sketches {
		low += float64(s.count * s.loss[0])
		high += float64(s.count * s.loss[len(s.loss)-1])
	}
	here := cumulant(sketches, theta)
	for shift := 1e-4 * (theta + 1); shift < 1e6*(theta+1); shift *= 1.5 {
		if up := (cumulant(sketches, theta+shift) - here + margin) / shift; up < high {
			high, steepest = up, theta+shift
		}
		if down := (here - cumulant(sketches, theta-shift) - margin) / shift; down > low {
			low = down
		}
	}
	return low, high, steepest
}

// commonLattice returns the coarsest exact grid, or false where a pair has no
// lattice.
func commonLattice(steps []step) (grid, bool) {
	exact := new(big.Rat)
	for _, s := range steps {
		l, ok := s.pair.lattice()
		if !ok {
			return grid{}, false
		}
		exact = commonDivisor(exact, l.spacing())
	}
	return grid{nearest(exact), exact}, true
}

// commonDivisor is the largest rational of which a and b ≥ 0 are multiples.
func commonDivisor(a, b *big.Rat) *big.Rat {
	x, y := new(big.Int).Mul(a.Num(), b.Denom()), new(big.Int).Mul(b.Num(), a.Denom())
	return new(big.Rat).SetFrac(x.GCD(nil, nil, x, y), new(big.Int).Mul(a.Denom(), b.Denom()))
}

// gridFor chooses the grid for a sum of this variance and a window of this
// width.
func gridFor(steps []step, variance, width float64, r resolution) grid {
	if g, ok := commonLattice(steps); ok && width/g.spacing < float64(r.points-8) {
		return g
	}
	var count float64
	for _, s := range steps {
		count += float64(s.count)
	}
	// Connecting dots adds at most h²/4 to the variance of a step.
	return grid{spacing: max(math.Sqrt(4*r.relative*variance/count), width/float64(r.points-8))}
}

const (
	// unitRoundoff is 2⁻⁵³.
	unitRoundoff = 0x1p-53
	// windowMargin leaves out parts of 1e-20.
	windowMargin = 46
)

// compose returns the distribution of the total loss of the steps, tilted by θ;
// parts of the tilted sum below e^{−margin} are outside its window.
//
// Guarantee: the loss distribution that it describes, with its bounds on
// rounding added, dominates that of the steps run independently on the same data
// and fixed in advance. Neighbours: those that the pairs dominate. Theorem:
// dominating pairs compose (Zhu, Dong & Wang 2022, theorem 10). Argument:
// docs/proofs/pld.md.
func compose(steps []step, sketches []sketch, theta, margin float64, r resolution) sum {
	low, high, steepest := window(sketches, theta, margin)
	g := gridFor(steps, variance(sketches), high-low, r)
	if g.exact == nil {
		steps = bundle(steps, sketches, theta, margin, r)
		g = gridFor(steps, variance(sketches), high-low, r)
	}
	offset := g.offset(steps)
	points := 16
	for float64(points)*g.spacing < high-low+float64(4*g.spacing) {
		points *= 2
	}
	first := int64(math.Floor((low - offset) / g.spacing)) // position of mass[0]
	s := sum{spacing: g.spacing, theta: theta, low: offset + float64(float64(first)*g.spacing)}

	p := newProduct(points)
	var count, weight, relative, tail float64
	for _, step := range steps {
		sp := step.on(g)
		k, at := float64(step.count), sp.lossOn(g)
		logM := logMoment(theta, sp.mass, at)
		clear(p.cells)
		var size float64
		for i, m := range sp.mass {
			if m > 0 {
				tilted := float64(m * Exp(float64(theta*at(i))-logM))
				p.cells[modulo(sp.first+int64(i), points)] += tilted
				size += float64(tilted * math.Abs(at(i)))
			}
		}
		known := 0.0
		if inner, ok := step.pair.(*sum); ok {
			known = inner.noise * math.Sqrt(float64(len(inner.mass)))
			s.excess += float64(k * inner.excess)
			relative += float64(k * inner.relative)
		}
		p.multiply(step.count, known)
		s.logM += float64(k * logM)
		s.infinite = eitherOf(s.infinite, repeatedly(sp.infinite, k))
		if steepest > 0 {
			tail += float64(k * logMoment(steepest, sp.mass, at))
		}
		count += k
		weight += float64(k * size)
		if g.exact == nil {
			s.excess += float64(k*g.spacing*g.spacing) * (theta + 1) / 8
		}
	}
	if count == 1 {
		s.mass = p.cells // nothing to convolve
	} else {
		s.mass, s.noise = p.invert()
	}
	rotate(s.mass, modulo(first, points))
	if steepest > 0 {
		top := s.low + float64(float64(points)*s.spacing)
		s.infinite += Exp(tail - float64(steepest*top) + float64(1e-12*(math.Abs(tail)+1)))
	}
	s.relative = relative + float64(unitRoundoff*(float64(8*count)+float64(4*theta*weight)+float64(4*math.Abs(s.logM))+200))
	return s
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

// minBundle is the least number of runs of one pair that are bundled.
const minBundle = 64

// bundle composes about √k runs at a time of every pair that is run k times, on
// a finer grid of its own: dots are then connected √k times on either grid
// instead of k times, so that far fewer points give the same accuracy.
func bundle(steps []step, sketches []sketch, theta, margin float64, r resolution) []step {
	const nudge = 1e-4
	mean := (cumulant(sketches, theta+nudge) - cumulant(sketches, theta-nudge)) / (2 * nudge)
	// What a bundle leaves out above its window must be small beside δ itself.
	margin += max(0, float64(theta*mean)-cumulant(sketches, theta))
	var bundled []step
	for i, s := range steps {
		if s.count < minBundle {
			bundled = append(bundled, s)
			continue
		}
		size := int64(math.Sqrt(float64(s.count)))
		part := sketches[i]
		part.count = float64(size)
		inner := compose([]step{{s.pair, size}}, []sketch{part}, theta, margin, r)
		bundled = append(bundled, step{&inner, s.count / size})
		if rest := s.count % size; rest > 0 {
			bundled = append(bundled, step{s.pair, rest})
		}
	}
	return bundled
}

// lattice, place and span make a sum a pair, for the θ that it is tilted by.
func (s *sum) lattice() (lattice, bool) { return lattice{}, false }

func (s *sum) place(h float64, add func(j int64, mass float64)) float64 {
	for i, m := range s.mass {
		if m > 0 {
			loss := s.low + float64(float64(i)*s.spacing)
			connectDots(loss, float64(m*Exp(s.logM-float64(s.theta*loss))), h, add)
		}
	}
	return s.infinite
}

func (s *sum) span() (low, high float64) {
	return s.low, s.low + float64(float64(len(s.mass)-1)*s.spacing)
}

// lossOn returns the loss of the i-th mass.
func (p spread) lossOn(g grid) func(i int) float64 {
	first := float64(float64(p.first) * g.spacing)
	if l, ok := p.pair.lattice(); ok && g.exact != nil {
		first = nearest(l.offset())
	}
	return func(i int) float64 { return first + float64(float64(i)*g.spacing) }
}

// product is a circular convolution of distributions in the making, as the
// product of their Fourier transforms.
type product struct {
	cells        []float64 // the next distribution
	transform    *fourier.FFT
	coefficients []complex128 // of the next distribution
	values       []complex128 // of the product
	perturbation []float64    // bounds the relative error of values
	roundoff     float64      // of one transform, relative to the sum of its input
}

func newProduct(points int) *product {
	p := &product{
		cells:        make([]float64, points),
		transform:    fourier.NewFFT(points),
		coefficients: make([]complex128, points/2+1),
		values:       make([]complex128, points/2+1),
		perturbation: make([]float64, points/2+1),
		roundoff:     8 * unitRoundoff * float64(bits.Len(uint(points))),
	}
	for i := range p.values {
		p.values[i] = 1
	}
	return p
}

// multiply convolves the product count times with the distribution in cells,
// whose sum is 1 and whose errors add up to at most known. A coefficient of its
// transform is off by at most e = roundoff + known, so that its power is by a
// factor of at most exp(count·e/|coefficient|).
func (p *product) multiply(count int64, known float64) {
	off := p.roundoff + known
	p.transform.Coefficients(p.coefficients, p.cells)
	for i, c := range p.coefficients {
		length := math.Sqrt(float64(real(c)*real(c)) + float64(imag(c)*imag(c)))
		p.perturbation[i] += float64(count) * off / max(length, off)
		p.values[i] = times(p.values[i], power(c, count))
	}
}

// invert returns the convolution, negative values set to 0, and a bound on the
// root of the sum of the squares of its errors (Parseval).
func (p *product) invert() (mass []float64, noise float64) {
	n := float64(len(p.cells))
	var energy, wrong float64
	for i, c := range p.values {
		square := float64(real(c)*real(c)) + float64(imag(c)*imag(c))
		energy += 2 * square
		wrong += float64(2 * square * p.perturbation[i] * p.perturbation[i])
	}
	mass = p.transform.Sequence(nil, p.values)
	for i, m := range mass {
		mass[i] = max(0, m/n)
	}
	return mass, (math.Sqrt(wrong) + float64(p.roundoff*math.Sqrt(energy))) / n
}

// times returns a·b, rounded alike on every machine.
func times(a, b complex128) complex128 {
	return complex(
		float64(real(a)*real(b))-float64(imag(a)*imag(b)),
		float64(real(a)*imag(b))+float64(imag(a)*real(b)))
}

// power returns cᵏ for k ≥ 1.
func power(c complex128, k int64) complex128 {
	result := complex(1, 0)
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			result = times(result, c)
		}
		c = times(c, c)
	}
	return result
}

// modulo returns the remainder of i in [0, n).
func modulo(i int64, n int) int { return int((i%int64(n) + int64(n)) % int64(n)) }

// rotate moves mass[first] to the front.
func rotate(mass []float64, first int) {
	slices.Reverse(mass[:first])
	slices.Reverse(mass[first:])
	slices.Reverse(mass)
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
	reach := math.Sqrt(float64(len(s.mass))) // √Σw² for weights e^{−θ(l_j−ε)}
	if s.theta > 0 {
		reach = min(reach, 1/math.Sqrt(-expm1(-2*s.theta*s.spacing)))
	}
	t.noise = s.noise * reach / t.decay
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

// delta returns δ at ε, rounded up.
func (s *sum) delta(epsilon float64) float64 {
	t := s.top()
	if epsilon >= t.loss() {
		return min(1, s.infinite)
	}
	for t.i > 0 && t.loss()-s.spacing > epsilon {
		t.down()
	}
	d := t.loss() - epsilon // above the spacing only below the window
	divergence := t.divergence + float64(-expm1(-d)*t.probability)
	return min(1, float64(t.scale()*(divergence+t.noise)*(1+s.relative))+s.infinite)
}

// epsilon returns the least ε whose δ, rounded up, is at most delta; +Inf where
// that never happens. It may be negative.
func (s *sum) epsilon(delta float64) float64 {
	target := (delta - s.infinite) / (1 + s.relative)
	if !(target >= 0) {
		return math.Inf(1)
	}
	t := s.top()
	for t.i > 0 {
		next := t
		next.down()
		if float64(next.scale()*(next.divergence+t.noise)) > target {
			break
		}
		t = next
	}
	d := 0.0
	if room := target/t.scale() - t.noise - t.divergence; room > 0 && t.probability > 0 {
		d = min(-log1p(-min(room/t.probability, 1)), t.spacing)
	}
	return t.loss() - d + float64(16*unitRoundoff*(math.Abs(t.loss())+t.spacing))
}

// truePositiveRate returns the least of δ(ε) + e^ε·falsePositiveRate over all ε:
// no test does better (Kairouz, Oh & Viswanath 2015, theorem 2.1). The sum must
// not be tilted.
func (s *sum) truePositiveRate(falsePositiveRate float64) float64 {
	least := 1.0
	for t := s.top(); ; t.down() {
		delta := float64((t.divergence+t.noise)*Exp(t.logM)*(1+s.relative)) + s.infinite
		least = min(least, delta+float64(Exp(t.loss())*falsePositiveRate))
		if t.i == 0 {
			return least
		}
	}
}
