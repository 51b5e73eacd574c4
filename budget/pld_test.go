package budget_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/contour"
	"github.com/dprelease/dprelease/internal/testkit"
)

// part is a mechanism that runs count times.
type part struct {
	mechanism budget.Mechanism
	count     int
}

func (p part) steps() []budget.Mechanism {
	return slices.Repeat([]budget.Mechanism{p.mechanism}, p.count)
}

func together(parts ...part) (all []budget.Mechanism) {
	for _, p := range parts {
		all = append(all, p.steps()...)
	}
	return all
}

func noisy(kind budget.Kind, numerator, denominator, l1, l2Squared int64) budget.Mechanism {
	return budget.Mechanism{Kind: kind, Parameter: big.NewRat(numerator, denominator), L1: big.NewInt(l1),
		L2Squared: big.NewInt(l2Squared)}
}

func choosing(kind budget.Kind, numerator, denominator int64) budget.Mechanism {
	return budget.Mechanism{Kind: kind, Parameter: big.NewRat(numerator, denominator)}
}

func composed(t *testing.T, steps []budget.Mechanism) budget.Loss {
	t.Helper()
	loss, err := budget.Compose(steps...)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

// judge compares δ at some ε, and ε at some δ, with the contour integral: never below it, and above it by at most
// excess, a relative error of δ.
func judge(t *testing.T, name string, steps []budget.Mechanism, excess float64, epsilons ...float64) {
	t.Helper()
	loss := composed(t, steps)
	for _, epsilon := range epsilons {
		got := loss.DeltaAt(epsilon)
		want, err := contour.Delta(steps, epsilon)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Value < want.Delta*(1-1e-13)-want.Error {
			t.Errorf("%s, ε = %v: δ = %v (%s) is below %v ± %v", name, epsilon, got.Value, got.Method, want.Delta,
				want.Error)
		}
		if got.Value > want.Delta*(1+excess)+want.Error+1e-290 {
			t.Errorf("%s, ε = %v: δ = %v (%s), but %v ± %v is enough", name, epsilon, got.Value, got.Method, want.Delta,
				want.Error)
		}
		if want.Delta < 1e-60 || want.Delta > 0.9 {
			continue
		}
		back, err := loss.EpsilonAt(new(big.Rat).SetFloat64(want.Delta))
		if err != nil {
			t.Fatal(err)
		}
		at, err := contour.Delta(steps, back.Value)
		if err != nil {
			t.Fatal(err)
		}
		if at.Delta-at.Error > want.Delta*(1+1e-13) {
			t.Errorf("%s, δ = %v: ε = %v leaves %v ± %v", name, want.Delta, back.Value, at.Delta, at.Error)
		}
		if at.Delta+at.Error < want.Delta*(1-excess) {
			t.Errorf("%s, δ = %v: ε = %v (%s), but %v is enough", name, want.Delta, back.Value, back.Method, epsilon)
		}
	}
}

// TestExactLatticesAgree takes compositions whose losses lie on one lattice: the two accountants differ only by
// rounding, 1e-9 relative.
func TestExactLatticesAgree(t *testing.T) {
	gaussian, laplace := budget.DiscreteGaussian, budget.DiscreteLaplace
	for _, c := range []struct {
		name     string
		parts    []part
		epsilons []float64
	}{
		{"one narrow Gaussian", []part{{noisy(gaussian, 1, 256, 1, 1), 1}}, []float64{0, 100, 127.9}},
		{"a Gaussian", []part{{noisy(gaussian, 17, 3, 3, 9), 105}}, []float64{0, 40, 90, 150, 230}},
		{"Gaussians of one lattice", []part{{noisy(gaussian, 9, 1, 1, 1), 70}, {noisy(gaussian, 9, 2, 2, 4), 31}},
			[]float64{1, 12, 40, 100}},
		{"spread Gaussian", []part{{noisy(gaussian, 25, 1, 5, 5), 40}}, []float64{0, 10, 30}},
		{"Laplace", []part{{noisy(laplace, 7, 3, 2, 4), 200}}, []float64{0, 30, 80, 140, 171.4}},
		{"few Laplace", []part{{noisy(laplace, 1123, 2, 4, 16), 5}}, []float64{0, 0.01, 0.03, 0.035}},
		{"randomized response", []part{{choosing(budget.RandomizedResponse, 1, 7), 13}}, []float64{0, 1, 1.8, 1.857}},
		{"many choices", []part{{choosing(budget.PermuteAndFlip, 1, 10), 4000}}, []float64{0, 20, 60, 80}},
		{"Laplace and response", []part{{noisy(laplace, 3, 1, 2, 4), 20},
			{choosing(budget.RandomizedResponse, 2, 9), 30}},
			[]float64{1, 8, 19.9}},
	} {
		judge(t, c.name, together(c.parts...), 1e-9, c.epsilons...)
	}
}

// TestOtherCompositionsAreNeverBelow takes compositions whose losses lie on no common lattice: the excess is at most
// 1e-3 of δ here, which is 1e-5 of ε or less.
func TestOtherCompositionsAreNeverBelow(t *testing.T) {
	testkit.SkipPassed(t)
	gaussian, laplace := budget.DiscreteGaussian, budget.DiscreteLaplace
	for _, c := range []struct {
		name     string
		parts    []part
		epsilons []float64
	}{
		{"Gaussian and Laplace", []part{{noisy(gaussian, 1001, 7, 1, 1), 60}, {noisy(laplace, 31, 3, 1, 1), 80}},
			[]float64{0, 1, 3, 8, 12}},
		{"two Gaussians and a choice",
			[]part{{noisy(gaussian, 100, 7, 1, 1), 10}, {noisy(gaussian, 10000, 13, 2, 4), 20},
				{choosing(budget.ExponentialMechanism, 1, 5), 6}}, []float64{1, 3, 6}},
		{"bounded range", []part{{choosing(budget.ExponentialMechanism, 1, 3), 30}}, []float64{0, 1, 2}},
		{"bounded range, few", []part{{choosing(budget.ExponentialMechanism, 33, 20), 3}}, []float64{0, 0.5}},
		{"below the window", []part{{noisy(laplace, 50, 3, 1, 1), 1}, {noisy(gaussian, 1093, 4096, 20, 400), 1},
			{choosing(budget.PermuteAndFlip, 705, 4096), 1}}, []float64{20.522455666666804}},
		{"wide Gaussian in bundles", []part{{noisy(gaussian, 25e6, 1, 100, 10000), 300}}, []float64{0.2, 1, 2}},
		{"widest Gaussian", []part{{noisy(gaussian, 1e12, 1, 1, 1), 20}}, []float64{1e-6, 1e-5, 3e-5}},
		{"bundles with heavy tails", []part{{noisy(gaussian, 1000, 7, 1, 1), 900}, {noisy(gaussian, 1e5, 3, 1, 1), 700},
			{choosing(budget.RandomizedResponse, 3, 100), 100}}, []float64{4, 10, 20}},
	} {
		judge(t, c.name, together(c.parts...), 1e-3, c.epsilons...)
	}
}

// TestRandomCompositionsAreNeverBelow draws compositions of a fixed seed.
func TestRandomCompositionsAreNeverBelow(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 26))
	between := func(low, high float64) float64 { return low * math.Exp(random.Float64()*math.Log(high/low)) }
	for range 25 {
		var parts []part
		for range 1 + random.IntN(3) {
			denominator := []int64{1, 3, 7, 4096}[random.IntN(4)]
			numerator := func(x float64) int64 { return int64(x*float64(denominator)) + 1 }
			l1 := int64(between(1, 6))
			var m budget.Mechanism
			switch random.IntN(4) {
			case 0:
				m = noisy(budget.DiscreteGaussian, numerator(between(0.1, 1e5)), denominator, l1, l1*l1)
			case 1:
				m = noisy(budget.DiscreteGaussian, numerator(between(0.5, 50)), denominator, min(l1, 4),
					min(l1, 4)+random.Int64N(3)*(min(l1, 4)-1)/2)
			case 2:
				m = noisy(budget.DiscreteLaplace, numerator(between(0.3, 300)), denominator, l1, l1*l1)
			case 3:
				m = choosing(budget.RandomizedResponse, numerator(between(0.01, 3)), denominator)
			}
			parts = append(parts, part{m, int(between(1, 12))})
		}
		steps := together(parts...)
		loss := composed(t, steps)
		rho, _ := loss.Rho().Float64()
		epsilon := max(0, rho+math.Sqrt(2*rho)*(random.Float64()*9-2))
		got := loss.DeltaAt(epsilon)
		want, err := contour.Delta(steps, epsilon)
		if err != nil {
			continue // too many ways for shapes
		}
		if got.Value < want.Delta*(1-1e-13)-want.Error {
			t.Errorf("%+v, ε = %v: δ = %v (%s) is below %v ± %v", parts, epsilon, got.Value, got.Method, want.Delta,
				want.Error)
		}
	}
}

// TestSmallCompositionsByListing lists all outcomes of a few steps.
func TestSmallCompositionsByListing(t *testing.T) {
	steps := together(part{choosing(budget.RandomizedResponse, 1, 2), 3},
		part{choosing(budget.RandomizedResponse, 5, 7),
			2})
	losses := []float64{0.5, 0.5, 0.5, 5. / 7, 5. / 7}
	loss := composed(t, steps)
	for _, epsilon := range []float64{0, 0.3, 1.1, 2.9, 2.93} {
		var want float64
		for outcome := range 1 << len(losses) {
			p, q := 1.0, 1.0
			for i, e := range losses {
				kept := 1 / (1 + math.Exp(-e))
				if outcome>>i&1 == 0 {
					p, q = p*kept, q*(1-kept)
				} else {
					p, q = p*(1-kept), q*kept
				}
			}
			want += math.Max(0, p-math.Exp(epsilon)*q)
		}
		if got := loss.DeltaAt(epsilon).Value; math.Abs(got-want) > 1e-11*want+1e-15 {
			t.Errorf("ε = %v: δ = %v, want %v", epsilon, got, want)
		}
	}
	if got := loss.DeltaAt(2.929); got.Value > 0 { // 2·5/7 + 3/2 is the greatest loss
		t.Errorf("beyond all losses δ is %v", got.Value)
	}
}

// TestExtremesPromiseNothingFalse asks about compositions for which nothing can be promised.
func TestExtremesPromiseNothingFalse(t *testing.T) {
	huge := composed(t, []budget.Mechanism{noisy(budget.DiscreteGaussian, 1, 1, 4e9, 1.6e19/4),
		choosing(budget.AdaptiveBlock, 200, 1)})
	if got, err := huge.EpsilonAt(big.NewRat(1, 1000)); err != nil || !(got.Value > 1e17) {
		t.Errorf("ε = %+v, %v for a loss of 1e18", got, err)
	}
	block := composed(t, []budget.Mechanism{choosing(budget.AdaptiveBlock, 1, 8),
		noisy(budget.DiscreteLaplace, 2, 1, 1, 1)})
	got, err := block.EpsilonAt(big.NewRat(1, 1e9))
	alone := budget.ZCDPEpsilon(0.125, 1e-9)
	if err != nil || !(got.Value > alone && got.Value < alone+0.5) {
		t.Errorf("ε = %+v, %v: the block alone has %v and the rest 0.5", got, err, alone)
	}
	certain := composed(t, []budget.Mechanism{noisy(budget.DiscreteLaplace, 1, 1000, 1, 1)})
	if rate := certain.TruePositiveRate(0); !(rate >= 0 && rate < 1e-6) {
		t.Errorf("without false positives %v are found", rate)
	}
}
