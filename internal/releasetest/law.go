package releasetest

import (
	"math"
	"os"
	"testing"

	"github.com/dprelease/dprelease/budget"
)

// AtLeast returns P(X ≥ hits) of a binomial X, summed outward from hits on the side of the smaller tail. The first
// term carries the error of three log-gammas, below 1e-8 relative for 10⁶ trials; the rest is exact to rounding.
func AtLeast(hits, trials int, p float64) float64 {
	switch {
	case hits <= 0 || p >= 1:
		return 1
	case hits > trials || p <= 0:
		return 0
	case float64(hits) <= float64(trials)*p:
		return 1 - AtLeast(trials-hits+1, trials, 1-p)
	}
	term := math.Exp(LogChoose(trials, hits) + float64(hits)*math.Log(p) + float64(trials-hits)*math.Log1p(-p))
	sum, odds := 0.0, p/(1-p)
	for x := hits; x <= trials && term > sum*1e-17; x++ {
		sum += term
		term *= float64(trials-x) / float64(x+1) * odds
	}
	return sum
}

func LogChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// Law is a law on consecutive integers: P[i] is the probability of From+i.
type Law struct {
	From int
	P    []float64
}

// NoiseLaw returns the law of the noise on one cell, drawn at once: P(x) ∝ e^−|x|/t, or ∝ e^−x²/2σ², cut where less
// than
// 1e-15 is left out.
func NoiseLaw(m budget.Mechanism) Law {
	parameter, _ := m.Parameter.Float64()
	weight := func(x float64) float64 { return math.Exp(-math.Abs(x) / parameter) }
	reach := int(40*parameter) + 2
	if m.Kind == budget.DiscreteGaussian {
		weight = func(x float64) float64 { return math.Exp(-x * x / (2 * parameter)) }
		reach = int(9*math.Sqrt(parameter)) + 2
	}
	l, sum := Law{-reach, make([]float64, 2*reach+1)}, 0.0
	for i := range l.P {
		l.P[i] = weight(float64(i - reach))
		sum += l.P[i]
	}
	for i := range l.P {
		l.P[i] /= sum
	}
	return l
}

// Shifted returns the law of the value plus a number.
func (l Law) Shifted(by int) Law { return Law{l.From + by, l.P} }

// Clamped returns the law of the value clamped to [low, high].
func (l Law) Clamped(low, high int) Law {
	out := Law{low, make([]float64, high-low+1)}
	for i, p := range l.P {
		out.P[min(max(l.From+i, low), high)-low] += p
	}
	return out
}

// Negated returns the law of the value's negative.
func (l Law) Negated() Law {
	out := Law{-(l.From + len(l.P) - 1), make([]float64, len(l.P))}
	for i, p := range l.P {
		out.P[len(l.P)-1-i] = p
	}
	return out
}

// Plus returns the law of a sum of independent values.
func (l Law) Plus(other Law) Law {
	out := Law{l.From + other.From, make([]float64, len(l.P)+len(other.P)-1)}
	for i, p := range l.P {
		for j, q := range other.P {
			out.P[i+j] += p * q
		}
	}
	return out
}

// At returns the probability of a value.
func (l Law) At(x int) float64 {
	if x < l.From || x >= l.From+len(l.P) {
		return 0
	}
	return l.P[x-l.From]
}

// AtLeast returns the probability of a value or more.
func (l Law) AtLeast(x int) float64 {
	sum := 0.0
	for i := len(l.P) - 1; i >= 0 && l.From+i >= x; i-- {
		sum += l.P[i]
	}
	return sum
}

// Trimmed leaves out ends with a probability of less than 1e-17 each, together less than 1e-12 for any law here.
func (l Law) Trimmed() Law {
	from, to := 0, len(l.P)
	for to-from > 1 && l.P[from] < 1e-17 {
		from++
	}
	for to-from > 1 && l.P[to-1] < 1e-17 {
		to--
	}
	return Law{l.From + from, l.P[from:to]}
}

// PlusMultiples returns the law of the value plus a multiple of another, rounded.
func (l Law) PlusMultiples(other Law, multiple float64) Law {
	at := func(i int) int { return int(math.Round(multiple * float64(other.From+i))) }
	first, last := at(0), at(len(other.P)-1)
	out := Law{l.From + first, make([]float64, len(l.P)+last-first)}
	for j, q := range other.P {
		to := out.P[at(j)-first:]
		for i, p := range l.P {
			to[i] += p * q
		}
	}
	return out
}

// SkipLong skips a setting that is a variant of others and takes long.
func SkipLong(t *testing.T, long bool) {
	t.Helper()
	if long && os.Getenv("DPRELEASE_LONG") == "" {
		t.Skip("set DPRELEASE_LONG to run it")
	}
}
