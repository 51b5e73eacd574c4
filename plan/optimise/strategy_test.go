package optimise_test

import (
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// blueprintOf returns the blueprint of a release, with its groups.
func blueprintOf(t testing.TB, r *spec.Release) *optimise.Blueprint {
	t.Helper()
	tables, err := workload.Expand(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := optimise.NewBlueprint(r, tables, nil, nil, nil, 1, strategy.RangedPerLeaf)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// divisionOf returns the division of a release's budget.
func divisionOf(t testing.TB, b *optimise.Blueprint) *optimise.Division {
	t.Helper()
	d, _, err := b.ChooseNoise()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The shares of a leaf add up to at most 1, exactly, and to at least 1 − 10⁻⁶.
func TestSharesOfALeaf(t *testing.T) {
	attributes := []string{"sex", "kind", "age", "age.half", "age.third", "age.odd", "age.same", "age.whole"}
	rapid.Check(t, func(t *rapid.T) {
		marginals := "{"
		leaves := rapid.IntRange(1, 2).Draw(t, "leaves")
		for i := range rapid.IntRange(leaves, 6).Draw(t, "marginals") {
			by := rapid.SliceOfNDistinct(rapid.SampledFrom(attributes), 0, 3,
				func(a string) string { c, _, _ := strings.Cut(a, "."); return c }).Draw(t, "by")
			marginals += fmt.Sprintf("m%d: {by: [%s], budget: l%d, weight: %s}, ", i, strings.Join(by, ", "), i%leaves,
				rapid.SampledFrom([]string{"1", "1/3", "1e-6", "1e6"}).Draw(t, "weight"))
		}
		split := rapid.SampledFrom([]string{"rho: 1/10", "epsilon: 1"}).Draw(t, "budget") + ", split: {l0: 1}"
		if leaves == 2 {
			split = strings.Replace(split, "l0: 1", "l0: 1/7, l1: 6/7", 1)
		}
		text := fmt.Sprintf(plantest.Crossed, rapid.SampledFrom([]string{"add-remove", "replace"}).Draw(t,
			"neighbours"),
			"{"+split+"}", rapid.IntRange(1, 3).Draw(t, "rows"), marginals+"}")
		r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: strings.Replace(text, ", }", "}", 1)})
		if err != nil {
			t.Fatal(err)
		}
		tables, err := workload.Expand(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := optimise.NewBlueprint(r, tables, nil, nil, nil, 1, strategy.RangedPerLeaf)
		if err != nil {
			t.Fatal(err)
		}
		d, _, err := b.ChooseNoise()
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]*big.Rat, leaves)
		for i := range sums {
			sums[i] = new(big.Rat)
		}
		for _, p := range d.Measurements {
			if p.Share.Sign() <= 0 {
				t.Fatalf("%s has share %v", p.Id(), p.Share)
			}
			sums[p.Group.Leaf].Add(sums[p.Group.Leaf], p.Share)
		}
		for i, sum := range sums {
			if sum.Cmp(big.NewRat(1, 1)) > 0 || sum.Cmp(big.NewRat(1<<20-1, 1<<20)) < 0 {
				t.Errorf("leaf %d spends %s of itself", i, sum.FloatString(12))
			}
		}
	})
}

// Shares are in proportion to parts of any size, and equal parts are exact.
func TestSharesAreInProportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.Float64Range(1e-12, 1e12), 1, 200).Draw(t, "parts")
		var sum float64
		for _, p := range parts {
			sum += p
		}
		total := new(big.Rat)
		for i, s := range optimise.ExactShares(parts) {
			total.Add(total, s)
			if v, _ := s.Float64(); math.Abs(v/(parts[i]/sum)-1) > 0x1p-28 {
				t.Fatalf("a share of %v for %v of %v", v, parts[i], sum)
			}
		}
		if total.Cmp(big.NewRat(1, 1)) > 0 {
			t.Fatalf("the shares add up to %s", total.FloatString(20))
		}
	})
	for _, s := range optimise.ExactShares([]float64{3, 3, 3, 3}) {
		if s.Cmp(big.NewRat(1, 4)) != 0 {
			t.Errorf("a quarter is %v", s)
		}
	}
}

// The sensitivity of a residual is enumerated over all pairs of neighbours. No pair exceeds what is claimed, and the
// L2 sensitivity is attained if columns have one level or units are added and removed.
func TestSensitivityOfResiduals(t *testing.T) {
	for _, c := range []struct {
		marginals string
		most      int64 // rows of a unit
	}{
		{"{x: {by: [sex, kind]}}", 3}, {"{x: {every: [2], by: [sex, kind, age.third]}}", 2}, {"{x: {by: [age]}}", 3},
		{"{x: {by: [age]}, y: {by: [age.half]}}", 3}, {"{x: {by: [age, sex]}, y: {by: [age.odd]}}", 2},
		{"{x: {by: [age, kind]}, y: {by: [age.odd]}, z: {by: [age.whole]}}", 2},
	} {
		for k := int64(1); k <= c.most; k++ {
			for _, n := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
				r := plantest.CrossedRelease(t, string(n), "{rho: 1}", int(k), c.marginals)
				for _, g := range blueprintOf(t, r).Groups {
					d, why, err := g.Residuals(r)
					if err != nil || !why.IsZero() {
						t.Fatal(why, err)
					}
					for _, p := range d.Measurements {
						assertMoves(t, n, k, p)
					}
				}
			}
		}
	}
}

// assertMoves compares a claimed sensitivity with all units of up to k rows, each distinct row once.
func assertMoves(t *testing.T, n spec.Neighbours, k int64, p optimise.PlannedMeasurement) {
	t.Helper()
	matrix := plantest.MatrixOf(p.Measurement().Query.Factors)
	if int64(len(matrix)) != p.Measurement().Cells {
		t.Fatalf("%s has %d cells, not %d", p.Id(), p.Measurement().Cells, len(matrix))
	}
	seen := map[string]bool{}
	var rows [][]float64 // what one row moves
	for cell := range matrix[0] {
		row := make([]float64, len(matrix))
		for i := range matrix {
			row[i] = matrix[i][cell]
		}
		if !seen[fmt.Sprint(row)] {
			seen[fmt.Sprint(row)] = true
			rows = append(rows, row)
		}
	}
	var units [][]float64
	var add func(from int, left int64, moved []float64)
	add = func(from int, left int64, moved []float64) {
		units = append(units, moved)
		for i := from; i < len(rows) && left > 0; i++ {
			next := slices.Clone(moved)
			for j, v := range rows[i] {
				next[j] += v
			}
			add(i, left-1, next)
		}
	}
	add(0, k, make([]float64, len(matrix)))
	from := [][]float64{make([]float64, len(matrix))}
	if n == spec.Replace {
		from = units
	}
	var l1, l2 float64
	for _, a := range from {
		for _, b := range units {
			var sum, squares float64
			for i := range a {
				sum += math.Abs(a[i] - b[i])
				squares += (a[i] - b[i]) * (a[i] - b[i])
			}
			l1, l2 = max(l1, sum), max(l2, squares)
		}
	}
	nested := slices.ContainsFunc(p.Measurement().Query.Factors, func(f plan.Factor) bool {
		return f.Within != "" ||
			f.Basis == plan.Ranges
	})
	claimed1, claimed2 := optimise.FloatOf(p.L1), optimise.FloatOf(p.L2Squared)
	if claimed1 < l1 || claimed2 < l2 || n == spec.AddRemove && (claimed1 != l1 || claimed2 != l2) || !nested &&
		claimed2 != l2 {
		t.Errorf("%s, %d rows, %s: moves by %v and squares of %v; claimed %v and %v", n, k, p.Id(), l1, l2, claimed1,
			claimed2)
	}
}

// together are specs with repeats in two leaves, marginals within and around others, totals, nested levels and levels
// that do not nest, for a budget of ρ.
var together = []struct{ neighbours, budget, marginals string }{
	{"add-remove", "{minimise: sum, rho: 1/8}", "{x: {every: [0, 1, 2], by: [sex, kind, age.third]}}"},
	{"add-remove", "{minimise: sum, rho: 1/8}", "{x: {by: [sex]}, y: {by: [kind]}}"},
	{"replace", "{minimise: sum, rho: 1/8}", "{x: {by: [kind, sex]}, y: {by: [sex]}, z: {by: [sex]}}"},
	{"replace", "{minimise: sum, rho: 1/8, split: {a: 1/3, b: 2/3}}",
		"{x: {by: [kind, sex], budget: a}, y: {every: [1], by: [sex, age], budget: b}, z: {by: [], budget: b}}"},
	{"add-remove", "{minimise: sum, rho: 1/8, split: {a: 1/3, b: 2/3}}",
		"{x: {every: [1, 3], by: [sex, kind, age], budget: a, weight: 5}, y: {every: [0, 2], by: [age, kind, sex], " +
			"budget: b}}"},
	{"add-remove", "{minimise: sum, rho: 1/8}",
		"{x: {by: [age, sex]}, y: {by: [age.half, kind]}, z: {by: [age.half]}}"},
	{"add-remove", "{minimise: sum, rho: 1/8, split: {a: 1/3, b: 2/3}}",
		"{x: {by: [age, sex], budget: a}, y: {by: [age.odd], budget: b}, z: {by: [sex, age.odd], budget: b}}"},
	// one table by itself beside levels
	{"add-remove", "{minimise: sum, rho: 1/8, split: {a: 1/3, b: 2/3}}",
		"{x: {by: [sex], budget: a}, y: {by: [sex, age], budget: b}, z: {by: [age.half], budget: b}}"},
	// that do not lie within each other
	{"replace", "{minimise: sum, rho: 1/8}", "{x: {by: [age.half]}, y: {by: [age.third]}}"},
	{"replace", "{minimise: sum, rho: 1/8}", "{x: {by: [age.half, sex]}, y: {by: [age.same]}}"},
	{"add-remove", "{minimise: sum, rho: 1/8}", "{x: {by: [age.whole]}, y: {by: [age.half]}, z: {by: []}}"},
	{"add-remove", "{minimise: sum, rho: 1/8}", "{x: {by: [age, sex]}, y: {by: [sex, age]}}"}, // asked twice
	{"replace", "{minimise: sum, rho: 1/8}", "{x: {by: []}}"},
	{"add-remove", "{minimise: sum, rho: 1/8, split: {a: 1/3, b: 2/3}}",
		"{x: {by: [], budget: a}, y: {by: [], budget: b}}"},
}

// The stated errors of tables equal those of dense least squares over all measurements, cell by cell. The pages round
// them up to seven digits.
func TestTablesAreEstimatedByLeastSquares(t *testing.T) {
	for _, c := range together {
		p := plantest.CrossedPlan(t, c.neighbours, c.budget, 2, c.marginals)
		variances := make([]float64, len(p.Measurements))
		for i, m := range p.Measurements {
			variances[i] = m.Mechanism.Variance()
		}
		estimates, err := compiled.Of(p).Estimates()
		if err != nil {
			t.Fatal(err)
		}
		said := map[int][]float64{}
		for _, e := range estimates {
			for marginal, at := range e.Tables {
				said[at] = e.CellVariances(e.Axes[marginal], e.Variances)
			}
		}
		for i, table := range p.Tables {
			queries := plantest.MatrixOf(p.Query(table).Factors)
			covariance := plantest.LeastSquares(t, p.Measurements, variances, queries)
			var sum, most float64
			for j := range queries {
				v := covariance.At(j, j)
				sum, most = sum+v, max(most, v)
				if math.Abs(said[i][j]/v-1) > 1e-9 {
					t.Errorf("%s, %s: cell %d of %s has variance %v, said to be %v", c.neighbours, c.marginals, j,
						table.Path, v,
						said[i][j])
				}
			}
			s := table.Statistics[0]
			mean := math.Sqrt(sum / float64(len(queries)))
			roundedUp := func(got, want float64) bool { return got > want*(1-1e-9) && got < want*(1+1e-6) }
			uneven := most > sum/float64(len(queries))*(1+1e-6)
			if !roundedUp(s.StandardError, mean) || (s.Uneven > 0) != uneven || uneven &&
				!roundedUp(s.Uneven, math.Sqrt(most)) {
				t.Errorf("%s, %s: %s has error %v, %v at most; said to be %v, %v", c.neighbours, c.marginals,
					table.Path, mean,
					math.Sqrt(most), s.StandardError, s.Uneven)
			}
		}
	}
}

// A group is chosen by the error of each design from its own measurements only. That error equals the error of dense
// least squares or, for tables measured by themselves with columns of several levels, the error of each table. No
// design with a smaller error is rejected.
func TestDesignsAreJudgedByTheirErrors(t *testing.T) {
	pure := []struct{ neighbours, budget, marginals string }{
		{"add-remove", "{epsilon: 1}", "{x: {every: [0, 1, 2], by: [sex, kind, age.third]}}"},
		{"replace", "{epsilon: 1}", "{x: {by: [kind, sex]}, y: {by: [sex]}, z: {by: [sex]}}"},
		{"add-remove", "{epsilon: 1, delta: 1e-9}", "{x: {by: [sex]}, y: {by: [kind]}}"},
	}
	for _, c := range append(pure, together...) {
		r := plantest.CrossedRelease(t, c.neighbours, c.budget, 2, c.marginals)
		b := blueprintOf(t, r)
		chosen := divisionOf(t, b)
		for i, g := range b.Groups {
			taken := g.Designs[chosen.Choice()[i]]
			for _, d := range g.Designs {
				var measured []plan.Measurement
				var variances []float64 // for ρ = 1
				for i, p := range d.Measurements {
					measured, variances = append(measured, p.Measurement()), append(variances, p.Variance(d.Parts()[i]))
				}
				var sum, weighted float64
				for _, table := range g.Tables {
					var of float64
					if d.Kind == strategy.Direct && g.HasSeparableLevels() {
						for i, m := range measured {
							if m.ID == table.Path {
								of = variances[i] * float64(table.Cells)
							}
						}
					} else {
						queries := plantest.MatrixOf(table.Query().Factors)
						of = mat.Trace(plantest.LeastSquares(t, measured, variances, queries))
					}
					sum += of
					weighted += table.Weight * of
				}
				if math.Abs(d.Spread/sum-1) > 1e-8 || math.Abs(d.Error/weighted-1) > 1e-8 {
					t.Errorf("%s, %s: %s of %d tables has Σ variance %v, weighted %v; said to be %v, %v", c.neighbours,
						c.marginals,
						d.Kind, len(g.Tables), sum, weighted, d.Spread, d.Error)
				}
				if d.Noise == taken.Noise && d.Error < taken.Error*(1-1e-6) &&
					!(g.HasSeparableLevels() && taken.Kind == strategy.Residuals) {
					t.Errorf("%s, %s: %s with %v instead of %s with %v", c.neighbours, c.marginals, taken.Kind,
						taken.Error, d.Kind,
						d.Error)
				}
			}
		}
	}
}

// All one-way and two-way tables of Adult, 148 725 cells, at ε = 1 and δ = 1e-9: the root mean square of the standard
// errors is at most 0.66 of that of 105 tables measured by themselves with equal shares, and no table is worse than
// that. The best strategies have 37.05 at the ρ of 0.0149731 that the conversion of ρ alone allows, with the total
// among the tables, compared with √(105/(2ρ)) = 59.21.
func TestAdultIsMeasuredWell(t *testing.T) {
	p := plantest.PlanOfFile(t, filepath.Join(testkit.Root(t), "examples", "adult", "release.yaml"))
	one := big.NewInt(1)
	_, mechanisms, err := budget.Calibrate(big.NewRat(1, 1), big.NewRat(1, 1_000_000_000), nil,
		func(rho *big.Rat) ([]budget.Mechanism, error) {
			m, err := budget.GaussianFor(one, one, new(big.Rat).Quo(rho, big.NewRat(105, 1)))
			m.Shifts = []budget.Shift{{1}}
			return slices.Repeat([]budget.Mechanism{m}, 105), err
		})
	if err != nil {
		t.Fatal(err)
	}
	var squares, cells float64
	for _, table := range p.Tables {
		squares += table.Statistics[0].StandardError * table.Statistics[0].StandardError * float64(table.Cells)
		cells += float64(table.Cells)
	}
	rmse, equal := math.Sqrt(squares/cells), math.Sqrt(mechanisms[0].Variance())
	t.Logf("root mean square error %.4f, with equal shares %.4f: %.4f of it", rmse, equal, rmse/equal)
	if rmse > 0.66*equal {
		t.Errorf("root mean square error %v, with equal shares %v", rmse, equal)
	}
	if s := p.Strategies[0]; math.Abs(s.RMSE/rmse-1) > 1e-5 {
		t.Errorf("the strategy says %v, its tables have %v", s.RMSE, rmse)
	}
}

// sharesOf returns the shares of ε for which pure measurements of these tables have the least error: ∝
// ∛(weight·cells), where each table that is not measured counts for the table that it is a sum of.
func sharesOf(g *optimise.Group, measured []*workload.Table) (shares []float64) {
	served := make([]float64, len(measured))
	for _, t := range g.Tables {
		best := -1
		for i, m := range measured {
			if m.Path == t.Path {
				best = i
				break
			}
			if workload.Contains(m, t) && (best < 0 || m.Cells < measured[best].Cells) {
				best = i
			}
		}
		served[best] += t.Weight * float64(measured[best].Cells)
	}
	var sum float64
	for _, s := range served {
		sum += math.Cbrt(s)
	}
	for _, s := range served {
		shares = append(shares, math.Cbrt(s)/sum)
	}
	return shares
}

// With a pure budget no ε can be moved from one measurement to another for less error: ε³ is proportional to what its
// noise costs, over a whole leaf (Lagrange). Only the outermost tables are measured exactly if that is better.
func TestPureStrategies(t *testing.T) {
	kinds := map[strategy.Kind]int{}
	attributes := []string{"sex", "kind", "age.third"}
	rapid.Check(t, func(t *rapid.T) {
		marginals := "{"
		for i := range rapid.IntRange(1, 6).Draw(t, "marginals") {
			by := rapid.SliceOfNDistinct(rapid.SampledFrom(attributes), 0, 3, rapid.ID).Draw(t, "by")
			marginals += fmt.Sprintf("m%d: {by: [%s], weight: %s}, ", i, strings.Join(by, ", "),
				rapid.SampledFrom([]string{"1", "1/3", "20", "1e4"}).Draw(t, "weight"))
		}
		r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(plantest.Crossed, "add-remove",
			"{epsilon: 1, minimise: sum}", 2, strings.TrimSuffix(marginals, ", ")+"}")})
		if err != nil {
			t.Fatal(err)
		}
		tables, err := workload.Expand(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := optimise.NewBlueprint(r, tables, nil, nil, nil, 1, strategy.RangedPerLeaf)
		if err != nil {
			t.Fatal(err)
		}
		division, _, err := b.ChooseNoise()
		if err != nil {
			t.Fatal(err)
		}
		var lagrange []float64 // error of a group over the cube of its share
		for i, g := range b.Groups {
			taken := g.Designs[division.Choice()[i]]
			kinds[taken.Kind]++
			var outer []*workload.Table
			for i, t := range g.Tables {
				if !slices.ContainsFunc(g.Tables, func(o *workload.Table) bool {
					return workload.Contains(o, t) &&
						(len(o.By) > len(t.By) ||
							slices.IndexFunc(g.Tables, func(x *workload.Table) bool { return x.Path == o.Path }) < i &&
								workload.Contains(t, o))
				}) {
					outer = append(outer, t)
				}
			}
			shares := sharesOf(g, g.Tables)
			if taken.Kind == strategy.Largest {
				shares = sharesOf(g, outer)
			}
			for i, part := range taken.Parts() {
				if math.Abs(part/shares[i]-1) > 1e-8 {
					t.Fatalf("%s: %s has part %v, want %v", marginals, taken.Measurements[i].Id(), part, shares[i])
				}
			}
			lagrange = append(lagrange, taken.Error/math.Pow(division.Shares[i], 3))
		}
		for _, l := range lagrange {
			if math.Abs(l/lagrange[0]-1) > 1e-8 {
				t.Fatalf("%s: groups have error over share³ %v", marginals, lagrange)
			}
		}
	})
	if kinds[strategy.Direct] == 0 || kinds[strategy.Largest] == 0 {
		t.Errorf("only %v were tried", kinds)
	}
}

// If the integers of a residual could overflow, tables are measured by themselves, and the page says why. A pure
// budget measures the levels of a column separately.
func TestStrategiesThatCannotBe(t *testing.T) {
	const text = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {%s}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 1}, columns: {a: {type: integer, range: [0, 999], levels: {ten: {width: 10}}}, b: {type: integer, range: [0, 999]}, c: {type: integer, range: [0, 1099]}}}}
marginals: {x: {by: [a, b, c]}, y: {by: [%s]}}
`
	planOf := func(amount, by string) *plan.Plan {
		r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(text, amount, by)})
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.New(r)
		if err != nil {
			t.Fatal(err)
		}
		return p.Plan()
	}
	p := planOf("rho: 1", "b")
	if len(p.Strategies) != 1 || p.Strategies[0].Kind != strategy.Direct || len(p.Measurements) != 2 {
		t.Errorf("%d measurements, strategies %+v", len(p.Measurements), p.Strategies)
	}
	page := plantest.PageOf(t, p)
	// 999²·1099 > 2³⁰
	for _, line := range []string{"Each table is measured by itself, with discrete ",
		" Not by residuals: its integers could overflow: residuals/t/a_x_b_x_c multiplies counts by 1096803099."} {
		if !strings.Contains(page, line) {
			t.Errorf("no %q on\n%s", line, page)
		}
	}
	p = planOf("epsilon: 1", "a.ten")
	if len(p.Strategies) != 2 || p.Strategies[0].Kind != strategy.Direct || p.Strategies[1].Kind != strategy.Direct ||
		len(p.Measurements) != 2 {
		t.Errorf("%d measurements, strategies %+v", len(p.Measurements), p.Strategies)
	}
}

// The nested levels of a column form one chain, coarsest first; others are chains of their own.
func TestChainsOfLevels(t *testing.T) {
	for _, c := range []struct{ by, want string }{
		{"[age], [age.half]", `["age.half with age"]`},
		{"[age], [age.third], [age.half]", `["age.half with age" "age.third"]`},
		{"[age.half], [age.third]", `["age.half" "age.third"]`},
		{"[age.same], [age.half], [age.whole]", `["age.whole with age.same with age.half"]`},
		{"[age.odd], [age], [sex]", `["age.odd with age" "sex"]`},
	} {
		marginals := ""
		for i, by := range strings.Split(c.by, "], ") {
			marginals += fmt.Sprintf("m%d: {by: %s]}, ", i, strings.TrimSuffix(by, "]"))
		}
		r := plantest.CrossedRelease(t, "replace", "{rho: 1}", 1, "{"+strings.TrimSuffix(marginals, ", ")+"}")
		tables, err := workload.Expand(r)
		if err != nil {
			t.Fatal(err)
		}
		chains, err := workload.NewChains(r, tables, strategy.CellByCell)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%q", chains.Levels); got != c.want {
			t.Errorf("%s: chains %s, want %s", c.by, got, c.want)
		}
	}
}

// A spec is refused if two measurements have one name: the pair of sex and age, and a column with that name.
func TestMeasurementsHaveNamesOfTheirOwn(t *testing.T) {
	_, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 1}, columns: {sex: {values: [f, m]}, age: {values: [a, b, c]}, sex_x_age: {values: [a, b]}, home: {values: [h, f]}}}}
marginals: {x: {every: [1, 2], by: [sex, age]}, y: {every: [1, 2], by: [sex_x_age, home]}}
`})
	if want := "two measurements would have one name, residuals/t/sex_x_age: "; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("error %v, expected one with %s", err, want)
	}
}
