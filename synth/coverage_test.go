package synth

import (
	"math"
	"math/big"
	"os"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/noise"
)

// This file holds what the tests of intervals share: noise as it is drawn in a release, populations, and a test of
// coverage.

// mechanismNamed returns a mechanism by its name: L3 is discrete Laplace of scale 3, G9 discrete Gaussian of σ² = 9.
func mechanismNamed(name string) budget.Mechanism {
	parameter, err := strconv.ParseInt(name[1:], 10, 64)
	if err != nil {
		panic(err)
	}
	m := budget.Mechanism{Kind: budget.DiscreteLaplace, Parameter: big.NewRat(parameter, 1)}
	if name[0] == 'G' {
		m.Kind = budget.DiscreteGaussian
	}
	return m
}

func noiseNamed(name string) Noise { return NoiseOf(mechanismNamed(name)) }

// drawn is a sequence of draws of noise.
type drawn struct {
	mechanism budget.Mechanism
	bits      *noise.Bits
	left      []int64
}

func newDrawn(t testing.TB, name string) *drawn {
	t.Helper()
	key, err := noise.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return &drawn{mechanism: mechanismNamed(name), bits: noise.NewStreams(key, t.Name()).Noise([]byte(name), nil, 0)}
}

func (d *drawn) next() float64 {
	if len(d.left) == 0 {
		d.left = make([]int64, noise.BlockCells)
		add := noise.AddDiscreteLaplace
		if d.mechanism.Kind == budget.DiscreteGaussian {
			add = noise.AddDiscreteGaussian
		}
		if err := add(d.bits, d.mechanism.Parameter, d.left); err != nil {
			panic(err)
		}
	}
	x := d.left[0]
	d.left = d.left[1:]
	return float64(x)
}

// population is a group's rows, as values from −1 to 1 of half a range.
type population struct {
	name   string
	values []float64
}

// populationOf returns a group of this many rows.
func populationOf(name string, rows int, value func(i int) float64) population {
	p := population{name: name}
	for i := range rows {
		p.values = append(p.values, max(-1, min(1, value(i))))
	}
	return p
}

// populations returns groups from a single row to very many.
func populations(sizes ...int) []population {
	var out []population
	for _, n := range sizes {
		share := func(i int) float64 { return (float64(i) + 0.5) / float64(n) }
		out = append(out,
			populationOf("all equal", n, func(int) float64 { return 0.3 }),
			populationOf("skewed", n, func(i int) float64 { return 2*math.Pow(share(i), 4) - 0.99 }),
			populationOf("heavy tails", n, func(i int) float64 { return 0.02/(1-share(i)) - 0.95 }),
			populationOf("even", n, func(i int) float64 { return 1.9*share(i) - 0.95 }))
	}
	return out
}

// latticeSums returns the count, the sum and the sum of squares of a population's values on a lattice with half steps
// on either side.
func (p population) latticeSums(half float64) (count, sum, squares float64) {
	for _, v := range p.values {
		x := math.Floor(v*half + 0.5)
		count, sum, squares = count+1, sum+x, squares+x*x
	}
	return count, sum, squares
}

// tally counts intervals.
type tally struct{ all, covering, bounded float64 }

func (c *tally) add(f Figure, truth float64) {
	near := 1e-9 * math.Abs(truth) // rounding error of the truth
	c.addInterval(!(truth < f.Low-near || truth > f.High+near), f.HasInterval())
}

// addInterval counts an interval. A figure without one leaves every value open, and so covers the truth.
func (c *tally) addInterval(covers, bounded bool) {
	c.all++
	if bounded {
		c.bounded++
	}
	if covers {
		c.covering++
	}
}

// isUnlikely reports whether the share of covering intervals is outside low to high and the chance of that is below
// 1e-9 for any coverage between them: by Chernoff's bound, P(K/n beyond k/n) ≤ exp(−n·D(k/n ‖ p)).
func (c tally) isUnlikely(low, high float64) bool {
	share := c.covering / c.all
	p := max(low, min(high, share))
	divergence := 0.0
	if share > 0 {
		divergence += share * math.Log(share/p)
	}
	if share < 1 {
		divergence += (1 - share) * math.Log((1-share)/(1-p))
	}
	return c.all*divergence > math.Log(1e9)
}

func (c tally) share() float64 { return c.covering / c.all }

// intervalsPerCase is the number of draws of each case: a share of at most 0.933 fails a test for 0.95, and at most
// 0.940 in the long run, with DPRELEASE_LONG. Planted faults get intervalsPerFault: shares up to 0.9455 fail, and up to
// 0.9402 for a bound of 0.945.
var intervalsPerCase = 8000

const intervalsPerFault = 100000

func init() {
	if os.Getenv("DPRELEASE_LONG") != "" {
		intervalsPerCase = 20000
	}
}

// outcomesOf lists x and P(x) of noise, up to 1e-11, from its law only.
func outcomesOf(name string) (x, p []float64) {
	m := mechanismNamed(name)
	parameter, _ := m.Parameter.Float64()
	last := 26 * parameter
	weight := func(x float64) float64 { return math.Exp(-math.Abs(x) / parameter) }
	if m.Kind == budget.DiscreteGaussian {
		last = 7 * math.Sqrt(parameter)
		weight = func(x float64) float64 { return math.Exp(-x * x / (2 * parameter)) }
	}
	all := 0.0
	for v := -math.Ceil(last); v <= last+1; v++ {
		x, p = append(x, v), append(p, weight(v))
		all += weight(v)
	}
	for i := range p {
		p[i] /= all
	}
	return x, p
}
