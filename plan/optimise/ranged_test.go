package optimise_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"pgregory.net/rapid"
)

// Tables accumulate or need ranges, singly, together, next to levels, and in pure budgets. Every cell has the error
// of dense least squares over all measured integers, and a table's strategy is named for what it is.
func TestSumsAlongColumnsAreEstimatedByLeastSquares(t *testing.T) {
	for _, c := range []struct{ neighbours, budget, marginals string }{
		{"add-remove", "{rho: 1/8}", "{x: {by: [age], cumulative: [age]}}"},
		{"replace", "{rho: 1/8}", "{x: {by: [sex, age], ranges: [age]}, y: {by: [kind]}}"},
		{"add-remove", "{rho: 1/8}",
			"{x: {every: [1, 2], by: [sex, age, kind], cumulative: [age, kind]}, y: {by: [age.half, sex]}}"},
		{"replace", "{rho: 1/8, split: {a: 1/3, b: 2/3}}",
			"{x: {by: [age, kind], cumulative: [kind], ranges: [age], budget: a}, y: {every: [0, 1], by: [age, " +
				"kind], budget: b}}"},
		{"add-remove", "{rho: 1/8}", "{x: {by: [age.half, kind], cumulative: [age.half]}, y: {by: [age]}}"},
		{"add-remove", "{epsilon: 1, delta: 1e-9}", "{x: {by: [sex, age], cumulative: [age]}, y: {by: [kind]}}"},
		{"add-remove", "{epsilon: 1}", "{x: {by: [sex, age], cumulative: [age]}, y: {by: [kind, sex]}}"},
		{"add-remove", "{rho: 1/8}", "{x: {by: [age], cumulative: [age]}, y: {by: [kind, age.whole]}}"},
		{"add-remove", "{epsilon: 1}", "{x: {by: [age], cumulative: [age]}, y: {by: [kind, age.whole]}}"},
		{"replace", "{epsilon: 1}",
			"{x: {by: [age], ranges: [age]}, y: {by: [kind]}, z: {by: [kind, age], cumulative: [kind, age]}}"},
	} {
		r := plantest.CrossedRelease(t, c.neighbours, c.budget, 2, c.marginals)
		p, err := planner.New(r)
		if err != nil {
			t.Errorf("%s, %s: %v", c.budget, c.marginals, err)
			continue
		}
		tables, err := workload.Expand(r)
		if err != nil {
			t.Fatal(err)
		}
		variances := make([]float64, len(p.Measurements))
		for i, m := range p.Measurements {
			variances[i] = m.Mechanism.Variance()
		}
		for i, table := range p.Tables {
			queries := plantest.ShownRows(p.Plan(), table, tables[i])
			covariance := plantest.LeastSquares(t, p.Measurements, variances, queries)
			var sum, most float64
			for j := range queries {
				sum, most = sum+covariance.At(j, j), max(most, covariance.At(j, j))
			}
			s := table.Statistics[0]
			mean := math.Sqrt(sum / float64(len(queries)))
			if s.StandardError < mean*(1-1e-9) || s.StandardError > mean*(1+1e-6) ||
				math.Abs(max(s.StandardError, s.Uneven)/math.Sqrt(most)-1) > 1e-6 {
				t.Errorf("%s, %s: %s has error %v, %v at most; said to be %v, %v", c.budget, c.marginals, table.Path,
					mean,
					math.Sqrt(most), s.StandardError, s.Uneven)
			}
			name := workload.CountName
			if slices.Contains(tables[i].Sums, residual.Prefixes) {
				name = workload.CumulativeName
			}
			if s.Name != name {
				t.Errorf("%s, %s: %s shows %s", c.budget, c.marginals, table.Path, s.Name)
			}
		}
	}
}

// The predicted error of a group's design equals the error of dense least squares, with ranges counted over all of
// them.
func TestRangedDesignsAreJudgedByTheirErrors(t *testing.T) {
	for _, budget := range []string{"{rho: 1}", "{epsilon: 1}"} {
		b := blueprintOf(t, plantest.CrossedRelease(t, "add-remove", budget, 1,
			"{x: {by: [sex, age], ranges: [age]}, y: {by: [age], cumulative: [age]}}"))
		for _, g := range b.Groups {
			for _, d := range g.Designs {
				var measured []plan.Measurement
				var variances []float64
				for i, p := range d.Measurements {
					measured, variances = append(measured, p.Measurement()), append(variances, p.Variance(d.Parts()[i]))
				}
				var sum float64
				for _, t0 := range g.Tables {
					cells := plantest.MatrixOf(t0.Query().Factors)
					var rows [][]float64
					const n = 6 // ages, the last attribute of both
					for from := 0; from < len(cells); from += n {
						for i := range n {
							all := make([]float64, len(cells[0]))
							for j := i; j < n; j++ {
								for x := range all {
									all[x] += cells[from+j][x]
								}
								if t0.Path == "x" || i == 0 {
									rows = append(rows, slices.Clone(all))
								}
							}
						}
					}
					covariance := plantest.LeastSquares(t, measured, variances, rows)
					var trace float64
					for j := range rows {
						trace += covariance.At(j, j)
					}
					sum += trace / float64(len(rows)) * float64(t0.Cells)
				}
				if math.Abs(d.Error/sum-1) > 1e-8 {
					t.Errorf("%s, %s: the error is %v, said to be %v", budget, d.Kind, sum, d.Error)
				}
			}
		}
	}
}

// The sensitivity of what is measured for ranges is enumerated over all pairs of neighbours, for Gaussian noise and,
// in portions with counts, for Laplace noise.
func TestSensitivityOfRanges(t *testing.T) {
	for _, budget := range []string{"{rho: 1}", "{epsilon: 1}"} {
		for _, c := range []struct {
			marginals string
			most      int64 // rows of a unit
		}{
			{"{x: {by: [age], cumulative: [age]}}", 3}, {"{x: {by: [sex, age], ranges: [age]}}", 2},
			{"{x: {by: [kind, age], cumulative: [kind, age]}}", 2},
			{"{x: {by: [age.half, sex], cumulative: [age.half]}, y: {by: [age, kind]}}", 1},
		} {
			for k := int64(1); k <= c.most; k++ {
				for _, n := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
					for _, g := range blueprintOf(t, plantest.CrossedRelease(t, string(n), budget, int(k),
						c.marginals)).Groups {
						for _, d := range g.Designs {
							for _, p := range d.Measurements {
								assertMoves(t, n, k, p)
							}
						}
					}
				}
			}
		}
	}
}

// A plan can be read again, which works out anew how its tables are combined, whatever levels a column is used at, in
// whichever leaves, and wherever sums along it are needed.
func TestPlansOfSumsCanBeReadAgain(t *testing.T) {
	attributes := []string{"sex", "kind", "age", "age.half", "age.third", "age.odd", "age.same", "age.whole"}
	rapid.Check(t, func(t *rapid.T) {
		var marginals []string
		leaves := rapid.IntRange(1, 3).Draw(t, "leaves")
		for i := range rapid.IntRange(leaves, 5).Draw(t, "marginals") {
			by := rapid.SliceOfNDistinct(rapid.SampledFrom(attributes), 1, 3,
				func(a string) string { c, _, _ := strings.Cut(a, "."); return c }).Draw(t, "by")
			sums := ""
			if a := rapid.SampledFrom(by).Draw(t, "along"); a != "age.whole" {
				sums = rapid.SampledFrom([]string{"", "cumulative", "ranges"}).Draw(t, "sums")
				if sums != "" {
					sums = ", " + sums + ": [" + a + "]"
				}
			}
			marginals = append(marginals, fmt.Sprintf("m%d: {by: [%s], budget: l%d%s}", i, strings.Join(by, ", "),
				i%leaves,
				sums))
		}
		split := []string{"l0: 1", "l0: 1/7, l1: 6/7", "l0: 1/7, l1: 3/7, l2: 3/7"}[leaves-1]
		budget := "{" + rapid.SampledFrom([]string{"rho: 1/10", "epsilon: 1"}).Draw(t, "budget") + ", split: {" +
			split + "}}"
		text := fmt.Sprintf(plantest.Crossed, rapid.SampledFrom([]string{"add-remove", "replace"}).Draw(t,
			"neighbours"),
			budget, 2, "{"+strings.Join(marginals, ", ")+"}")
		r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.New(r)
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		if _, err := compiled.Read(p.Bytes()); err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
	})
}
