package synth

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what shares rest on: the noisy integers that move a cell or its total, found by moving each.

// restingShares are releases whose table m has shares, and whose other tables decide how it is measured.
var restingShares = []struct {
	name, budget, weight, marginals string
	classes                         int // of m's cells; 0: m is one measurement
}{
	{"groups of unequal size", "{rho: 1}", "",
		"m: {by: [area, sex], STATS}, n: {by: [area.coarse, sex]}, o: {by: [area.top]}", 3},
	{"groups of groups", "{rho: 1}", "", "m: {by: [area.coarse, sex], STATS}, n: {by: [area]}, o: {by: [area.top]}", 2},
	{"three attributes", "{rho: 1}", "",
		"m: {by: [area, sex, kind], STATS}, n: {by: [area.coarse, sex]}, o: {by: [kind, area.top]}", 3},
	{"ranges", "{rho: 1}", "", "m: {by: [age, sex], STATS}, n: {by: [age], ranges: [age]}", 15},
	{"prefixes", "{rho: 1}", "", "m: {by: [sex, age], STATS}, n: {by: [age, sex], cumulative: [age]}", 15},
	{"groups of a column with ranges", "{rho: 1}", "",
		"m: {by: [age.ten, sex], STATS}, n: {by: [age], ranges: [age]}", 1},
	{"two leaves", "{rho: 1, split: {a: 1/2, b: 1/2}}", "",
		"m: {by: [area, kind], STATS, budget: a}, n: {by: [area.coarse, kind], budget: b}, q: {by: [kind, sex], budget: a}", 1},
	{"two leaves of counts", "{epsilon: 1, split: {a: 1/2, b: 1/2}}", "",
		"m: {by: [sex, kind], STATS, budget: a}, n: {by: [sex, kind, vary], budget: b}, q: {by: [kind], budget: b}", 1},
	{"part of a larger table", "{epsilon: 1}", "", "m: {by: [kind, sex], STATS}, n: {by: [kind, sex, vary]}", 1},
	{"derived", "{rho: 1}", "", "m: {by: [old, sex], STATS}, n: {by: [age, sex]}", 1},
	{"one measurement", "{rho: 1}", "", "m: {by: [area, sex], STATS}", 0},
	{"one measurement, weighted", "{rho: 1}", "{from: w, range: [0, 4], step: 0.5, kind: design}",
		"m: {by: [area, sex], STATS}, n: {by: [sex]}", 0},
}

// restingOn plans a release of shares of the table's total, and of the cells that agree in each of its attributes.
func restingOn(t *testing.T, budget, weight, marginals string) *compiled.Compiled {
	t.Helper()
	by, _, _ := strings.Cut(strings.TrimPrefix(marginals, "m: {by: ["), "]")
	stats := "stats: [share"
	for i, a := range strings.Split(by, ", ") {
		stats += fmt.Sprintf(", {share: {of: [%s]}, as: share%d}", a, i)
	}
	if weight != "" {
		weight = "\n    weight: " + weight
	}
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: ` + budget + `
tables:
  t:
    source: {csv: t.csv}
    unit: row` + weight + `
    columns:
      area:
        values: [a, b, c, d, e, f]
        levels: {coarse: {x: [a], y: [b, c], z: [d, e, f]}, top: {u: [a], v: [b, c, d, e, f]}}
      sex: {values: [f, m]}
      kind: {values: [k1, k2, k3]}
      vary: {values: [v1, v2, v3, v4]}
      age: {type: integer, range: [0, 14], levels: {ten: {width: 4}}}
      old: {derived_from: age.ten}
marginals: {` + strings.ReplaceAll(marginals, "STATS", stats+"]") + "}\n"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return compiled.Of(p.Plan())
}

// moving is a noisy integer, by its noise and by what a cell and its total change as it is raised by one.
type moving struct {
	kind        budget.Kind
	parameter   float64
	over, under float64
}

// newMoving is false for an integer that moves neither.
func newMoving(noise Noise, over, under float64) (moving, bool) {
	rounded := func(x float64) float64 { return math.Round(x*noise[0].Weight*1e7)/1e7 + 0 }
	m := moving{noise[0].Kind, noise[0].Parameter, rounded(over), rounded(under)}
	return m, m.over != 0 || m.under != 0
}

// TestSharesRestOnWhatMovesThem: the parts of a share, which are worked out once for all cells of a class, are those
// that move each of these cells and its total. Every noisy integer is raised by one.
func TestSharesRestOnWhatMovesThem(t *testing.T) {
	for _, c := range restingShares {
		t.Run(c.name, func(t *testing.T) {
			p := restingOn(t, c.budget, c.weight, c.marginals)
			n, moved, noises := movedCounts(t, p)
			if classes := slices.Max(n.classes) + 1; (c.classes > 0) != (n.estimate != nil) ||
				classes != max(c.classes, 1) {
				t.Errorf("put together: %v, in %d classes", n.estimate != nil, classes)
			}
			sizes := make([]int, len(n.keys))
			for i, key := range n.keys {
				sizes[i] = key.Level.Size()
			}
			for _, f := range n.planned.Figures {
				of, all := statistic.Totals(f, n.planned.By, sizes)
				for cell := range n.cells {
					says, got := map[moving]int64{}, map[moving]int64{}
					for _, part := range n.shareParts(f, slices.Index(n.classes, n.classes[cell]), sizes, n.cells/all) {
						if m, moves := newMoving(part.Noise, part.Numerator, part.Denominator); moves {
							says[m] += int64(part.Noise[0].Count)
						}
					}
					for i, counts := range moved {
						var total float64
						for other, x := range counts {
							if of[other] == of[cell] {
								total += x
							}
						}
						if m, moves := newMoving(noises[i], counts[cell], total); moves {
							got[m]++
						}
					}
					if !maps.Equal(says, got) {
						t.Fatalf("%s of cell %d: rests on %v\nis moved by %v", f.Name, cell, says, got)
					}
				}
			}
		})
	}
}

// movedCounts are the numbers of the first table of a plan, and by how much each of its counts moves as a noisy integer
// is raised by one, for every integer, with its noise.
func movedCounts(t *testing.T, p *compiled.Compiled) (n *numbers, moved [][]float64, noises []Noise) {
	t.Helper()
	planned, estimates := p.Tables[0], []compiled.Estimate{}
	st := planned.Statistics[0]
	var e *compiled.Estimate
	if st.Measurement == "" {
		all, err := p.Estimates()
		if err != nil {
			t.Fatal(err)
		}
		estimates, e = all, &all[0]
	}
	byID := map[string]measured.Measured{}
	for _, m := range p.Measurements {
		byID[m.ID] = withAnswers(m, make([]int64, m.Cells))
	}
	counts := func() Statistic {
		if e == nil {
			return standaloneStatistic(st, byID[st.Measurement], nil)
		}
		r, err := newReconstruction(estimates[0], byID)
		if err != nil {
			t.Fatal(err)
		}
		return r.statisticOf(slices.Index(e.Tables, 0), st)
	}
	keys, err := keysOf(p.Release(), p.PublishedQuery(planned))
	if err != nil {
		t.Fatal(err)
	}
	table := Table{Keys: keys, Statistics: []Statistic{counts()}, Cells: int(planned.Cells)}
	marginal := 0
	if e != nil {
		marginal = slices.Index(e.Tables, 0)
	}
	for _, m := range p.Measurements {
		for i := range m.Cells {
			raised := make([]int64, m.Cells)
			raised[i] = 1
			byID[m.ID] = withAnswers(m, raised)
			moved, noises = append(moved, counts().Unbiased.Float64Values()), append(noises, NoiseOf(m.Mechanism))
		}
		byID[m.ID] = withAnswers(m, make([]int64, m.Cells))
	}
	return newNumbers(p.Release(), planned, table, byID, e, marginal), moved, noises
}

// TestFiguresHaveLawsOfTheirOwn: the figures of a table are what each is without the others, also where the name of
// one, with a digit, is that of another.
func TestFiguresHaveLawsOfTheirOwn(t *testing.T) {
	p := restingOn(t, "{rho: 1}", "", "m: {by: [age, sex], STATS}, n: {by: [age], ranges: [age]}")
	together, _, _ := movedCounts(t, p)
	for i := range together.counts {
		together.counts[i] = float64(i % 7)
	}
	numbers, err := together.allNumbers()
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range together.planned.Figures {
		single := *together
		single.laws, single.planned.Figures = map[string]any{}, together.planned.Figures[i:i+1]
		want, err := single.allNumbers()
		if err != nil {
			t.Fatal(err)
		}
		for cell := range single.cells {
			if got := numbers[i].Low.Value(cell); got != want[0].Low.Value(cell) {
				t.Errorf("%s of cell %d: from %v, and without the other figures from %v", f.Name, cell, got,
					want[0].Low.Value(cell))
			}
		}
	}
}
