package budget

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"
)

const referencePrecision = 320

func bigFloat(x float64) *big.Float {
	return new(big.Float).SetPrec(referencePrecision).SetFloat64(x)
}

// referenceExp sums the Taylor series of e^(x/2^k) and squares k times.
func referenceExp(x *big.Float) *big.Float {
	const halvings = 40
	y := new(big.Float).SetPrec(referencePrecision).SetMantExp(x, -halvings)
	sum, term := bigFloat(1), bigFloat(1)
	for n := 1; n < 30; n++ {
		term.Mul(term, y)
		term.Quo(term, bigFloat(float64(n)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// referenceLog solves e^y = x by Newton's method from a rough start.
func referenceLog(x *big.Float) *big.Float {
	mantissa := new(big.Float)
	exponent := x.MantExp(mantissa)
	near, _ := mantissa.Float64()
	y := bigFloat(math.Log(near))
	for range 4 {
		error := new(big.Float).Quo(mantissa, referenceExp(y))
		y.Add(y, error.Sub(error, bigFloat(1)))
	}
	return y.Add(y, new(big.Float).Mul(bigFloat(float64(exponent)), ln2Reference()))
}

func ln2Reference() *big.Float {
	// ln 2 = 2·artanh(1/3)
	sum, power := new(big.Float).SetPrec(referencePrecision), new(big.Float).Quo(bigFloat(2), bigFloat(3))
	for n := 1; n < 240; n += 2 {
		sum.Add(sum, new(big.Float).Quo(power, bigFloat(float64(n))))
		power.Quo(power, bigFloat(9))
	}
	return sum
}

// ulps returns |got − want| in units of the spacing of float64 at want.
func ulps(got float64, want *big.Float) float64 {
	nearest, _ := want.Float64()
	spacing := math.Nextafter(math.Abs(nearest), math.Inf(1)) - math.Abs(nearest)
	difference := new(big.Float).SetPrec(referencePrecision).Sub(bigFloat(got), want)
	distance, _ := difference.Quo(difference, bigFloat(spacing)).Float64()
	return math.Abs(distance)
}

func TestFloatFunctionsAreWithinTheirStatedUlps(t *testing.T) {
	one := bigFloat(1)
	functions := []struct {
		name      string
		f         func(float64) float64
		standard  func(float64) float64
		reference func(*big.Float) *big.Float
		draw      func(*rand.Rand) float64
		bound     float64
	}{
		{"Exp", Exp, math.Exp, referenceExp, func(r *rand.Rand) float64 { return (r.Float64() - 0.5) * 1400 }, 1},
		{"Exp near 0", Exp, math.Exp, referenceExp, func(r *rand.Rand) float64 { return (r.Float64() - 0.5) * 4 }, 1},
		{"Exp subnormal", Exp, nil, referenceExp, func(r *rand.Rand) float64 { return -708 - 36*r.Float64() }, 1},
		{"Log", Log, math.Log, referenceLog,
			func(r *rand.Rand) float64 { return math.Exp((r.Float64() - 0.5) * 1400) }, 1},
		{"Log near 1", Log, math.Log, referenceLog, func(r *rand.Rand) float64 { return 0.5 + 1.5*r.Float64() }, 1},
		{"log1p", log1p, math.Log1p, func(x *big.Float) *big.Float { return referenceLog(new(big.Float).Add(one, x)) },
			func(r *rand.Rand) float64 { return -1 + math.Exp((r.Float64()-0.5)*60) }, 1},
		{"log1p near 0", log1p, math.Log1p,
			func(x *big.Float) *big.Float { return referenceLog(new(big.Float).Add(one, x)) },
			func(r *rand.Rand) float64 { return (r.Float64() - 0.5) * 1.8 * math.Exp(-20*r.Float64()) }, 1},
		{"expm1", expm1, math.Expm1, func(x *big.Float) *big.Float { return new(big.Float).Sub(referenceExp(x), one) },
			func(r *rand.Rand) float64 { return (r.Float64() - 0.5) * 100 }, 1.5},
		{"expm1 near 0", expm1, math.Expm1,
			func(x *big.Float) *big.Float { return new(big.Float).Sub(referenceExp(x), one) },
			func(r *rand.Rand) float64 { return (r.Float64() - 0.5) * 6 * math.Exp(-20*r.Float64()) }, 1.5},
	}
	points := 1000
	if os.Getenv("DPRELEASE_LONG") != "" {
		points = 4000
	}
	for _, c := range functions {
		t.Run(c.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			worst, at := 0.0, 0.0
			for range points {
				x := c.draw(random)
				got := c.f(x)
				if off := ulps(got, c.reference(bigFloat(x))); off > worst {
					worst, at = off, x
				}
				if c.standard != nil && math.Abs(got-c.standard(x)) > 1e-15*math.Abs(got) {
					t.Fatalf("at %v: %v, package math has %v", x, got, c.standard(x))
				}
			}
			t.Logf("worst error %.3f ulp at %v", worst, at)
			if worst > c.bound {
				t.Errorf("%.3f ulp at %v, stated bound %v", worst, at, c.bound)
			}
		})
	}
}

func TestFloatFunctionsAtTheEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	cases := []struct {
		name      string
		got, want float64
	}{
		{"Exp(0)", Exp(0), 1},
		{"Exp(-0)", Exp(math.Copysign(0, -1)), 1},
		{"Exp(+Inf)", Exp(inf), inf},
		{"Exp(-Inf)", Exp(-inf), 0},
		{"Exp(710)", Exp(710), inf},
		{"Exp(-746)", Exp(-746), 0},
		{"Exp(-745)", Exp(-745), 5e-324},
		{"Exp(1e300)", Exp(1e300), inf},
		{"Exp(1e-300)", Exp(1e-300), 1},
		{"Exp(NaN)", Exp(nan), nan},
		{"Log(1)", Log(1), 0},
		{"Log(0)", Log(0), -inf},
		{"Log(-1)", Log(-1), nan},
		{"Log(+Inf)", Log(inf), inf},
		{"Log(5e-324)", Log(5e-324), -744.4400719213812},
		{"log1p(0)", log1p(0), 0},
		{"log1p(-1)", log1p(-1), -inf},
		{"log1p(-2)", log1p(-2), nan},
		{"log1p(1e-300)", log1p(1e-300), 1e-300},
		{"log1p(+Inf)", log1p(inf), inf},
		{"expm1(0)", expm1(0), 0},
		{"expm1(1e-300)", expm1(1e-300), 1e-300},
		{"expm1(-1e300)", expm1(-1e300), -1},
		{"expm1(+Inf)", expm1(inf), inf},
		{"expm1(NaN)", expm1(nan), nan},
	}
	for _, c := range cases {
		if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

// TestFloatFunctionsHaveTheSameBitsEverywhere compares with bit patterns computed on amd64: a compiler or an
// architecture that fuses or reorders operations fails it.
func TestFloatFunctionsHaveTheSameBitsEverywhere(t *testing.T) {
	checksum := uint64(14695981039346656037)
	mix := func(x float64) {
		checksum = (checksum ^ math.Float64bits(x)) * 1099511628211
	}
	for i := range 20000 {
		x := float64(i)/1000 - 10.0007
		mix(Exp(x))
		mix(Exp(20 * x))
		mix(expm1(x))
		mix(Log(Exp(20 * x)))
		mix(log1p(Exp(x)))
		mix(log1p(x / 10.01))
	}
	if want := uint64(goldenChecksum); checksum != want {
		t.Errorf("checksum of 120000 results is %#x, want %#x", checksum, want)
	}
	for _, c := range goldenBits {
		if got := math.Float64bits(c.f(c.x)); got != c.bits {
			t.Errorf("%s(%v) has bits %#016x, want %#016x", c.name, c.x, got, c.bits)
		}
	}
}

const goldenChecksum = 0x9ac2db647857169b

var goldenBits = []struct {
	name string
	f    func(float64) float64
	x    float64
	bits uint64
}{
	{"Exp", Exp, 1, 0x4005bf0a8b14576a},
	{"Exp", Exp, -0.3, 0x3fe7b4c869c37c05},
	{"Exp", Exp, -33.25, 0x3cf057322ef4a1c2},
	{"Log", Log, 10, 0x40026bb1bbb55516},
	{"Log", Log, 0.1, 0xc0026bb1bbb55515},
	{"log1p", log1p, 0.7, 0x3fe0fae81914a991},
	{"log1p", log1p, -1e-3, 0xbf5064670d979b6f},
	{"expm1", expm1, 0.5, 0x3fe4c2531c3c0d38},
	{"expm1", expm1, -2, 0xbfebab5557101f8d},
}
