package budget

import (
	"math"
	"testing"
)

func TestExcessKeepsItsDigits(t *testing.T) {
	for _, x := range []float64{-700, -30, -2, -0.5000001, -0.5, -0.3, -1e-3, -1e-9, 1e-9, 1e-4, 0.2, 0.5, 0.5000001, 3,
		40, 600} {
		want := referenceExp(bigFloat(x))
		want.Sub(want, bigFloat(1))
		want.Sub(want, bigFloat(x))
		reference, _ := want.Float64()
		assertRelative(t, "e^x − 1 − x", excess(x), reference, 16*0x1p-53)
	}
	if excess(0) != 0 || excessOver(3, 0) != 0 {
		t.Error("excess of 0")
	}
}

// TestPowerExcessKeepsItsDigits compares ((1+z)^α − 1 − αz)/(α−1) with 320 bits.
func TestPowerExcessKeepsItsDigits(t *testing.T) {
	for _, z := range []float64{-0.9, -0.3, -0.1, -1e-3, -1e-8, 1e-8, 1e-3, 0.1, 0.1001, 0.7, 20, 1e6} {
		for _, alpha := range []float64{1.0001, 1.5, 2, 7.25, 60} {
			one, zBig, alphaBig := bigFloat(1), bigFloat(z), bigFloat(alpha)
			power := bigFloat(0).Mul(alphaBig, referenceLog(bigFloat(0).Add(one, zBig)))
			want := referenceExp(power)
			want.Sub(want, one)
			want.Sub(want, bigFloat(0).Mul(alphaBig, zBig))
			want.Quo(want, bigFloat(0).Sub(alphaBig, one))
			// (1+z)ln(1+z) − z cancels to a twentieth at worst, and the power carries the
			// rounding of its exponent.
			tolerance := 1e-14 * (1 + alpha*math.Abs(math.Log1p(z)))
			reference := referenceLog(want)
			logWant, _ := reference.Float64()
			if got := logPowerExcess(z, math.Log(math.Abs(z)), alpha); math.Abs(got-logWant) > tolerance+
				1e-15*math.Abs(logWant) {
				t.Errorf("z %v, α %v: ln %v, want %v", z, alpha, got, logWant)
			}
		}
	}
}

// TestSumAndIntegralAgree checks the two routes to the divergence of the subsampled
// Gaussian against one another, at integer orders.
func TestSumAndIntegralAgree(t *testing.T) {
	for _, s := range []SubsampledGaussian{
		{Gaussian{1, 1}, 0.01}, {Gaussian{0.2, 1}, 0.3}, {Gaussian{30, 1}, 1e-5}, {Gaussian{4, 1}, 0.999},
		{Gaussian{0.05, 1}, 1e-3},
	} {
		for _, alpha := range []float64{2, 3, 8, 33, 100} {
			assertRelative(t, "divergence", s.fractionalRDP(alpha), s.integerRDP(alpha), 2e-10)
		}
	}
}

// TestSampledDivergenceRisesWithTheOrder crosses the seams between the ways of
// working it out, where a wrong one would show as a step back or a jump.
func TestSampledDivergenceRisesWithTheOrder(t *testing.T) {
	for _, s := range []SubsampledGaussian{{Gaussian{1, 1}, 0.02}, {Gaussian{0.002, 1}, 0.02}, {Gaussian{50, 1}, 0.5}} {
		last := 0.0
		for _, alpha := range []float64{1, 1.0001, 1.7, 1.999, 2, 2.001, 2.5, 3, 10, 10.5, 11, 1000, 1000.5, 1001, 99999, 1e5,
			100001, 1e7, math.Inf(1)} {
			value := s.RDP(alpha)
			if value < last*(1-1e-9) || value > s.Gaussian.RDP(alpha) {
				t.Errorf("%+v: D(%v) = %v after %v", s, alpha, value, last)
			}
			last = value
		}
	}
	if got := (SubsampledGaussian{Gaussian{1, 1}, 0}).RDP(3); got != 0 {
		t.Errorf("nothing sampled loses %v", got)
	}
}

func TestDivergencesEndAtThePureEpsilon(t *testing.T) {
	inf := math.Inf(1)
	response := CategoricalResponse{Noise: 0.2, Categories: 4}
	for name, rdp := range map[string]struct {
		at      func(order float64) float64
		epsilon float64
	}{
		"Laplace":          {Laplace{1, 2}.RDP, 2},
		"response":         {response.RDP, response.Epsilon()},
		"special response": {response.SpecialRDP, response.SpecialEpsilon()},
		"discrete Laplace": {func(order float64) float64 { return discreteLaplaceRDP(0.5, 4, order) }, 2},
		"bounded range":    {BoundedRange{2}.RDP, 2},
	} {
		assertRelative(t, name+" at +Inf", rdp.at(inf), rdp.epsilon, 1e-14)
		for _, order := range []float64{300, 1e4, 1e9} {
			// D_α ≥ ε − ln(1/P(L = ε))/(α−1), and P(L = ε) is above e^{−1} in all of these.
			if got := rdp.at(order); got > rdp.epsilon*(1+1e-14) || got < rdp.epsilon-2/(order-1) {
				t.Errorf("%s: D(%v) = %v, ε is %v", name, order, got, rdp.epsilon)
			}
		}
	}
	wide := discreteLaplaceRDP(1e-7, 1<<21, 3)
	if exact := (Laplace{1, 1e-7 * (1 << 21)}).RDP(3); wide < exact {
		t.Errorf("the bound for a wide shift is %v, the continuous law alone has %v", wide, exact)
	}
}

// TestConversionsOfOneOrderAgree inverts one conversion by the other.
func TestConversionsOfOneOrderAgree(t *testing.T) {
	for _, order := range []float64{1.01, 2, 17.5, 3000} {
		for _, value := range []float64{0.01, 0.5, 12} {
			for _, delta := range []float64{1e-40, 1e-9, 1e-3} {
				epsilon := RDPEpsilon(order, value, delta)
				if got := RDPDelta(order, value, epsilon); got > delta*(1+1e-9) || got < delta*(1-1e-9) {
					t.Errorf("order %v, value %v: δ(ε(%v)) = %v", order, value, delta, got)
				}
			}
		}
	}
}

// TestConversionIsAboveTheTruth checks a mechanism whose δ is known in closed form:
// the conversion of its Rényi curve never falls below.
func TestConversionIsAboveTheTruth(t *testing.T) {
	var orders []float64
	for order := 1.05; order < 3000; order *= 1.1 {
		orders = append(orders, order)
	}
	for _, g := range []Gaussian{{20, 1}, {2, 1}, {0.5, 1}} {
		for _, delta := range []float64{1e-12, 1e-5, 0.01} {
			truth := g.Epsilon(delta)
			if got := BestRDPEpsilon(orders, each(orders, g.RDP), delta); got < truth || got > 1.5*truth+0.01 {
				t.Errorf("%+v at %v: %v from Rényi, %v in truth", g, delta, got, truth)
			}
			if got := BestRDPDelta(orders, each(orders, g.RDP), truth); truth > 0 && (got < delta || got > 30*delta) {
				t.Errorf("%+v: δ %v from Rényi, %v in truth", g, got, delta)
			}
		}
	}
}

func TestConversionsAtTheEdgesOfOrders(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ got, want float64 }{
		{RDPEpsilon(inf, 0.7, 0), 0.7}, {RDPEpsilon(2, 0.7, 0), inf}, {RDPEpsilon(1, 0.7, 1e-9), inf},
		{RDPEpsilon(0.5, 0.7, 1e-9), inf},
		{RDPEpsilon(2, 0, 0), 0}, {RDPEpsilon(2, 0.7, 1), 0}, {RDPEpsilon(1, 0.7, 0.9), 0}, {RDPEpsilon(2, -1, 0.1), inf},
		{RDPEpsilon(nan, 1, 0.1), inf},
		{RDPEpsilon(2, inf, 0.1), inf}, {RDPEpsilon(2, 1, nan), inf},
		{RDPDelta(inf, 0.7, 0.7), 0}, {RDPDelta(2, 0, 0), 0}, {RDPDelta(2, nan, 1), 1}, {RDPDelta(2, 1, -1), 1},
		{RDPDelta(0.9, 1, 1), 1}, {RDPDelta(2, 1e9, 1), 1},
		{RDPDelta(2, 1, 1e300), smallestDelta}, {BestRDPEpsilon(nil, nil, 0.1), inf}, {BestRDPDelta(nil, nil, 1), 1},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	// √(1−e^{−1}) bounds the total variation.
	assertRelative(t, "total variation", RDPDelta(1, 1, 0), math.Sqrt(1-1/math.E), 1e-14)
}

// TestBoundedRangeDivergenceHolds checks it against the extreme mechanisms, whose
// loss is t or t−ε (Dong, Durfee & Rogers 2020), and that none comes nearer than
// the largest of them at order 1.
func TestBoundedRangeDivergenceHolds(t *testing.T) {
	for _, epsilon := range []float64{0.01, 0.3, 1, 4, 30} {
		for _, order := range []float64{1, 1.5, 3, 20} {
			bound, largest := BoundedRange{epsilon}.RDP(order), 0.0
			for part := 0.0005; part < 1; part += 0.0005 {
				high := part * epsilon
				p := math.Expm1(high-epsilon) / math.Expm1(-epsilon) // P(L = high), so that E_P[e^−L] = 1
				value := math.Log(p*math.Exp((order-1)*high)+(1-p)*math.Exp((order-1)*(high-epsilon))) / (order - 1)
				if order == 1 {
					value = p*high + (1-p)*(high-epsilon)
				}
				largest = math.Max(largest, value)
			}
			if largest > bound*(1+1e-9) {
				t.Errorf("ε %v: D(%v) reaches %v, above the bound %v", epsilon, order, largest, bound)
			}
			if order == 1 && largest < bound*(1-1e-5) {
				t.Errorf("ε %v: D(1) reaches only %v of %v", epsilon, largest, bound)
			}
		}
	}
	assertRelative(t, "divergence of a large ε", BoundedRange{800}.RDP(1), 800-math.Log(800)-1, 1e-13)
	for _, m := range []BoundedRange{{-1}, {math.Inf(1)}, {math.NaN()}} {
		if !math.IsInf(m.RDP(2), 1) || !math.IsInf(m.Rho(), 1) || !math.IsInf(m.RepeatedEpsilon(3, 0.1), 1) {
			t.Errorf("%+v protects", m)
		}
	}
	if m := (BoundedRange{0.5}); m.RepeatedEpsilon(1, 1e-9) != raised(0.5, 1) || m.Rho() < 1./32 ||
		(BoundedRange{}).RDP(5) != 0 || m.RepeatedEpsilon(0, 1e-9) != 0 {
		t.Error("one mechanism, or none")
	}
}
