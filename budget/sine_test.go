package budget

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"
)

// bigSinPi is sin πx by its Taylor series in 300 bits, for |x| ≤ 1/2.
func bigSinPi(x float64) float64 {
	pi, _ := new(big.Float).SetPrec(300).
		SetString("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
	y := new(big.Float).SetPrec(300).SetFloat64(x)
	y.Mul(y, pi)
	square := new(big.Float).SetPrec(300).Mul(y, y)
	term, sum := new(big.Float).SetPrec(300).Set(y), new(big.Float).SetPrec(300).Set(y)
	for k := int64(2); k < 80; k += 2 {
		term.Mul(term, square).Quo(term, big.NewFloat(float64(k*(k+1)))).Neg(term)
		sum.Add(sum, term)
	}
	f, _ := sum.Float64()
	return f
}

// TestSinPiIsTheSine compares the sine with its series in 300 bits, at arguments that are small, large and near
// integers and half-integers, shifted by integers that float64 holds exactly.
func TestSinPiIsTheSine(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var rests []float64
	points := 4000
	if os.Getenv("DPRELEASE_LONG") != "" {
		points = 20000
	}
	for range points {
		rests = append(rests, random.Float64()-0.5)
	}
	for e := 1; e < 60; e++ {
		rests = append(rests, math.Ldexp(1+random.Float64(), -e-1), 0.5-math.Ldexp(1, -e-1), 0.25-math.Ldexp(1, -e-2),
			0.25+math.Ldexp(1, -e-3))
	}
	for _, rest := range rests {
		for _, whole := range []float64{0, 1, -1, 2, 12345, -4096} {
			x := whole + rest
			want := bigSinPi(x - whole)
			if math.Mod(whole, 2) != 0 {
				want = -want
			}
			if got := sinPi(x); math.Abs(got-want) > 3*0x1p-52*math.Abs(want) {
				t.Fatalf("sin π·%v: %v, the series has %v", x, got, want)
			}
		}
	}
	for _, c := range [][2]float64{{0, 0}, {1, 0}, {0.5, 1}, {-0.5, -1}, {1.5, -1}, {1 << 40, 0}, {1<<40 + 0.5, 1}} {
		if got := sinPi(c[0]); got != c[1] {
			t.Errorf("sin π·%v = %v, expected %v", c[0], got, c[1])
		}
	}
}
