package noise

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"

	"gonum.org/v1/gonum/stat/distuv"
)

// The tests of this file draw under a fresh key and compare with the exact law.
//
// False alarms. A check rejects an exact sampler with probability at most
// falseAlarm = 2e-12: binomial counts by Chernoff's bound, which is no
// approximation; sums by the normal law at 7.2 standard errors, which is 6e-13,
// with room for n ≥ 2¹⁷ draws being finitely many; the chi-square statistic by its
// own law at 1e-12, with at least 1000 draws expected in a bin. There are 10 checks
// on each of 30 samples of exact samplers (TestDrawsHaveTheExactLaw counts them):
// 300 in all, so a run fails wrongly with probability below 6e-10.
//
// Misses. TestMutantsAreNoticed works out by how many standard errors each mutant
// moves the check that is to notice it. At 2²⁶ draws these are
//
//	                            Gaussian σ=10   Laplace t=10   Gaussian σ=2050
//	scale +1 %, −1 %            112, 113        70, 71
//	zero doubled                1090            1200
//	0.2 % of signs positive     16.1            16.0
//	tail clipped at 4.5σ, 12t   18.9            19.8
//	0.3 % of values repeated    95              101
//	coarse: every draw kept                                    35
//	coarse: cells folded                                       56
//
// and as the root of the draws at others. All checks reject at 7.5. Every mutant is
// drawn 2²⁰ times, or so often, up to 2²⁶, that it is 16 standard errors off (16.0 at
// the least), so that every one of the 14 is missed with probability below 1e-16.
const (
	falseAlarm  = 2e-12
	zThreshold  = 7.2
	zNoticed    = 7.5 // by which every check, Chernoff's bound too, rejects
	mostSamples = 30
	checks      = 10
)

// sample is what the checks need of a sequence of draws. Draws come in blocks of
// BlockCells, each from a stream of its own.
type sample struct {
	law             exactLaw
	shift           uint  // a cell of the histogram is 2^shift wide
	cells           []int // from middle−… on, the outer ones without end
	draws           int
	positive        int
	zero            int
	tail            int     // beyond the law's tailFrom
	sum, squares    float64 // of x and x²
	pairs           int     // of neighbours that share no draw: (1st, 2nd), (3rd, 4th), …
	products        float64
	equal           int
	crossPairs      int // of draws at one place of two streams
	crossProducts   float64
	crossEqual      int
	previous, block []int64
}

const middle = 1 << 14 // cell of the histogram that begins at zero

func newSample(l exactLaw) *sample {
	shift := uint(max(0, bits.Len64(uint64(l.scale/64))-1))
	return &sample{law: l, shift: shift, cells: make([]int, 2*middle), block: make([]int64, BlockCells)}
}

// fillFunc fills a block with draws.
type fillFunc func(b *Bits, out []int64) error

// draw adds n draws, rounded up to blocks.
func (s *sample) draw(t *testing.T, n int, streams *Streams, fill fillFunc) *sample {
	t.Helper()
	for block := 0; block*BlockCells < n; block++ {
		if err := fill(streams.Noise([]byte(s.law.name), nil, block), s.block); err != nil {
			t.Fatal(err)
		}
		s.include()
		if block%2 == 1 {
			s.cross()
		}
		s.previous = append(s.previous[:0], s.block...)
	}
	return s
}

// include takes up a block.
func (s *sample) include() {
	tailFrom := int64(s.law.tailFrom())
	for i := 0; i < len(s.block); i += 2 {
		x, y := s.block[i], s.block[i+1]
		f, g := float64(x), float64(y)
		s.sum += f + g
		s.squares += f*f + g*g
		s.products += f * g
		if x == y {
			s.equal++
		}
		for _, v := range [2]int64{x, y} {
			s.cells[min(max(v>>s.shift+middle, 0), 2*middle-1)]++
			s.positive += int(uint64(-v) >> 63)
			s.zero += int((uint64(v)-1)&^uint64(v)) >> 63 & 1
			if max(v, -v) >= tailFrom {
				s.tail++
			}
		}
	}
	s.draws += len(s.block)
	s.pairs += len(s.block) / 2
}

// cross compares a block with the one before, from another stream.
func (s *sample) cross() {
	for i, x := range s.block {
		s.crossProducts += float64(x) * float64(s.previous[i])
		if x == s.previous[i] {
			s.crossEqual++
		}
	}
	s.crossPairs += len(s.block)
}

// rejections names the checks that fail.
func (s *sample) rejections() (failed []string) {
	zero, variance, fourth, equal := s.law.moments()
	n := float64(s.draws)
	check := func(name string, passed bool) {
		if !passed {
			failed = append(failed, name)
		}
	}
	normal := func(name string, z float64) { check(name, math.Abs(z) <= zThreshold) }
	count := func(name string, k, n int, p float64) { check(name, binomialBound(k, n, p) >= falseAlarm) }
	check("chi-square", s.chiSquareTail() >= 1e-12)
	normal("mean", s.sum/math.Sqrt(n*variance))
	normal("variance", (s.squares/n-variance)/math.Sqrt((fourth-variance*variance)/n))
	count("sign balance", s.positive, s.draws-s.zero, 0.5)
	count("zero mass", s.zero, s.draws, zero)
	count("tail", s.tail, s.draws, 2*s.law.beyond()(s.law.tailFrom()))
	normal("neighbours' product", s.products/(variance*math.Sqrt(float64(s.pairs))))
	count("equal neighbours", s.equal, s.pairs, equal)
	normal("streams' product", s.crossProducts/(variance*math.Sqrt(float64(s.crossPairs))))
	count("equal in two streams", s.crossEqual, s.crossPairs, equal)
	return failed
}

// chiSquareTail compares the histogram with the law on up to 64 bins of about
// equal mass, from −∞ to ∞, none with less than 1/128 of it.
func (s *sample) chiSquareTail() float64 {
	n, beyond := float64(s.draws), s.law.beyond()
	var statistic, massBefore, seen, count float64
	bins := 0
	for i, c := range s.cells[:len(s.cells)-1] {
		count += float64(c)
		next, below := math.Ldexp(float64(i+1-middle), int(s.shift)), 0.0 // P(X < next)
		if next > 0 {
			below = 1 - beyond(next)
		} else {
			below = beyond(1 - next)
		}
		if mass := below - massBefore; mass >= 1./64 && 1-below >= 1./128 {
			statistic += (count - n*mass) * (count - n*mass) / (n * mass)
			massBefore, seen, count = below, seen+count, 0
			bins++
		}
	}
	rest, restMass := n-seen, 1-massBefore
	statistic += (rest - n*restMass) * (rest - n*restMass) / (n * restMass)
	return distuv.ChiSquared{K: float64(bins)}.Survival(statistic)
}

// binomialBound returns Chernoff's bound on the two-sided tail of k successes in
// n independent trials with mean success probability p; it is no approximation.
func binomialBound(k, n int, p float64) float64 {
	q := float64(k) / float64(n)
	divergence := 0.0
	if q > 0 {
		divergence += q * math.Log(q/p)
	}
	if q < 1 {
		divergence += (1 - q) * (math.Log1p(-q) - math.Log1p(-p))
	}
	return 2 * math.Exp(-float64(n)*divergence)
}

// production is the sampler that callers reach.
func production(l exactLaw) fillFunc {
	add := AddDiscreteLaplace
	if l.square {
		add = AddDiscreteGaussian
	}
	return func(b *Bits, out []int64) error {
		clear(out)
		return add(b, l.parameter, out)
	}
}

// batteryLaws are sampled by the production samplers.
func batteryLaws() (all []exactLaw) {
	for _, sigma := range []float64{0.5, 1, 2, 3.7, 10, 100, 1000, 1e4, 1e6, 1e9, 1 << 50} {
		all = append(all, gaussianLaw(sigma))
	}
	for _, scale := range []float64{0.5, 1, 2, 10, 100, 1000, 1e4, 1e6, 1e9, 1 << 50} {
		all = append(all, laplaceLaw(scale))
	}
	return all
}

// TestDrawsHaveTheExactLaw draws 2²¹ times from every law of production, and 2²³ times with DPRELEASE_LONG: 19 and 39
// standard errors of a scale that is 1 % off.
func TestDrawsHaveTheExactLaw(t *testing.T) {
	testkit.SkipUnderRace(t)
	draws := 1 << 21
	if os.Getenv("DPRELEASE_LONG") != "" {
		draws = 1 << 23
	}
	streams := NewStreams(freshKey(t), "battery")
	samples := 0
	hold := func(name string, l exactLaw, n int, fill fillFunc) {
		samples++
		if failed := newSample(l).draw(t, n, streams, fill).rejections(); len(failed) > 0 {
			t.Errorf("%s: %q are not as the law says", name, failed)
		}
	}
	for _, l := range batteryLaws() {
		hold(l.name, l, draws, production(l))
	}
	for _, l := range []exactLaw{gaussianLaw(2), laplaceLaw(2)} {
		for _, length := range []uint{4, 7} {
			hold(fmt.Sprintf("%s, prefixes of %d bits", l.name, length), l, 1<<17, shortPrefixes(l, length))
		}
		hold(l.name+", added", l, 1<<20, added(production(l)))
	}
	hold("wide cells", gaussianLaw(3000), 1<<17, newSampler(true, gaussianLaw(3000).parameter).coarse.fillWide)
	hold("the reference, Gaussian", gaussianLaw(2), 1<<17, referenceFill(gaussianLaw(2)))
	hold("the reference, Laplace", laplaceLaw(2), 1<<17, referenceFill(laplaceLaw(2)))
	if samples > mostSamples || float64(samples*checks)*falseAlarm > 1e-9 {
		t.Errorf("%d samples: correct the false-alarm rate that is stated", samples)
	}
	t.Logf("%d samples", samples)
}

// shortPrefixes is a table sampler with so few bits in a prefix that a large share
// of draws needs more.
func shortPrefixes(l exactLaw, length uint) fillFunc {
	table := newTable(l.magnitudes(), length)
	return func(b *Bits, out []int64) error {
		words := make([]uint64, len(out))
		for i := range words {
			words[i] = b.Uint64() &^ (^uint64(0)>>length - 1) // prefix and sign
		}
		table.fill(&Bits{keystream: &fixedWords{words}, next: bufferBytes, aside: b.SecondStream()}, out)
		return nil
	}
}

// added draws by way of sums with large counts.
func added(fill fillFunc) fillFunc {
	return func(b *Bits, out []int64) error {
		if err := fill(b, out); err != nil {
			return err
		}
		counts := slices.Repeat([]int64{1 << 61}, len(out))
		if err := addTo(counts, out); err != nil {
			return err
		}
		for i, sum := range counts {
			out[i] = sum - 1<<61
		}
		return nil
	}
}

// referenceFill draws by the reference.
func referenceFill(l exactLaw) fillFunc {
	draw := bigLaplace{l.parameter.Num(), l.parameter.Denom()}.draw
	if l.square {
		draw = newBigGaussian(l.parameter).draw
	}
	return func(b *Bits, out []int64) error {
		for i := range out {
			out[i] = draw(b).Int64()
		}
		return nil
	}
}

// mutant is a sampler with a planted mistake, and by how many standard errors
// that moves the check that is to notice it, as a function of the draws.
type mutant struct {
	name     string
	fill     fillFunc
	check    string
	distance func(n float64) float64
}

// mutants of the sampler of a law that is not wide.
func mutants(l exactLaw, random *rand.Rand) []mutant {
	honest := newSampler(l.square, l.parameter).fill
	_, variance, fourth, equal := l.moments()
	zero, _, _, _ := l.moments()
	varianceError := math.Sqrt(fourth/(variance*variance) - 1)
	rescaled := func(percent int64) mutant {
		factor := big.NewRat(100+percent, 100)
		if l.square {
			factor.Mul(factor, factor)
		}
		return mutant{
			fmt.Sprintf("scale %+d %%", percent), newSampler(l.square, factor.Mul(factor, l.parameter)).fill,
			"variance",
			func(n float64) float64 {
				// The variance grows as the square of the scale; the discrete law's a little less.
				ratio := math.Pow(1+float64(percent)/100, 2)
				return 0.98 * math.Abs(ratio-1) / (varianceError * max(1, ratio)) * math.Sqrt(n)
			},
		}
	}
	notFolded := l.magnitudes()
	notFolded.folded = false
	doubled := &sampler{values: newTable(notFolded, prefixBits)}
	end := int64(l.tailFrom()) - 1
	return []mutant{
		rescaled(1),
		rescaled(-1),
		{"zero doubled", doubled.fill, "zero mass", func(n float64) float64 {
			p := 2 * zero / (1 + zero)
			return (p - zero) / math.Sqrt(p) * math.Sqrt(n)
		}},
		{"0.2 % of signs made positive", afterwards(honest, func(out []int64) {
			for i, x := range out {
				if x < 0 && random.Uint64N(1000) < 2 {
					out[i] = -x
				}
			}
		}), "sign balance", func(n float64) float64 { return 0.001 / 0.5 * math.Sqrt(n*(1-zero)) }},
		{"tail clipped", afterwards(honest, func(out []int64) {
			for i, x := range out {
				out[i] = min(max(x, -end), end)
			}
		}), "tail", func(n float64) float64 { return math.Sqrt(n * 2 * l.beyond()(l.tailFrom())) }},
		{"0.3 % of values repeated", afterwards(honest, func(out []int64) {
			for i := 1; i < len(out); i++ {
				if random.Uint64N(1000) < 3 {
					out[i] = out[i-1]
				}
			}
		}), "equal neighbours", func(n float64) float64 {
			return 0.003 * (1 - equal) / math.Sqrt(equal+0.003) * math.Sqrt(n/2)
		}},
	}
}

func afterwards(fill fillFunc, change func(out []int64)) fillFunc {
	return func(b *Bits, out []int64) error {
		err := fill(b, out)
		change(out)
		return err
	}
}

// coarseMutants are mistakes in what Gaussian coarse samplers do beside a table.
func coarseMutants(l exactLaw) []mutant {
	keepsAll := *newSampler(l.square, l.parameter).coarse
	keepsAll.base, keepsAll.slope = 0, 0
	keepsAll.guide = keepsAll.newGuide()
	ratio := math.Ldexp(1, int(keepsAll.offsetBits)) / l.scale
	folded := *newSampler(l.square, l.parameter).coarse
	folded.law.folded = true
	folded.thresholds = folded.law.thresholds(prefixBits)
	folded.guide = folded.newGuide()
	zero, _, _, _ := l.moments()
	return []mutant{
		{"every draw kept", keepsAll.fill, "variance", func(n float64) float64 {
			// The density at x becomes that at B⌊x/B⌋, larger by xB/2σ² on average, and so
			// the variance by (E|X|³ − σ²E|X|)·B/2σ² = 0.399·Bσ.
			return 0.39 * ratio / math.Sqrt2 * math.Sqrt(n)
		}},
		{"cells folded", folded.fill, "zero mass", func(n float64) float64 { return 0.49 * math.Sqrt(zero*n) }},
	}
}

// TestMutantsAreNoticed draws from every mutant so often that it cannot be missed.
func TestMutantsAreNoticed(t *testing.T) {
	testkit.SkipUnderRace(t)
	testkit.SkipPassed(t)
	const least, most, far = 1 << 20, 1 << 26, 16
	streams := NewStreams(freshKey(t), "mutants")
	random := rand.New(rand.NewPCG(3, 4))
	for _, l := range []exactLaw{gaussianLaw(10), laplaceLaw(10), gaussianLaw(2050)} {
		planted := coarseMutants
		if !l.wide() {
			planted = func(l exactLaw) []mutant { return mutants(l, random) }
		}
		for _, m := range planted(l) {
			n := float64(least)
			for n < most && m.distance(n) < far {
				n *= 2
			}
			missed := distuv.UnitNormal.Survival(m.distance(n) - zNoticed)
			failed := newSample(l).draw(t, int(n), streams, m.fill).rejections()
			t.Logf("%s, %s, %.0f draws: %.3g standard errors at %q, missed with probability %.2g; rejected by %q",
				l.name,
				m.name, n, m.distance(n), m.check, missed, failed)
			if !slices.Contains(failed, m.check) {
				t.Errorf("%s, %s: %q does not notice it, only %q", l.name, m.name, m.check, failed)
			}
			if missed > 1e-9 {
				t.Errorf("%s, %s: it is missed with probability %.2g", l.name, m.name, missed)
			}
		}
	}
}
