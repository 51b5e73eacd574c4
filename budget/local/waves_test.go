package local

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestWavesAreThoseOfPackageMath(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	assertClose := func(name string, x, got, want, tolerance float64) {
		t.Helper()
		if math.Abs(got-want) > tolerance {
			t.Errorf("%s(%g) = %.17g, expected %.17g", name, x, got, want)
		}
	}
	const ulp = 0x1p-52
	for range 20_000 {
		x := random.Float64()
		small := math.Exp(-30 * random.Float64())
		assertClose("sine", x/2, sine(x/2), math.Sin(math.Pi*x/2), 4*ulp*math.Sin(math.Pi*x/2))
		assertClose("sine", small/2, sine(small/2), math.Sin(math.Pi*small/2), 4*ulp*small*2)
		far := float64(1e6 * x)
		assertClose("sine", far, sine(far), math.Sin(math.Pi*math.Mod(far, 2)), 16*ulp)
		assertClose("cosine", x/2, cosine(x/2), math.Cos(math.Pi*x/2), 4*ulp)
		assertClose("halfTurns", x, halfTurns(x, 1), math.Atan2(x, 1)/math.Pi, 6*ulp*x)
		assertClose("halfTurns", 1/x, halfTurns(1, x), math.Atan2(1, x)/math.Pi, 6*ulp)
		assertClose("halfTurns", small, halfTurns(small, 1), math.Atan2(small, 1)/math.Pi, 6*ulp*small)
		assertClose("logOnePlus", -x, logOnePlus(-x), math.Log1p(-x), -4*ulp*math.Log1p(-x))
		assertClose("logOnePlus", -small, logOnePlus(-small), math.Log1p(-small), -4*ulp*math.Log1p(-small))
	}
	for _, x := range []float64{0, 1, 2, 15, 16, 17, 40, 1000, 1e6} {
		for _, m := range []float64{0.5 * x, 0.95 * x, x, x + 1, 3*x + 2} {
			if m == 0 {
				continue
			}
			logs, _ := math.Lgamma(x + 1)
			want := x*math.Log(m) - m - logs
			assertClose("logPoisson", x, logPoisson(x, m), want, 8*ulp*(1+m+x*math.Abs(math.Log(m))+logs))
		}
	}
}
