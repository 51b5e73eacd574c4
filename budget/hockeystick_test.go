package budget

import (
	"math"
	"testing"
)

// privatePair is a mechanism's figures beside the densities of its worst pair, for
// integrating the definitions apart from the code under test.
type privatePair struct {
	name    string
	p, q    func(x float64) float64
	low     float64 // the outcomes that matter
	high    float64
	atoms   bool // outcomes are the integers
	delta   func(epsilon float64) float64
	rdp     func(order float64) float64
	tpr     func(fpr float64) float64
	epsilon func(delta float64) float64
}

// sum adds f of the two densities up over the outcomes.
func (c privatePair) sum(f func(p, q float64) float64) float64 {
	const cells = 1 << 18
	width, cellsHere := (c.high-c.low)/cells, cells
	if c.atoms {
		width, cellsHere = 1, int(c.high-c.low)
	}
	var sum float64
	for i := range cellsHere {
		x := c.low + (float64(i)+0.5)*width
		if c.atoms {
			x = c.low + float64(i)
		}
		sum += f(c.p(x), c.q(x)) * width
	}
	return sum
}

func privatePairs() []privatePair {
	g := Gaussian{Sigma: 3, L2: 2}
	narrow := Gaussian{Sigma: 20, L2: 3}
	l := Laplace{Scale: 2, L1: 3}
	s := SubsampledGaussian{Gaussian{Sigma: 4, L2: 3}, 0.3}
	zero, moved := normalDensity(0), normalDensity(0.75)
	mixture, mirrored := mixtureDensity(0.3, zero, moved), mixtureDensity(0.3, zero, normalDensity(-0.75))
	r := CategoricalResponse{Noise: 0.4, Categories: 5}
	response := func(truth int) func(float64) float64 {
		return func(x float64) float64 {
			if int(x) == truth {
				return 0.6 + 0.08
			}
			return 0.08
		}
	}
	geometric := func(mean float64) func(float64) float64 {
		return func(x float64) float64 {
			return (1 - math.Exp(-0.3)) / (1 + math.Exp(-0.3)) * math.Exp(-0.3*math.Abs(x-mean))
		}
	}
	return []privatePair{
		{"Gaussian", normalDensity(2. / 3), zero, -18, 18, false, g.Delta, g.RDP, g.TruePositiveRate, g.Epsilon},
		{"Gaussian of small μ", normalDensity(0.15), zero, -18, 18, false, narrow.Delta, narrow.RDP, narrow.TruePositiveRate,
			narrow.Epsilon},
		{"Laplace", laplaceDensity(0), laplaceDensity(1.5), -60, 60, false, l.Delta, l.RDP, l.TruePositiveRate, l.Epsilon},
		{"removal", mixture, zero, -18, 18, false, s.DeltaRemove, s.RDP, nil, nil},
		{"addition", zero, mixture, -18, 18, false, s.DeltaAdd, nil, nil, nil},
		{"replacement", mixture, mirrored, -18, 18, false, s.DeltaReplace, nil, nil, nil},
		{"sampled Laplace", mixtureDensity(0.3, laplaceDensity(0), laplaceDensity(1.5)), laplaceDensity(0), -60, 60, false,
			func(e float64) float64 { return poissonRemoval(0.3, e, l.Delta) }, nil, nil, nil},
		{"response", response(1), response(2), 0, 5, true, r.Delta, r.RDP, r.TruePositiveRate, nil},
		{"discrete Laplace", geometric(0), geometric(4), -200, 200, true,
			func(e float64) float64 { return discreteLaplaceDelta(0.3, 4, e) },
			func(order float64) float64 { return discreteLaplaceRDP(0.3, 4, order) }, nil, nil},
	}
}

// sumError bounds the error of the sums above: the midpoint rule on at most 120 with
// cells below 5e-4, where integrands have kinks.
const sumError = 2e-7

func TestDeltaIsTheHockeyStick(t *testing.T) {
	for _, c := range privatePairs() {
		for _, epsilon := range []float64{-1.7, -0.6, -0.2, 0, 0.1, 0.25, 0.3, 0.6, 1.1, 2} {
			want := c.sum(func(p, q float64) float64 { return math.Max(0, p-math.Exp(epsilon)*q) })
			if got := c.delta(epsilon); math.Abs(got-want) > sumError {
				t.Errorf("%s: δ(%v) = %v, the definition gives %v", c.name, epsilon, got, want)
			}
		}
	}
}

func TestRDPIsTheRenyiDivergence(t *testing.T) {
	for _, c := range privatePairs() {
		if c.rdp == nil {
			continue
		}
		for _, order := range []float64{1.001, 1.3, 2, 3.5, 7, 12.25} {
			moment := c.sum(func(p, q float64) float64 { return math.Pow(p/q, order) * q })
			want := math.Log(moment) / (order - 1)
			// The sum is good to 1e-6 of itself, as Laplace densities have kinks.
			if got := c.rdp(order); math.Abs(got-want) > 1e-6/(order-1) {
				t.Errorf("%s: D(%v) = %v, the definition gives %v", c.name, order, got, want)
			}
		}
		divergence := c.sum(func(p, q float64) float64 { return p * math.Log(p/q) })
		for _, order := range []float64{1, 0.4} {
			if got := c.rdp(order); order == 1 && math.Abs(got-divergence) > 1e-7 || got < divergence*order-1e-7 {
				t.Errorf("%s: D(%v) = %v, the Kullback–Leibler divergence is %v", c.name, order, got, divergence)
			}
		}
	}
}

// TestTruePositiveRateIsDualToDelta uses that every ε bounds the rate by
// e^ε·fpr + δ(ε), and the best ε by no more than the rate.
func TestTruePositiveRateIsDualToDelta(t *testing.T) {
	for _, c := range privatePairs() {
		if c.tpr == nil {
			continue
		}
		for _, fpr := range []float64{1e-3, 0.02, 0.08, 0.2, 0.5, 0.77, 0.95} {
			least := 1.0
			for epsilon := -4.0; epsilon < 6; epsilon += 1e-3 {
				least = math.Min(least, math.Exp(epsilon)*fpr+c.delta(epsilon))
			}
			// Steps of 1e-3 in ε miss the minimum by less than 1e-6, or at a kink by 1e-3 of
			// e^ε·fpr, which is at most the rate.
			if got := c.tpr(fpr); got > least+1e-12 || got < least*(1-1.1e-3)-1e-6 {
				t.Errorf("%s: rate %v at %v, δ allows %v", c.name, got, fpr, least)
			}
		}
		if c.tpr(1) != 1 || c.tpr(2) != 1 || c.tpr(math.NaN()) != 1 {
			t.Errorf("%s: rate at 1", c.name)
		}
	}
}

func TestSampledTruePositiveRateIsTheBetterDirection(t *testing.T) {
	s := SubsampledGaussian{Gaussian{Sigma: 1.5, L2: 2}, 0.3}
	for _, fpr := range []float64{1e-6, 1e-3, 0.1, 0.4, 0.9} {
		least := [2]float64{1, 1}
		for epsilon := -3.0; epsilon < 12; epsilon += 1e-3 {
			least[0] = math.Min(least[0], math.Exp(epsilon)*fpr+s.DeltaRemove(epsilon))
			least[1] = math.Min(least[1], math.Exp(epsilon)*fpr+s.DeltaAdd(epsilon))
		}
		want := math.Max(least[0], least[1])
		if got := s.TruePositiveRate(fpr); math.Abs(got-want) > 1e-5*want {
			t.Errorf("rate %v at %v, δ allows %v", got, fpr, want)
		}
	}
}

func TestEpsilonIsTheLeastThatDeltaAllows(t *testing.T) {
	for _, c := range privatePairs() {
		if c.epsilon == nil {
			continue
		}
		for _, delta := range []float64{1e-200, 1e-30, 1e-9, 1e-3, 0.05} {
			epsilon := c.epsilon(delta)
			if got := c.delta(epsilon); got > delta {
				t.Errorf("%s: δ(ε(%v)) = %v", c.name, delta, got)
			}
			if got := c.delta(epsilon * (1 - 1e-9)); epsilon > 0 && got <= delta {
				t.Errorf("%s: ε(%v) = %v is not least", c.name, delta, epsilon)
			}
		}
		if !math.IsInf(c.epsilon(-1), 1) || c.epsilon(1) != 0 {
			t.Errorf("%s: ε at δ = −1 is %v, at 1 %v", c.name, c.epsilon(-1), c.epsilon(1))
		}
	}
}

// TestWhatIsNoMechanismProtectsNothing also covers the extremes of float64.
func TestWhatIsNoMechanismProtectsNothing(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, g := range []Gaussian{{0, 1}, {-1, 1}, {nan, 1}, {1, -1}, {1, inf}, {1, nan}} {
		s := SubsampledGaussian{g, 0.5}
		if g.Delta(1) != 1 || !math.IsInf(g.Epsilon(0.5), 1) || !math.IsInf(g.RDP(2), 1) || g.TruePositiveRate(0.1) != 1 ||
			s.Delta(1) != 1 || s.DeltaReplace(1) != 1 || !math.IsInf(s.RDP(2), 1) || s.TruePositiveRate(0.1) != 1 {
			t.Errorf("%+v protects", g)
		}
		l := Laplace{g.Sigma, g.L2}
		if l.Delta(1) != 1 || !math.IsInf(l.RDP(2), 1) || l.TruePositiveRate(0.1) != 1 {
			t.Errorf("%+v protects", l)
		}
	}
	for _, r := range []CategoricalResponse{{-0.1, 3}, {1.1, 3}, {nan, 3}, {0.5, 1}, {0, 3}} {
		if r.Delta(1) != 1 || !math.IsInf(r.Epsilon(), 1) || !math.IsInf(r.SpecialEpsilon(), 1) ||
			!math.IsInf(r.RDP(2), 1) || !math.IsInf(r.SpecialRDP(2), 1) || r.TruePositiveRate(0.1) != 1 {
			t.Errorf("%+v protects", r)
		}
	}
	for _, rate := range []float64{-0.1, 1.1, nan} {
		if s := (SubsampledGaussian{Gaussian{1, 1}, rate}); s.Delta(1) != 1 || !math.IsInf(s.RDP(2), 1) {
			t.Errorf("%+v protects", s)
		}
	}
	for _, mu := range []float64{0, 5e-324, 1e-200, 1e-5, 0.499, 0.5, 1, 1e5, 1e200, math.MaxFloat64} {
		for _, epsilon := range []float64{-inf, -1e300, -800, -1, -1e-300, 0, 1e-300, 1, 800, 1e300, inf} {
			g := Gaussian{1, mu}
			s := SubsampledGaussian{g, 1e-3}
			for name, delta := range map[string]float64{"δ": g.Delta(epsilon), "remove": s.DeltaRemove(epsilon),
				"add":     s.DeltaAdd(epsilon),
				"replace": s.DeltaReplace(epsilon), "Laplace": Laplace{1, mu}.Delta(epsilon)} {
				if !(delta >= 0 && delta <= 1) || epsilon <= -800 && delta != 1 || epsilon == 0 && mu == 0 && delta > 1e-16 {
					t.Errorf("μ %v: %s(%v) = %v", mu, name, epsilon, delta)
				}
			}
		}
		for _, order := range []float64{0.5, 1, 1 + 1e-12, 2, 2.5, 1e4, 1e4 + 0.5, 1e9, 1e300, inf} {
			g := Gaussian{1, mu}
			for name, value := range map[string]float64{"Gaussian": g.RDP(order),
				"sampled": SubsampledGaussian{g, 1e-3}.RDP(order), "Laplace": Laplace{1, mu}.RDP(order)} {
				if !(value >= 0) || mu == 0 && value != 0 {
					t.Errorf("μ %v: RDP of %s at %v is %v", mu, name, order, value)
				}
			}
		}
	}
}

func TestComposedGaussians(t *testing.T) {
	steps := []Gaussian{{2, 1}, {5, 3}, {1, 0.25}}
	mu := math.Sqrt(0.25 + 0.36 + 0.0625)
	all := ComposeGaussians(steps...)
	assertRelative(t, "μ", all.mu(), mu, 1e-15)
	assertRelative(t, "μ of 49 runs", RepeatGaussian(steps[1], 49).mu(), 4.2, 1e-15)
	if ComposeGaussians(Gaussian{1, 1}, Gaussian{-1, 1}).Delta(1) != 1 || ComposeGaussians().Delta(0) != 0 {
		t.Error("composition with no mechanism, and of none")
	}
}
