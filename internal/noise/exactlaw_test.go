package noise

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// exactLaw is a law that draws are held against. It is calculated apart from the
// samplers: from the definition in floating point here, and in many digits by
// bigCumulative.
type exactLaw struct {
	name      string
	square    bool
	scale     float64 // σ or t
	parameter *big.Rat
}

func gaussianLaw(sigma float64) exactLaw {
	s := new(big.Rat).SetFloat64(sigma)
	return exactLaw{"gaussian/sigma=" + strconv.FormatFloat(sigma, 'g', -1, 64), true, sigma, s.Mul(s, s)}
}

func laplaceLaw(scale float64) exactLaw {
	return exactLaw{"laplace/scale=" + strconv.FormatFloat(scale, 'g', -1, 64), false, scale,
		new(big.Rat).SetFloat64(scale)}
}

// magnitudes is the law of the absolute value, as the samplers are told it.
func (l exactLaw) magnitudes() magnitudes {
	rate := new(big.Rat).Inv(l.parameter)
	if l.square {
		rate.Mul(rate, big.NewRat(1, 2))
	}
	return magnitudes{square: l.square, folded: true, rate: rate}
}

// wide laws are given by integrals and closed forms instead of sums.
func (l exactLaw) wide() bool { return l.scale > 1000 }

// weight is P(X = x)/P(X = 0).
func (l exactLaw) weight(x float64) float64 {
	if l.square {
		return math.Exp(-x * x / (2 * l.scale * l.scale))
	}
	return math.Exp(-math.Abs(x) / l.scale)
}

// sum returns the mean of f(|X|) by adding up all that matters.
func (l exactLaw) sum(f func(m, p float64) float64) float64 {
	total, mean := 0.0, 0.0
	p0 := 1.0
	for pass := range 2 {
		for m := 0.0; m == 0 || l.weight(m) > 1e-22; m++ {
			w := 2 * l.weight(m)
			if m == 0 {
				w = 1
			}
			if pass == 0 {
				total += w
			} else {
				mean += w * p0 * f(m, l.weight(m)*p0)
			}
		}
		p0 = 1 / total
	}
	return mean
}

// moments returns P(0), E[X²], E[X⁴] and P(X = Y) for an independent Y. For wide
// Gaussian laws they are those of the normal law, which differ from the exact
// ones by less than exp(−2π²σ²) in proportion.
func (l exactLaw) moments() (zero, variance, fourth, equal float64) {
	s := l.scale
	switch {
	case !l.wide():
		zero = l.sum(func(m, p float64) float64 { return boolToFloat(m == 0) })
		variance = l.sum(func(m, p float64) float64 { return m * m })
		fourth = l.sum(func(m, p float64) float64 { return m * m * m * m })
		equal = l.sum(func(m, p float64) float64 { return p })
	case l.square:
		zero, variance, fourth, equal = 1/(s*math.Sqrt(2*math.Pi)), s*s, 3*s*s*s*s, 1/(2*s*math.Sqrt(math.Pi))
	default:
		a, gap := math.Exp(-1/s), -math.Expm1(-1/s)
		zero = gap / (1 + a)
		variance = 2 * a / (gap * gap)
		fourth = 2 * a * (1 + 11*a + 11*a*a + a*a*a) / ((1 + a) * gap * gap * gap * gap)
		equal = zero * zero * (1 + a*a) / (gap * (1 + a))
	}
	return zero, variance, fourth, equal
}

func boolToFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// beyond returns P(X ≥ m) as a function of an integer m ≥ 1. For wide Gaussian
// laws it is the integral from m−½, which differs by less than 1e-8.
func (l exactLaw) beyond() func(m float64) float64 {
	switch {
	case !l.square:
		return func(m float64) float64 { return math.Exp(-m/l.scale) / (1 + math.Exp(-1/l.scale)) }
	case l.wide():
		return func(m float64) float64 { return math.Erfc((m-0.5)/(l.scale*math.Sqrt2)) / 2 }
	}
	zero, _, _, _ := l.moments()
	last := 0
	for l.weight(float64(last)) > 1e-40 {
		last++
	}
	tails := make([]float64, last+1)
	for m := last - 1; m >= 0; m-- {
		tails[m] = tails[m+1] + l.weight(float64(m))*zero
	}
	return func(m float64) float64 { return tails[int(min(m, float64(last)))] }
}

// tailFrom is the first magnitude beyond 4.5σ or 12t, which some 6 draws in a
// million reach.
func (l exactLaw) tailFrom() float64 {
	if l.square {
		return math.Floor(4.5*l.scale) + 1
	}
	return math.Floor(12*l.scale) + 1
}

// bigPrecision is the precision of calculations with big.Float in the tests, far
// above the 192 bits that the samplers' tables are made with.
const bigPrecision = 640

func bigFloat(x float64) *big.Float {
	return new(big.Float).SetPrec(bigPrecision).SetFloat64(x)
}

// bigExpNeg returns exp(−x) as 1/exp(x/2ᵏ)^(2ᵏ), with exp(x/2ᵏ) by its series; 0
// from 2²⁰ on.
func bigExpNeg(x *big.Rat) *big.Float {
	if x.Cmp(new(big.Rat).SetInt64(1<<20)) >= 0 {
		return bigFloat(0)
	}
	y := new(big.Float).SetPrec(bigPrecision).SetRat(x)
	squarings := max(0, y.MantExp(nil)) + 10
	y.SetMantExp(y, -squarings)
	sum, term := bigFloat(1), bigFloat(1)
	for k := 1.0; term.Sign() > 0 && term.MantExp(nil) > -bigPrecision; k++ {
		term.Mul(term, y).Quo(term, bigFloat(k))
		sum.Add(sum, term)
	}
	for range squarings {
		sum.Mul(sum, sum)
	}
	return sum.Quo(bigFloat(1), sum)
}

// bigCumulative returns P(M ≤ m) for m = 0, 1, … for a law of magnitudes, until it
// is within 2^−bits of 1. Every weight is calculated by itself.
func bigCumulative(law magnitudes, bits int) []*big.Float {
	weights := []*big.Float{bigFloat(1)}
	total := bigFloat(1)
	for m := int64(1); ; m++ {
		exponent := new(big.Rat).Mul(law.rate, new(big.Rat).SetInt64(m))
		if law.square {
			exponent.Mul(exponent, new(big.Rat).SetInt64(m))
		}
		w := bigExpNeg(exponent)
		if w.Sign() == 0 || w.MantExp(nil) < -bits-64 {
			break
		}
		if law.folded {
			w.SetMantExp(w, 1)
		}
		weights = append(weights, w)
		total.Add(total, w)
	}
	sum := bigFloat(0)
	for m, w := range weights {
		sum.Add(sum, w)
		weights[m] = new(big.Float).SetPrec(bigPrecision).Quo(sum, total)
	}
	return weights
}

// bitsOf returns ⌊2^length·x⌋.
func bitsOf(x *big.Float, length int) *big.Int {
	z, _ := new(big.Float).SetMantExp(x, length).Int(nil)
	return z
}

// vector is one of the tables calculated apart from this program.
type vector struct {
	law          exactLaw
	zero         float64
	variance     float64
	cumulative64 map[int]uint64 // ⌊2⁶⁴·P(|X| ≤ m)⌋
}

// all returns ⌊2⁶⁴·P(|X| ≤ m)⌋ for m = 0, 1, …: the vectors', or where they have
// gaps what bigCumulative says.
func (v vector) all() (table []uint64) {
	for m := range len(v.cumulative64) {
		if exact, ok := v.cumulative64[m]; ok {
			table = append(table, exact)
		}
	}
	if len(table) == len(v.cumulative64) {
		return table
	}
	table = table[:0]
	for _, exact := range bigCumulative(v.law.magnitudes(), 66) {
		bits := bitsOf(exact, 64)
		if table = append(table, bits.Uint64()); bits.BitLen() > 64 {
			table[len(table)-1] = ^uint64(0) // 1 but for what is left out
		}
	}
	return table
}

func vectors(t *testing.T) []vector {
	t.Helper()
	data, err := os.ReadFile(testkit.Shared(t, "vectors/noise_tables.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tables []struct {
			Law          string
			Sigma, Scale float64
			P0, Variance string
			Folded       map[string]string `json:"folded_cdf_floor_2p64_hex"`
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	var all []vector
	for _, table := range file.Tables {
		v := vector{law: laplaceLaw(table.Scale), cumulative64: map[int]uint64{}}
		if table.Law == "discrete_gaussian" {
			v.law = gaussianLaw(table.Sigma)
		}
		v.zero, _ = strconv.ParseFloat(table.P0, 64)
		v.variance, _ = strconv.ParseFloat(table.Variance, 64)
		for m, hex := range table.Folded {
			key, err := strconv.Atoi(m)
			if err != nil {
				t.Fatal(err)
			}
			if v.cumulative64[key], err = strconv.ParseUint(hex, 16, 64); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, v)
	}
	if len(all) != 11 {
		t.Fatalf("%d tables, want 11", len(all))
	}
	return all
}

// TestLawsMatchTheVectors holds what draws are held against to the vectors.
func TestLawsMatchTheVectors(t *testing.T) {
	for _, v := range vectors(t) {
		zero, variance, _, _ := v.law.moments()
		if math.Abs(variance/v.variance-1) > 1e-12 || math.Abs(zero/v.zero-1) > 1e-12 {
			t.Errorf("%s: variance %v and P(0) %v, want %v and %v", v.law.name, variance, zero, v.variance, v.zero)
		}
		beyond := v.law.beyond()
		for m, cdf := range v.cumulative64 {
			if got := 1 - 2*beyond(float64(m+1)); math.Abs(got-float64(cdf)/0x1p64) > 1e-12 {
				t.Errorf("%s: P(|X| ≤ %d) = %v, want %v", v.law.name, m, got, float64(cdf)/0x1p64)
			}
		}
	}
}

// TestWideLawsMatchTheSums compares the closed forms of wide laws with sums.
func TestWideLawsMatchTheSums(t *testing.T) {
	for _, l := range []exactLaw{gaussianLaw(3000), laplaceLaw(1500)} {
		_, variance, fourth, equal := l.moments()
		for what, ratio := range map[string]float64{
			"variance":      variance / l.sum(func(m, p float64) float64 { return m * m }),
			"fourth moment": fourth / l.sum(func(m, p float64) float64 { return m * m * m * m }),
			"P(X = Y)":      equal / l.sum(func(m, p float64) float64 { return p }),
		} {
			if math.Abs(ratio-1) > 1e-9 {
				t.Errorf("%s: %s is %v of the sum", l.name, what, ratio)
			}
		}
		for _, m := range []float64{1, 2000, 9000} {
			sum := l.sum(func(x, p float64) float64 { return boolToFloat(x >= m) }) / 2
			if got := l.beyond()(m); math.Abs(got-sum) > 1e-8 {
				t.Errorf("%s: P(X ≥ %v) = %v, sum %v", l.name, m, got, sum)
			}
		}
	}
}
