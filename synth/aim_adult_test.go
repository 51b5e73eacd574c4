package synth

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/testdata"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth/graphical"
)

// taxiSizes are the categories of the columns of taxi.csv.
var taxiSizes = []int{21, 101, 78, 78, 9, 11, 11, 11, 11, 11}

// coded is the codes of a file, by column.
func coded(t testing.TB, file string, sizes []int) [][]uint32 {
	t.Helper()
	f, err := os.Open(testdata.Data(t, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	codes := make([][]uint32, len(sizes))
	for i := range codes {
		codes[i] = make([]uint32, len(lines)-1)
		for row, line := range lines[1:] {
			code, err := strconv.ParseUint(line[i], 10, 32)
			if err != nil || int(code) >= sizes[i] {
				t.Fatalf("row %d, column %d: %q is no code", row, i, line[i])
			}
			codes[i][row] = uint32(code)
		}
	}
	return codes
}

// tallied counts the rows of each cell of a clique.
func tallied(sizes []int, codes [][]uint32, c graphical.Clique) []int64 {
	cells := 1
	place := make([]int32, len(codes[0]))
	for _, a := range c {
		for row, code := range codes[a] {
			place[row] = place[row]*int32(sizes[a]) + int32(code)
		}
		cells *= sizes[a]
	}
	out := make([]int64, cells)
	for _, p := range place {
		out[p]++
	}
	return out
}

// marginalTruth answers AIM from rows whose codes it knows, with noise and choices as they are in a release.
type marginalTruth struct {
	streams    *noise.Streams
	candidates []graphical.Clique
	counts     [][]int64
	trace      func(string, ...any)
}

func (o *marginalTruth) Select(_ context.Context, round int, how budget.Mechanism, candidates []int, models [][]int64, penalties []int64) (int, error) {
	scores := make([]int64, len(candidates))
	for i, c := range candidates {
		for cell, count := range o.counts[c] {
			d := count*plan.ModelScale - models[i][cell]
			scores[i] += max(d, -d)
		}
		scores[i] = int64(len(o.candidates[c])) * (scores[i] - penalties[i])
	}
	i, err := noise.ExponentialMechanism(o.streams.Selection([]byte("t"), hashed(scores), round), scores, how.Parameter, 3*plan.ModelScale, false)
	if err != nil {
		return 0, err
	}
	return candidates[i], nil
}

func (o *marginalTruth) Measure(_ context.Context, round, choice int, mechanism budget.Mechanism) ([]int64, error) {
	answers := append([]int64(nil), o.counts[choice]...)
	if o.trace != nil {
		o.trace("round %d: %v of %d cells, σ %.1f", round, o.candidates[choice], len(answers), math.Sqrt(mechanism.Variance()))
	}
	return answers, noise.AddDiscreteGaussian(o.streams.Noise(fmt.Append(nil, round, choice), hashed(answers), 0), mechanism.Parameter, answers)
}

// gaussianOf is noise of sensitivity 1 that costs ρ at most.
func gaussianOf(rho *big.Rat) budget.Mechanism {
	m := budget.Mechanism{Kind: budget.DiscreteGaussian, L1: big.NewInt(1), L2Squared: big.NewInt(1)}
	m.Parameter = new(big.Rat).Inv(new(big.Rat).Add(rho, rho))
	return m
}

// aimRun is one making of microdata.
type aimRun struct {
	model, rows      float64 // L1/N over all marginals of three columns
	fitting, drawing time.Duration
	rounds           int
	cells            float64
}

// runAIM makes microdata of some rows with this ρ.
func runAIM(t testing.TB, sizes []int, codes [][]uint32, rho *big.Rat, key noise.Key, trace func(string, ...any)) (out aimRun) {
	streams := noise.NewStreams(key, "plan")
	part := func(of *big.Rat, n, d int64) *big.Rat { return new(big.Rat).Mul(of, big.NewRat(n, d)) }
	single := gaussianOf(part(rho, 1, 5*int64(len(sizes))))
	var sorted []classes
	var columns, variances [][]float64
	classCodes, classSizes := make([][]uint32, len(sizes)), make([]int, len(sizes))
	for i, n := range sizes {
		counts := tallied(sizes, codes, graphical.Clique{i})
		if err := noise.AddDiscreteGaussian(streams.Noise(fmt.Append(nil, "column", i), hashed(counts), 0), single.Parameter, counts); err != nil {
			t.Fatal(err)
		}
		e := evidence{make([]float64, n), single.Variance()}
		for j, c := range counts {
			e.counts[j] = float64(c)
		}
		c := classesOf(e)
		sorted = append(sorted, c)
		sums, spreads := make([]float64, len(c.size)), make([]float64, len(c.size))
		for j, count := range e.counts {
			sums[c.of[j]] += count
			spreads[c.of[j]] += e.variance
		}
		columns, variances = append(columns, sums), append(variances, spreads)
		classSizes[i] = len(c.size)
		for _, code := range codes[i] {
			classCodes[i] = append(classCodes[i], uint32(c.of[code]))
		}
	}
	o := &marginalTruth{streams: streams, candidates: closure(len(sizes), 3), trace: trace}
	for _, c := range o.candidates {
		o.counts = append(o.counts, tallied(classSizes, classCodes, c))
	}
	left := part(rho, 4, 5)
	each := part(left, 1, 16*int64(len(sizes)))
	choose := part(each, 8, 10)
	epsilon, _ := choose.Float64()
	choice := budget.Mechanism{Kind: budget.ExponentialMechanism, Parameter: new(big.Rat).SetFrac64(int64(math.Sqrt(epsilon)*(1<<24)), 1<<24)}
	schedule := plan.NewSchedule(rho, left, choice, gaussianOf(part(each, 9, 10)))

	start := time.Now()
	a := newAIM(columns, variances, 3, graphical.Size{Total: 1 << 19, Largest: 1 << 18})
	rounds, err := a.run(context.Background(), schedule, o)
	if err != nil {
		t.Fatal(err)
	}
	out.fitting, out.rounds, out.cells = time.Since(start), rounds, a.model.Size().Total
	start = time.Now()
	n := int(a.totals.mean + 0.5)
	r := seeded([32]byte{1})
	drawn := drawModel(a.model, a.domain, n, r)
	for i := range drawn {
		drawn[i] = spreadCodes(drawn[i], sorted[i], r)
	}
	out.drawing = time.Since(start)
	out.rows = threeWay(sizes, codes, drawn)
	out.model = a.threeWay(sizes, sorted, codes)
	return out
}

// threeWay is what threeWay is of rows, of the model's counts themselves.
func (a *aim) threeWay(sizes []int, sorted []classes, codes [][]uint32) float64 {
	var asked []graphical.Clique
	for _, c := range a.candidates {
		if len(c) == 3 {
			asked = append(asked, c)
		}
	}
	var all atomic.Int64 // in 2⁻³⁰
	a.model.Marginals(asked, func(i int, counts []float64) {
		x, y, z := asked[i][0], asked[i][1], asked[i][2]
		total, d := float64(len(codes[0])), 0.0
		for cell, count := range tallied(sizes, codes, asked[i]) {
			k, j, l := cell%sizes[z], cell/sizes[z]%sizes[y], cell/sizes[z]/sizes[y]
			p := counts[(sorted[x].of[l]*a.domain[y]+sorted[y].of[j])*a.domain[z]+sorted[z].of[k]] * sorted[x].share[l] * sorted[y].share[j] * sorted[z].share[k]
			d += math.Abs(p/a.model.Total() - float64(count)/total)
		}
		all.Add(int64(d * (1 << 30)))
	})
	return float64(all.Load()) / (1 << 30) / float64(len(asked))
}

// TestAIM compares AIM with the truth, as TestAdult does.
func TestAIM(t *testing.T) {
	if os.Getenv("DPRELEASE_LONG") == "" {
		t.Skip("set DPRELEASE_LONG to run it")
	}
	for _, c := range []struct {
		name  string
		file  string
		sizes []int
		rho   string
		most  float64
	}{
		{"adult, ε=0.1", "adult15.csv", adultSizes, "0.000177138", 0.32},
		{"adult, ε=1", "adult15.csv", adultSizes, "0.0149731", 0.125},
		{"adult, ε=10", "adult15.csv", adultSizes, "1.0907857", 0.085},
		{"taxi, ε=1", "taxi.csv", taxiSizes, "0.0149731", 0.15},
	} {
		t.Run(c.name, func(t *testing.T) {
			codes := coded(t, c.file, c.sizes)
			rho, _ := new(big.Rat).SetString(c.rho)
			mean, runs := 0.0, 5
			if n, err := strconv.Atoi(os.Getenv("DPRELEASE_LONG")); err == nil {
				runs = n
			}
			for run := range runs {
				r := runAIM(t, c.sizes, codes, rho, noise.Key{byte(run + 1)}, nil)
				t.Logf("L1/N of all 3-ways: model %.4f, rows %.4f; %d rounds, %.0f cells, %v, rows %v", r.model, r.rows, r.rounds, r.cells, r.fitting, r.drawing)
				mean += r.rows / float64(runs)
			}
			t.Logf("mean %.4f", mean)
			if mean > c.most {
				t.Errorf("the mean L1/N of all 3-ways is %.4f, more than %.3f", mean, c.most)
			}
		})
	}
}
