package budget

import (
	"math"
	"math/rand/v2"
	"testing"
)

// table is a law on the multiples of a step: entry i is the probability of (i − middle)·step.
type table struct {
	step   float64
	law    []float64
	middle int
}

// convolved sums the probabilities themselves. Each draw is cut off where its law is below 1e-17 of its largest.
func convolved(step float64, terms ...NoiseTerm) table {
	law := []float64{1}
	for _, t := range terms {
		stride := int(math.Round(math.Abs(t.Weight) / step))
		reach := int(math.Sqrt(80*t.Parameter)) + 1
		if t.Kind == DiscreteLaplace {
			reach = int(40*t.Parameter) + 1
		}
		one, sum := make([]float64, 2*reach+1), 0.0
		for x := -reach; x <= reach; x++ {
			p := math.Exp(-float64(x*x) / (2 * t.Parameter))
			if t.Kind == DiscreteLaplace {
				p = math.Exp(-math.Abs(float64(x)) / t.Parameter)
			}
			one[x+reach] = p
			sum += p
		}
		for range int(t.Count) {
			next := make([]float64, len(law)+2*reach*stride)
			for i, p := range law {
				for j, q := range one {
					next[i+j*stride] += p * q / sum
				}
			}
			law = next
		}
	}
	return table{step, law, len(law) / 2}
}

// within returns P(|S| ≤ m). It includes multiples of the step that exceed m by rounding alone.
func (t table) within(m float64) float64 {
	var sum float64
	most := int(math.Floor(m/t.step + 1e-9))
	for i, p := range t.law {
		if max(i-t.middle, t.middle-i) <= most {
			sum += p
		}
	}
	return sum
}

// TestSumsOfIntegersHaveTheirExactLaw compares margins and probabilities of equal weights with the convolution of the
// laws. Tables in float64 of up to 3000 entries are accurate to 1e-12.
func TestSumsOfIntegersHaveTheirExactLaw(t *testing.T) {
	for _, terms := range [][]NoiseTerm{
		{{1, 1, DiscreteLaplace, 2}}, {{-1, 1, DiscreteGaussian, 7}}, {{1, 3, DiscreteLaplace, 0.25}},
		{{1, 2, DiscreteLaplace, 3}},
		{{-1, 7, DiscreteLaplace, 12}}, {{1, 2, DiscreteGaussian, 0.2}}, {{1, 9, DiscreteGaussian, 0.02}},
		{{1, 4, DiscreteGaussian, 1.5}},
		{{1, 12, DiscreteGaussian, 90}}, {{1, 2, DiscreteLaplace, 5}, {-1, 3, DiscreteGaussian, 0.7},
			{1, 1, DiscreteGaussian, 30}},
		{{1, 1, DiscreteLaplace, 0.5}, {1, 1, DiscreteLaplace, 20}},
		{{1. / 6, 2, DiscreteLaplace, 3}, {-1. / 6, 5, DiscreteGaussian, 4}}, {{3, 4, DiscreteGaussian, 2}},
	} {
		unit := math.Abs(terms[0].Weight)
		want := convolved(unit, terms...)
		s := NewNoiseSum(terms)
		if s.Whole() != (unit == 1) {
			t.Errorf("%v: whole is %v", terms, s.Whole())
		}
		for _, confidence := range []float64{0.3, 0.9, 0.95, 0.999} {
			least := 0.0
			for want.within(least*unit) < confidence {
				least++
			}
			margin, attained := s.Margin(confidence)
			at := least * unit
			if unit != 1 {
				at += unit / 2
			}
			if math.Abs(margin-at) > 1e-12*at || math.Abs(attained-want.within(least*unit)) > 2e-11 {
				t.Errorf("%v at %v: margin %v attaining %v, by the law %v and %v", terms, confidence, margin, attained,
					least*unit,
					want.within(least*unit))
			}
		}
		for _, m := range []float64{0, 1, 4, 9} {
			if got := s.Within((m + 0.5) * unit); math.Abs(got-want.within(m*unit)) > 2e-11 {
				t.Errorf("%v: within %v with probability %v, by the law %v", terms, m, got, want.within(m*unit))
			}
		}
	}
}

// mixtures are sums of unequal weights, multiples of ¼: narrow and wide, of few draws and many, far from normal and
// near.
var mixtures = map[string][]NoiseTerm{
	"one and many":    {{1, 1, DiscreteGaussian, 40}, {-0.25, 6, DiscreteGaussian, 40}},
	"coarse and fine": {{2, 2, DiscreteGaussian, 1. / 3}, {0.25, 3, DiscreteGaussian, 1. / 3}},
	"of two kinds":    {{0.5, 2, DiscreteLaplace, 2}, {0.25, 4, DiscreteGaussian, 1. / 3}, {1, 1, DiscreteGaussian, 2}},
	"heavy tails":     {{0.75, 1, DiscreteLaplace, 5}, {0.25, 1, DiscreteLaplace, 1}},
	"wide": {{0.75, 1, DiscreteLaplace, 12}, {0.25, 9, DiscreteLaplace, 12},
		{0.5, 2, DiscreteGaussian, 200}},
	"almost one": {{1, 1, DiscreteLaplace, 20}, {0.25, 1, DiscreteGaussian, 3}},
	"tiny noise": {{1, 3, DiscreteGaussian, 0.05}, {0.5, 2, DiscreteLaplace, 0.1}},
}

// TestBoundsOfUnequalWeightsHold checks that the bound is never above the probability, and never more than 1e-4 below
// the probability for a margin smaller by 2c. It also checks that the margin is the least up to that error.
func TestBoundsOfUnequalWeightsHold(t *testing.T) {
	for name, terms := range mixtures {
		law, s := convolved(0.25, terms...), NewNoiseSum(terms)
		if s.Whole() {
			t.Errorf("%s: is taken for a sum of integers", name)
		}
		var variance float64
		for i, p := range law.law {
			x := float64(i-law.middle) * 0.25
			variance += p * x * x
		}
		if math.Abs(s.Deviation()/math.Sqrt(variance)-1) > 1e-9 {
			t.Errorf("%s: deviation %v, by the law %v", name, s.Deviation(), math.Sqrt(variance))
		}
		near := 2 * blur * s.Deviation()
		for _, multiple := range []float64{0, 0.3, 0.7, 1.5, 1.959963984540054, 3, 5} {
			m := multiple * s.Deviation()
			if got := s.Within(m); got > law.within(m)+1e-12 || got < law.within(m-near)-1e-4 {
				t.Errorf("%s, %v deviations: attains %v, by the law %v, and %v a little nearer", name, multiple, got,
					law.within(m),
					law.within(m-near))
			}
		}
		for _, confidence := range []float64{0.5, 0.95, 1 - 1e-7} {
			m, attained := s.Margin(confidence)
			truth, left := law.within(m), 1-confidence
			if attained < confidence || truth < attained-1e-12 || truth > attained+1e-4 &&
				law.within(m-near) > attained+1e-4 {
				t.Errorf("%s at %v: margin %v attaining %v, by the law %v", name, confidence, m, attained, truth)
			}
			if before := law.within(m - near); before > confidence+left/500 {
				t.Errorf("%s at %v: margin %v, but %v attains %v", name, confidence, m, m-near, before)
			}
		}
	}
}

// TestSumsOfMuchNoise compares with continuous noise: for large scales the sum of n Laplace draws is the scale times
// that of n continuous ones, whose 95 % margin is 5.6925713 for n = 4, and 2.9957323 for n = 1.
func TestSumsOfMuchNoise(t *testing.T) {
	for _, scale := range []float64{3_000_001, 3_000_000_001, 3_000_000_000_001, 700_000_000_000_001} {
		for n, want := range map[float64]float64{1: 2.9957323, 4: 5.6925713} {
			margin, attained := NewNoiseSum([]NoiseTerm{{1, n, DiscreteLaplace, scale}}).Margin(0.95)
			if ratio := margin / scale; math.Abs(ratio-want) > 1e-6 || math.Abs(attained-0.95) > 1e-6 {
				t.Errorf("%v draws of scale %v: margin %v scales, attaining %v", n, scale, ratio, attained)
			}
		}
	}
}

// TestSumsOfManyDrawsAreNormal: of a million draws and more, with weights down to a thousandth, the margin
// equals the margin of the normal law, 1.9599640 deviations at 95 % and 6.1094102 at 1 − 1e-9, up to the 2c that the
// bound may cost.
func TestSumsOfManyDrawsAreNormal(t *testing.T) {
	for _, terms := range [][]NoiseTerm{
		{{1, 1_000_000, DiscreteLaplace, 3}},
		{{0.5, 1_000_000, DiscreteLaplace, 3}, {0.001, 1 << 40, DiscreteGaussian, 1. / 3}},
		{{0.03, 1 << 50, DiscreteGaussian, 5}, {0.7, 1 << 40, DiscreteLaplace, 100}},
		{{1, 2, DiscreteGaussian, 1e12}, {0.3, 1, DiscreteGaussian, 1e13}},
	} {
		s := NewNoiseSum(terms)
		for confidence, multiple := range map[float64]float64{0.95: 1.959963984540054, 1 - 1e-9: 6.109410204869} {
			margin, attained := s.Margin(confidence)
			ratio := margin / s.Deviation()
			if ratio < multiple-1e-3/s.Deviation() && ratio < multiple*(1-1e-5) || ratio > multiple+2*blur+1e-3 ||
				attained < confidence {
				t.Errorf("%v at %v: margin %v deviations, attaining %v", terms, confidence, ratio, attained)
			}
		}
	}
}

// TestNothingIsCertain checks that a sum without noise is exact, and that an interval of confidence 1 is unbounded.
func TestNothingIsCertain(t *testing.T) {
	for _, terms := range [][]NoiseTerm{nil, {{0, 5, DiscreteLaplace, 2}}, {{1, 0, DiscreteGaussian, 2}}} {
		s := NewNoiseSum(terms)
		if margin, attained := s.Margin(0.95); margin != 0 || attained != 1 || s.Within(0) != 1 || s.Deviation() != 0 {
			t.Errorf("%v: margin %v attaining %v", terms, margin, attained)
		}
	}
	s := NewNoiseSum([]NoiseTerm{{1, 1, DiscreteLaplace, 2}, {0.3, 1, DiscreteLaplace, 2}})
	if margin, attained := s.Margin(1); !math.IsInf(margin, 1) || attained != 1 {
		t.Errorf("a sure margin is %v, attaining %v", margin, attained)
	}
	if s.Within(-1) != 0 || s.Within(1e9) < 1-1e-12 {
		t.Errorf("within nothing with probability %v, within everything with %v", s.Within(-1), s.Within(1e9))
	}
}

// TestIntervalsCoverAsTheLawSays draws sums of weighted noise 20 000 times. The share of covered draws lies 6.5
// standard deviations from its mean with a probability below 1e-10. In addition, the bound may be below the truth by
// 1e-4 and the probability within 2c, which is 3e-4 for these.
func TestIntervalsCoverAsTheLawSays(t *testing.T) {
	const n = 20000
	random := rand.New(rand.NewPCG(3, 4))
	draw := func(term NoiseTerm) float64 {
		if term.Kind == DiscreteLaplace { // the difference of two geometric draws
			a := math.Exp(-1 / term.Parameter)
			return math.Floor(math.Log(1-random.Float64())/math.Log(a)) - math.Floor(
				math.Log(1-random.Float64())/math.Log(a))
		}
		for { // rejection from a discrete Laplace law of scale σ + 1
			scale := math.Floor(math.Sqrt(term.Parameter)) + 1
			a := math.Exp(-1 / scale)
			x := math.Floor(math.Log(1-random.Float64())/math.Log(a)) - math.Floor(
				math.Log(1-random.Float64())/math.Log(a))
			gap := math.Abs(x) - term.Parameter/scale
			if random.Float64() < math.Exp(-gap*gap/(2*term.Parameter)) {
				return x
			}
		}
	}
	for _, terms := range [][]NoiseTerm{
		{{1, 1, DiscreteLaplace, 9}, {-0.37, 3, DiscreteLaplace, 4}, {0.11, 20, DiscreteGaussian, 6}},
		{{math.Sqrt2, 2, DiscreteGaussian, 30}, {-1 / math.Pi, 5, DiscreteLaplace, 7}},
	} {
		margin, attained := NewNoiseSum(terms).Margin(0.95)
		covered := 0
		for range n {
			var sum float64
			for _, term := range terms {
				for range int(term.Count) {
					sum += term.Weight * draw(term)
				}
			}
			if math.Abs(sum) <= margin {
				covered++
			}
		}
		share, deviation := float64(covered)/n, math.Sqrt(attained*(1-attained)/n)
		if share < attained-6.5*deviation || share > attained+4e-4+6.5*deviation {
			t.Errorf("%v: %v of the sums are within the margin, said to be %v", terms, share, attained)
		}
	}
}

func BenchmarkNoiseSum(b *testing.B) {
	many := []NoiseTerm{{0.9, 1, DiscreteLaplace, 105}}
	for i := range 130 {
		many = append(many, NoiseTerm{0.9 / float64(3+i), float64(1 + 10*i), DiscreteLaplace, 80 + float64(i)})
	}
	few := []NoiseTerm{{0.9, 1, DiscreteLaplace, 3}, {0.1, 2, DiscreteLaplace, 3}}
	normal := []NoiseTerm{{0.9, 1, DiscreteGaussian, 10000}, {0.1, 20, DiscreteGaussian, 3000}}
	narrow := []NoiseTerm{{0.9, 1, DiscreteGaussian, 10}, {0.1, 20, DiscreteGaussian, 3}}
	for name, terms := range map[string][]NoiseTerm{"many": many, "few": few, "normal": normal, "narrow": narrow,
		"lattice": {{1, 9, DiscreteLaplace, 50}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := NewNoiseSum(terms)
				s.Margin(0.95)
			}
			if s := NewNoiseSum(terms); s.unit == 0 {
				b.ReportMetric(float64(len(s.newBlurred(1e-5, 3).waves)), "waves")
			}
		})
	}
}

// Noise that is hardly ever different from 0 still has a margin, with at least the stated probability. The test adds up
// everything that few draws can be.
func TestMarginsOfNextToNoNoise(t *testing.T) {
	law := func(variance float64) (p [9]float64) {
		var sum float64
		for i := range p {
			p[i] = math.Exp(-float64((i-4)*(i-4)) / (2 * variance))
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	for _, variance := range []float64{0.005, 0.03, 0.1} {
		s := NewNoiseSum([]NoiseTerm{{Weight: 1, Count: 1, Kind: DiscreteGaussian, Parameter: variance},
			{Weight: 0.5, Count: 2, Kind: DiscreteGaussian, Parameter: 2 * variance}})
		a, b := law(variance), law(2*variance)
		for _, confidence := range []float64{0.5, 0.95, 0.999, 1 - 1e-6, 1 - 1e-9} {
			margin, attained := s.Margin(confidence)
			var within float64
			for i, p := range a {
				for j, q := range b {
					for k, r := range b {
						if math.Abs(float64(i-4)+float64(j+k-8)/2) <= margin {
							within += p * q * r
						}
					}
				}
			}
			if attained < confidence || within < attained-1e-12 {
				t.Errorf("variance %v, confidence %v: margin %v is said to have %v, and has %v", variance, confidence,
					margin,
					attained, within)
			}
			if said := s.Within(margin); said > within+1e-12 {
				t.Errorf("variance %v: %v is said to be within %v, and %v is", variance, said, margin, within)
			}
		}
	}
}

// TestMarginsHaveRoomForRounding takes sums whose draws are all 0: whatever is computed with such noise must be within
// the margin of what it would be without rounding, unless it is whole.
func TestMarginsHaveRoomForRounding(t *testing.T) {
	const never = 1e-3 // a scale at which another value than 0 has the probability e^−1000, and a variance of 0
	for _, c := range []struct {
		terms []NoiseTerm
		want  float64
	}{
		{[]NoiseTerm{{1, 3, DiscreteLaplace, never}}, 0},
		{[]NoiseTerm{{0.25, 3, DiscreteLaplace, never}}, 0.125},
		{[]NoiseTerm{{1, 1, DiscreteLaplace, never}, {0.5, 1, DiscreteLaplace, 1e-2}}, 0x1p-21},
		{[]NoiseTerm{{math.Pi, 1, DiscreteLaplace, 1e-2}, {math.Sqrt2, 1, DiscreteGaussian, 1e-4}},
			math.Sqrt2 * 0x1p-20},
	} {
		if margin, attained := NewNoiseSum(c.terms).Margin(0.95); margin != c.want || attained < 1-1e-12 {
			t.Errorf("%v: margin %g, want %g; attained %g", c.terms, margin, c.want, attained)
		}
	}
}
