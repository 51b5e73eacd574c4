package budget

import (
	"math"
	"math/big"
	"testing"
)

// referenceLogDelta returns ln δ(b) of the conversion, to 300 bits.
func referenceLogDelta(rho, epsilon, b *big.Float) *big.Float {
	newFloat := func() *big.Float { return new(big.Float).SetPrec(referencePrecision) }
	one := bigFloat(1)
	inner := newFloat().Mul(b, rho)
	inner.Add(inner, rho)
	inner.Sub(inner, epsilon)
	sum := newFloat().Mul(b, inner)
	onePlusB := newFloat().Add(one, b)
	logOnePlusB := referenceLog(onePlusB)
	logRatio := newFloat().Sub(logOnePlusB, referenceLog(b)) // ln(1+1/b)
	sum.Sub(sum, newFloat().Mul(b, logRatio))
	return sum.Sub(sum, logOnePlusB)
}

// referenceDelta minimises the conversion by golden-section search in ln b, independently of the code under test.
func referenceDelta(rho, epsilon float64) *big.Float {
	r, e := bigFloat(rho), bigFloat(epsilon)
	at := func(logB float64) *big.Float { return referenceLogDelta(r, e, bigFloat(math.Exp(logB))) }
	low, high := -60.0, 60.0
	for high-low > 1e-7 { // the bound is flat at its minimum: error ~1e-14·1e-2
		third := (high - low) / 3
		if at(low+third).Cmp(at(high-third)) < 0 {
			high -= third
		} else {
			low += third
		}
	}
	return referenceExp(at((low + high) / 2))
}

func TestZCDPDeltaIsAboveTheExactConversionByLittle(t *testing.T) {
	for _, rho := range []float64{1e-6, 1e-3, 0.1, 1, 20} {
		for _, epsilon := range []float64{0, 1e-3, 0.5, 4, 30} {
			if math.Pow(epsilon-rho, 2)/(4*rho) > 200 && epsilon > rho {
				continue // δ below 1e-86
			}
			exact := referenceDelta(rho, epsilon)
			got := ZCDPDelta(rho, epsilon)
			excess := new(big.Float).Quo(new(big.Float).Sub(bigFloat(got), exact), exact)
			// The reference stops a hair above the minimum, by less than 1e-14.
			if relative, _ := excess.Float64(); relative < -1e-14 || relative > 1e-12 {
				t.Errorf("ZCDPDelta(%v, %v) = %v: relative excess %.2g, want within [0, 1e-12]", rho, epsilon, got,
					relative)
			}
		}
	}
}

func TestZCDPEpsilonInvertsZCDPDelta(t *testing.T) {
	for _, rho := range []float64{1e-9, 1e-4, 0.02, 0.7, 3, 50} {
		for _, delta := range []float64{1e-30, 1e-12, 1e-9, 1e-5, 0.01, 0.3} {
			epsilon := ZCDPEpsilon(rho, delta)
			if epsilon == 0 {
				continue
			}
			if got := ZCDPDelta(rho, epsilon*(1+1e-11)); got > delta*(1+1e-9) {
				t.Errorf("ρ %v: δ(ε(%v)) = %v", rho, delta, got)
			}
			if got := ZCDPDelta(rho, epsilon*(1-1e-9)); got <= delta*(1-1e-6) && epsilon > 1e-3 {
				t.Errorf("ρ %v: ε(%v) = %v is not least: δ = %v", rho, delta, epsilon, got)
			}
		}
	}
}

func TestConversionsAtTheEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	cases := []struct {
		name      string
		got, want float64
	}{
		{"δ of ρ = 0", ZCDPDelta(0, 1), 0},
		{"δ of negative ρ", ZCDPDelta(-1, 1), 1},
		{"δ of NaN", ZCDPDelta(nan, 1), 1},
		{"δ at ε NaN", ZCDPDelta(1, nan), 1},
		{"δ at negative ε", ZCDPDelta(1, -1), 1},
		{"δ of infinite ρ", ZCDPDelta(inf, 1), 1},
		{"δ of huge ρ", ZCDPDelta(1e300, 1), 1},
		{"δ far out", ZCDPDelta(1e-5, 10), smallestDelta},
		{"ε of ρ = 0", ZCDPEpsilon(0, 1e-9), 0},
		{"ε at δ = 1", ZCDPEpsilon(1, 1), 0},
		{"ε at δ = 0", ZCDPEpsilon(1, 0), inf},
		{"ε at δ NaN", ZCDPEpsilon(1, nan), inf},
		{"ε of negative ρ", ZCDPEpsilon(-1, 1e-9), inf},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	for _, rho := range []float64{5e-324, 1e-200, 1e200, math.MaxFloat64} {
		for _, other := range []float64{5e-324, 1e-200, 1e-9, 0.5, 1e200, math.MaxFloat64} {
			if delta := ZCDPDelta(rho, other); !(delta > 0 && delta <= 1) {
				t.Errorf("ZCDPDelta(%v, %v) = %v", rho, other, delta)
			}
			if epsilon := ZCDPEpsilon(rho, other); !(epsilon >= 0) {
				t.Errorf("ZCDPEpsilon(%v, %v) = %v", rho, other, epsilon)
			}
		}
	}
}

func TestRhoForEpsilonDeltaGolden(t *testing.T) {
	delta := mustRat(t, "1e-9")
	for _, c := range []struct {
		epsilon string
		rho     float64
		digits  float64
	}{
		{"0.1", 0.000177138, 5e-10},
		{"0.316", 0.00163243, 5e-9},
		{"1", 0.0149731, 5e-8},
		{"3.16", 0.132915, 5e-7},
		{"10", 1.0907857, 5e-8},
	} {
		rho, err := RhoForEpsilonDelta(mustRat(t, c.epsilon), delta)
		if err != nil {
			t.Fatal(err)
		}
		if got := nearest(rho); math.Abs(got-c.rho) > c.digits {
			t.Errorf("ε %s: ρ = %.10g, want %v", c.epsilon, got, c.rho)
		}
		assertGrantsTheMost(t, rho, mustRat(t, c.epsilon), delta)
	}
}

// assertGrantsTheMost checks that rho has 40 significant bits, is sound, and
// that the next ρ of 40 bits is not.
func assertGrantsTheMost(t *testing.T, rho, epsilon, delta *big.Rat) {
	t.Helper()
	if denominator := rho.Denom(); denominator.TrailingZeroBits() != uint(denominator.BitLen()-1) ||
		rho.Num().BitLen() > significantBits {
		t.Errorf("ρ = %s is no dyadic rational of %d bits", rho, significantBits)
	}
	r, e, d := nearest(rho), roundDown(epsilon), roundDown(delta)
	if got := ZCDPDelta(r, e); got > d {
		t.Errorf("ρ = %v gives δ = %v > %v", r, got, d)
	}
	next := math.Float64frombits(math.Float64bits(r) + 1<<(53-significantBits))
	if got := ZCDPDelta(next, e); got <= d {
		t.Errorf("the next ρ after %v gives δ = %v ≤ %v too", r, got, d)
	}
}

func TestRhoForEpsilonDeltaRefusesWhatIsNoBudget(t *testing.T) {
	good := big.NewRat(1, 2)
	for _, c := range []struct{ epsilon, delta *big.Rat }{
		{nil, good}, {good, nil}, {new(big.Rat), good}, {big.NewRat(-1, 1), good},
		{good, new(big.Rat)}, {good, big.NewRat(1, 1)}, {good, big.NewRat(3, 2)}, {good, big.NewRat(-1, 9)},
		{scaleByTen(big.NewInt(1), 400), good}, {scaleByTen(big.NewInt(1), -400), good},
		{good, scaleByTen(big.NewInt(1), -400)},
	} {
		if rho, err := RhoForEpsilonDelta(c.epsilon, c.delta); err == nil {
			t.Errorf("RhoForEpsilonDelta(%v, %v) = %v, want an error", c.epsilon, c.delta, rho)
		}
	}
	for _, text := range []string{"1e-299", "1e-30", "1e30", "1e299"} {
		rho, err := RhoForEpsilonDelta(mustRat(t, text), good)
		if err == nil && rho.Sign() <= 0 {
			t.Errorf("ε %s: ρ = %v", text, rho)
		}
	}
}

func mustRat(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, err := ParseRat(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What people write down has four digits and keeps the promise, and with one more in the last place it breaks it.
func TestDecimalRhoKeepsThePromise(t *testing.T) {
	for _, c := range []struct{ epsilon, delta, want string }{{"1", "1e-6", "0.02435"}, {"0.5", "1e-6", ""},
		{"2", "1e-6", ""}, {"4", "1e-6", ""}, {"0.5", "1e-9", ""}, {"1", "1e-9", ""}, {"2", "1e-9", ""},
		{"4", "1e-9", ""}} {
		e, d := mustRat(t, c.epsilon), mustRat(t, c.delta)
		rho, err := DecimalRho(e, d)
		if err != nil {
			t.Fatal(err)
		}
		text := rho.FloatString(9)
		if c.want != "" && rho.Cmp(mustRat(t, c.want)) != 0 {
			t.Errorf("ε = %s, δ = %s: ρ = %s, want %s", c.epsilon, c.delta, text, c.want)
		}
		epsilon, _ := e.Float64()
		delta, _ := d.Float64()
		at, _ := rho.Float64()
		step := math.Pow(10, math.Floor(math.Log10(at))-3)
		if ZCDPDelta(at, epsilon) > delta || ZCDPDelta(at+step, epsilon) <= delta {
			t.Errorf("ε = %s, δ = %s: ρ = %s is not the largest of four digits", c.epsilon, c.delta, text)
		}
		t.Logf("ε = %s, δ = %s: ρ = %s", c.epsilon, c.delta, text)
	}
}
