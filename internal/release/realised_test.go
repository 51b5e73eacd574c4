package release

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/synth"
)

// The test of this file holds the error that Adult's tables have against the one that their plan predicts. It reads the
// truth, as nothing else may.
//
// Failures by chance. The integers that are measured have independent noise, whose squares are held, by the number of
// columns, against the χ² law: with probability 2e^−24 < 1e-10 each lies beyond the bounds of Laurent & Massart (2000,
// lemma 1). Discrete Gaussian noise of a deviation of 200 and more is normal but for a factor below 1 + 1e-1000. The
// mean squared error of the cells is a weighted sum of χ² of known weights ([noiseOn]), and lies beyond 2 %, about 1 %
// of its root, with a probability that the test works out by the same bounds and wants below 1e-10.
//
// Power. Noise of pairs with a variance 2 % off is beyond their bar, whatever is drawn but for 1e-10.
const (
	realisedDraws    = 10
	realisedExponent = 24
	realisedOff      = 0.01 // of the root mean squared error
	equalSharesBar   = 0.66 // of the error that equal shares have
)

// TestAdultRealisesWhatIsPredicted draws every one-way and two-way table of Adult, and compares.
func TestAdultRealisesWhatIsPredicted(t *testing.T) {
	data := testkit.Data(t, "adult14.csv")
	p, err := planfile.Load(t.Context(),
		planfile.Spec{Path: filepath.Join(testkit.Root(t), "examples", "adult", "release.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	holdAgainstEqualShares(t, p)
	p = adultWays(t, "{rho: "+budget.FormatRat(p.Cost.Rho)+"}", "[1, 2]") // of the same noise, and planned in no time
	truth := adultTables(t, p, data)
	drawer := adultDrawer(t, p, data, realisedDraws)
	reader, err := synth.NewReader(p)
	if err != nil {
		t.Fatal(err)
	}
	squares, integers := make([]float64, 3), make([]int, 3) // of noise in its own deviation, by number of columns
	var realised, predicted float64
	for range realisedDraws {
		drawn := drawer.sealed(t)
		for i, m := range drawn.Measured {
			exact := residualOfCounts(t, p, p.Measurements[i], truth)
			order := len(p.Measurements[i].Query.Factors)
			variance := m.Measurement.Mechanism.Variance()
			for j, v := range m.Values.Int64Values() {
				e := float64(v - exact[j])
				squares[order] += e * e / variance
			}
			integers[order] += len(exact)
		}
		for i, table := range p.Tables {
			figures, err := reader.Statistic(i, drawn.Measured)
			if err != nil {
				t.Fatal(err)
			}
			for j, n := range truth[strings.Join(table.By, "|")] {
				e := figures.Unbiased.Value(j) - float64(n)
				realised += e * e
			}
			s := table.Statistics[0].StandardError
			predicted += s * s * float64(table.Cells)
		}
	}
	for order, n := range integers {
		x := float64(n)
		low, high := x-2*math.Sqrt(x*realisedExponent), x+2*math.Sqrt(x*realisedExponent)+2*realisedExponent
		t.Logf("%d integers of %d columns: squares of %.5f on the mean, between %.5f and %.5f but for 1e-10", n, order,
			squares[order]/x, low/x, high/x)
		if squares[order] < low || squares[order] > high {
			t.Errorf("%d integers of %d columns: squares of %.5f on the mean, not between %.5f and %.5f", n, order,
				squares[order]/x, low/x, high/x)
		}
	}
	bar := errorsOf(p).bar(realisedExponent) / predicted
	off := math.Sqrt(realised/predicted) - 1
	t.Logf("root mean squared error %.4f of predicted; squares are beyond ±%.4f with probability below 1e-10", 1+off,
		bar)
	if bar > 2*realisedOff-realisedOff*realisedOff {
		t.Errorf("the bar of squares is ±%.4f: an honest draw may be off by more than %v", bar, realisedOff)
	}
	if math.Abs(off) > realisedOff {
		t.Errorf("the root mean squared error is %.4f of predicted", 1+off)
	}
}

// holdAgainstEqualShares checks that the predicted error is well below that of measuring every table separately with
// an equal share of the budget, which the plan states too: with ρ in all, d tables have noise of variance d/2ρ.
func holdAgainstEqualShares(t *testing.T, p *compiled.Compiled) {
	t.Helper()
	if len(p.Strategies) != 1 || p.Strategies[0].Kind != strategy.Residuals {
		t.Fatalf("the strategies are %+v", p.Strategies)
	}
	s := p.Strategies[0]
	rho, _ := p.Cost.Rho.Float64()
	equal := math.Sqrt(float64(len(p.Tables)) / 2 / rho)
	at := slices.IndexFunc(s.Alternatives, func(a strategy.Alternative) bool { return a.Kind == strategy.EqualShares })
	if at < 0 || math.Abs(s.Alternatives[at].RMSE/equal-1) > 1e-4 {
		t.Errorf("equal shares would have an error of %.4f, the plan says %+v", equal, s.Alternatives)
	}
	var squares, cells float64
	for _, table := range p.Tables {
		e := table.Statistics[0].StandardError
		squares += e * e * float64(table.Cells)
		cells += float64(table.Cells)
	}
	predicted := math.Sqrt(squares / cells)
	t.Logf("predicted: a root mean squared error of %.3f, %.4f of the %.3f of equal shares", predicted, predicted/equal,
		equal)
	if predicted > equalSharesBar*equal || math.Abs(s.RMSE/predicted-1) > 1e-5 {
		t.Errorf("predicted %.4f, in the strategy %.4f; %v of equal shares are %.4f", predicted, s.RMSE, equalSharesBar,
			equalSharesBar*equal)
	}
}

// errorsOf is the law of the squared errors of all cells in all draws.
func errorsOf(p *compiled.Compiled) residualNoise {
	return noiseOn(p, realisedDraws, func(plan.Table) float64 { return 1 })
}

// adultTables are the true counts of every table, and of the total, in the order of the tables' keys.
func adultTables(t *testing.T, p *compiled.Compiled, data string) map[string][]int64 {
	t.Helper()
	count := adultTruth(t, p, data)
	out := map[string][]int64{"": {0}}
	for _, n := range count(p.Tables[0].By) {
		out[""][0] += n
	}
	for _, table := range p.Tables {
		counts, keys := count(table.By), []string{""}
		levels, err := p.Query(table).Levels(p.Release())
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range levels {
			next := make([]string, 0, len(keys)*l.Size())
			for _, key := range keys {
				for _, c := range l.Categories {
					if i > 0 {
						next = append(next, key+"|"+c.Code)
					} else {
						next = append(next, c.Code)
					}
				}
			}
			keys = next
		}
		cells, sum := make([]int64, len(keys)), int64(0)
		for i, key := range keys {
			cells[i] = counts[key]
			sum += cells[i]
		}
		if sum != out[""][0] {
			t.Fatalf("table %s counts %d rows of %d", table.Path, sum, out[""][0])
		}
		out[strings.Join(table.By, "|")] = cells
	}
	return out
}

// residualOfCounts are a measurement's exact integers by their definition: along every axis n·x_j − Σx.
func residualOfCounts(t *testing.T, p *compiled.Compiled, m plan.Measurement, truth map[string][]int64) []int64 {
	t.Helper()
	var by []string
	for _, f := range m.Query.Factors {
		if f.Basis != plan.Residual || f.Within != "" {
			t.Fatalf("%s is no residual of columns of one level", m.ID)
		}
		by = append(by, f.String())
	}
	x := slices.Clone(truth[strings.Join(by, "|")])
	levels, err := m.Query.Levels(p.Release())
	if err != nil || int64(len(x)) != m.Cells {
		t.Fatalf("%s: %d integers (%v)", m.ID, len(x), err)
	}
	stride := 1
	for i := len(levels) - 1; i >= 0; i-- {
		n := levels[i].Size()
		for start := range x {
			if start/stride%n > 0 {
				continue
			}
			var sum int64
			for j := range n {
				sum += x[start+j*stride]
			}
			for j := range n {
				x[start+j*stride] = int64(n)*x[start+j*stride] - sum
			}
		}
		stride *= n
	}
	return x
}
