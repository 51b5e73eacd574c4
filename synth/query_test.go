package synth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
	"gonum.org/v1/gonum/mat"
)

// questions are plans whose tables are computed in every possible way: residuals of columns with levels of uneven
// groups, shared by two allocations; direct measurements of two allocations that contribute to each other's tables;
// sums of pure ones; and a table that is one measurement.
var questions = map[string]string{
	"levels": `budget: {rho: 1, minimise: sum, split: {a: 1/2, b: 1/2}}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {
  age: {type: integer, range: [0, 6], levels: {band: {edges: [0, 1, 3]}}},
  sex: {values: [f, m]}, area: {values: [n, e, s, w, o], levels: {side: {left: [n, e, w], right: [s, o]}}}}}}
marginals: {m: {by: [age, sex], budget: a}, n: {by: [age.band, area], budget: a}, o: {by: [area.side, age], budget: b}, p: {by: [area.side, age.band], budget: b}}
`,
	"direct": `budget: {rho: 1/2, split: {a: 1/2, b: 1/4, c: 1/4}}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {x: {values: [a, b, c]}, y: {values: [a, b, c, d]}, z: {values: [a, b]}}}}
marginals: {m: {by: [y, x], budget: a}, n: {by: [y, z], budget: b}, o: {every: [1, 2], by: [x, z], budget: c}}
`,
	"pure": `budget: {epsilon: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {x: {values: [a, b, c]}, y: {values: [a, b, c, d]}, z: {values: [a, b]}}}}
marginals: {m: {every: [0, 1, 2], by: [x, y, z]}}
`,
	"alone": `budget: {rho: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {x: {values: [a, b, c]}, y: {values: [a, b, c, d]}}}}
marginals: {m: {by: [y, x]}}
`,
}

func readerOf(t *testing.T, text string) *Reader {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "release.yaml",
		Text: "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\n" + text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := NewReader(p)
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

// everySelection returns some categories of each key: all, one, and two at random.
func everySelection(random *rand.Rand, levels []*domain.Level) [][][]int {
	whole, single, some, others := make([][]int, len(levels)), make([][]int, len(levels)), make([][]int, len(levels)),
		make([][]int, len(levels))
	for i, l := range levels {
		for c := range l.Size() {
			whole[i] = append(whole[i], c)
			if random.IntN(2) == 0 {
				some[i] = append(some[i], c)
			} else {
				others[i] = append(others[i], c)
			}
		}
		single[i] = []int{random.IntN(l.Size())}
	}
	return [][][]int{whole, single, some, others}
}

// groupingOf returns an answer with one row of the selected categories, and a second one of all others of the first
// key.
func groupingOf(levels []*domain.Level, selected [][]int) []Grouping {
	out := make([]Grouping, len(levels))
	for i, l := range levels {
		out[i] = Grouping{RowOf: slices.Repeat([]int{-1}, l.Size()), Rows: 1}
		if i == 0 {
			out[i] = Grouping{RowOf: slices.Repeat([]int{1}, l.Size()), Rows: 2}
		}
		for _, c := range selected[i] {
			out[i].RowOf[c] = 0
		}
	}
	return out
}

// dense is least squares with matrices over the finest cells of a table.
type dense struct {
	design  *mat.Dense // a row per integer
	weights []float64  // 1/variance of each integer
	columns []*spec.Column
}

// rowsOf returns a query as a matrix over the base domain, by its definition.
func (d dense) rowsOf(r *spec.Release, q plan.Query) [][]float64 {
	// Kronecker product over the table's columns, in their order; answers are in the order of the factors
	rows := [][]float64{{1}}
	factors := map[string]plan.Factor{}
	for _, f := range q.Factors {
		factors[f.Attribute] = f
	}
	for _, c := range d.columns {
		factor := [][]float64{slices.Repeat([]float64{1}, c.Domain.Size())}
		if f, ok := factors[c.Name]; ok {
			level, _ := c.Domain.Level(f.Level)
			factor = make([][]float64, level.Size())
			group := make([]int, level.Size())
			within, ok := c.Domain.Level(f.Within)
			for j := range factor {
				factor[j] = make([]float64, c.Domain.Size())
				for b := range c.Domain.Size() {
					if level.Category(b) == j {
						factor[j][b] = 1
						if ok && f.Within != "" {
							group[j] = within.Category(b)
						}
					}
				}
			}
			if f.Basis == plan.Residual {
				factor = residualOf(factor, group)
			}
		}
		var next [][]float64
		for _, a := range rows {
			for _, b := range factor {
				next = append(next, residual.Outer(a, b))
			}
		}
		rows = next
	}
	return rows
}

// residualOf turns counts into c·(g·x − Σ over the group), c = most g / g, rounded.
func residualOf(counts [][]float64, group []int) [][]float64 {
	size, most := map[int]float64{}, 0.0
	for _, p := range group {
		size[p]++
		most = math.Max(most, size[p])
	}
	out := make([][]float64, len(counts))
	for i := range counts {
		g := size[group[i]]
		out[i] = make([]float64, len(counts[i]))
		for b := range out[i] {
			out[i][b] = g * counts[i][b]
			for j := range counts {
				if group[j] == group[i] {
					out[i][b] -= counts[j][b]
				}
			}
			out[i][b] *= math.Round(most / g)
		}
	}
	return out
}

// rowOrder returns, for each answer by the query's factors, its index in the rows of rowsOf, by the table's columns.
func (d dense) rowOrder(r *spec.Release, q plan.Query) []int {
	levels, _ := q.Levels(r)
	stride := make([]int, len(levels)) // of each factor, in the order of the columns
	n := 1
	for i := len(d.columns) - 1; i >= 0; i-- {
		for k, f := range q.Factors {
			if f.Attribute == d.columns[i].Name {
				stride[k] = n
				n *= levels[k].Size()
			}
		}
	}
	out := []int{0}
	for k, l := range levels {
		var next []int
		for _, at := range out {
			for c := range l.Size() {
				next = append(next, at+stride[k]*c)
			}
		}
		out = next
	}
	return out
}

func denseOf(r *Reader, sources []plan.Measurement) dense {
	release := r.plan.Release()
	d := dense{columns: release.Tables[0].Columns}
	var all []float64
	for _, m := range sources {
		rows := d.rowsOf(release, m.Query)
		for _, at := range d.rowOrder(release, m.Query) {
			all = append(all, rows[at]...)
			d.weights = append(d.weights, 1/m.Mechanism.Variance())
		}
	}
	d.design = mat.NewDense(len(d.weights), len(all)/len(d.weights), all)
	return d
}

// solve returns the weights of the least-squares estimate of a sum of base cells on all integers, and its variance.
func (d dense) solve(sum []float64) (weights []float64, variance float64) {
	n, base := d.design.Dims()
	scaled := mat.NewDense(n, base, nil) // W^(1/2) A
	scaled.Apply(func(i, _ int, v float64) float64 { return v * math.Sqrt(d.weights[i]) }, d.design)
	var svd mat.SVD
	if !svd.Factorize(scaled, mat.SVDThin) {
		panic("no decomposition")
	}
	values := svd.Values(nil)
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	weights = make([]float64, n)
	for k, s := range values {
		if s < values[0]*1e-9 {
			break
		}
		projected := mat.Dot(v.ColView(k), mat.NewVecDense(base, sum)) / s
		for i := range weights {
			weights[i] += projected * u.At(i, k) * math.Sqrt(d.weights[i])
		}
	}
	for i, w := range weights {
		variance += w * w / d.weights[i]
	}
	return weights, variance
}

// sumOf returns a sum of a table's cells as a vector over the base domain.
func (d dense) sumOf(r *Reader, table int, selected [][]int) []float64 {
	release := r.plan.Release()
	q := r.plan.Query(r.plan.Tables[table])
	levels, _ := q.Levels(release)
	sum := []float64{1}
	for _, c := range d.columns {
		in := slices.Repeat([]float64{1}, c.Domain.Size())
		for k, f := range q.Factors {
			for b := range in {
				if f.Attribute == c.Name && !slices.Contains(selected[k], levels[k].Category(b)) {
					in[b] = 0
				}
			}
		}
		sum = residual.Outer(sum, in)
	}
	return sum
}

// TestSumsAreLeastSquares compares values, variances, weights and contributions with dense least squares over the
// measurements that each table needs. Singular values below 1e-9 of the largest are zero: the true ones are above 1e-3.
func TestSumsAreLeastSquares(t *testing.T) {
	for name, text := range questions {
		r, random := readerOf(t, text), rand.New(rand.NewPCG(7, 8))
		together, direct := 0, 0
		for table, pt := range r.plan.Tables {
			var answers []measured.Measured
			var all []float64
			for _, m := range r.Needed(table) {
				values := make([]int64, m.Cells)
				for i := range values {
					values[i] = random.Int64N(2000) - 500
					all = append(all, float64(values[i]))
				}
				answers = append(answers, withAnswers(m, values))
			}
			if pt.Statistics[0].Measurement == "" {
				together++
			} else {
				direct++
			}
			d := denseOf(r, r.Needed(table))
			levels, err := r.plan.Query(pt).Levels(r.plan.Release())
			if err != nil {
				t.Fatal(err)
			}
			figures, err := r.Statistic(table, answers)
			if err != nil {
				t.Fatal(err)
			}
			for _, selected := range everySelection(random, levels) {
				weights, variance := d.solve(d.sumOf(r, table, selected))
				var want float64
				for i, w := range weights {
					want += w * all[i]
				}
				at := fmt.Sprintf("%s, table %s, categories %v", name, pt.Path, selected)
				groupings := groupingOf(levels, selected)
				empty := slices.ContainsFunc(selected, func(s []int) bool { return len(s) == 0 })
				if got := Sums(figures.Unbiased, groupings)[0]; math.Abs(got-want) > 1e-7 {
					t.Errorf("%s: %v, least squares have %v", at, got, want)
				}
				if got := r.Variances(table, groupings)[0]; math.Abs(got-variance) > 1e-9*variance {
					t.Errorf("%s: variance %v, least squares have %v", at, got, variance)
				}
				if empty {
					continue
				}
				holdWeights(t, at, r, table, selected, weights)
				holdTrace(t, at, r, table, selected, answers, want, variance)
			}
		}
		if name == "alone" && together > 0 || name != "alone" && together == 0 {
			t.Errorf("%s: %d tables put together, %d that are one measurement", name, together, direct)
		}
	}
}

// holdWeights compares the weights on single integers, and those listed together, with the expected ones.
func holdWeights(t *testing.T, at string, r *Reader, table int, selected [][]int, want []float64) {
	t.Helper()
	byID := map[string][]float64{}
	if at := r.at[table]; at.estimate < 0 {
		m := r.Needed(table)[0]
		byID[m.ID] = r.ownWeights(m, selected)
	} else {
		for source, weights := range r.selectedSum(table, selected).Weights() {
			byID[r.Needed(table)[source].ID] = weights
		}
	}
	listed := map[string][]compiled.Weight{}
	for _, b := range r.Contributions(table, selected) {
		listed[b.Measurement.ID] = b.Weights
	}
	from := 0
	for _, m := range r.Needed(table) {
		own := want[from : from+int(m.Cells)]
		from += int(m.Cells)
		got := byID[m.ID]
		if got == nil {
			got = make([]float64, m.Cells)
		}
		for i, w := range own {
			if math.Abs(w-got[i]) > 1e-9 {
				t.Fatalf("%s: integer %d of %s has weight %v, least squares have %v", at, i, m.ID, got[i], w)
			}
		}
		for _, w := range listed[m.ID] {
			var n int64
			for _, v := range own {
				if math.Abs(v-w.Value) < 1e-7*math.Abs(w.Value) {
					n++
				}
			}
			if n != w.Integers {
				t.Errorf("%s: %s lists %d integers of weight %v, least squares have %d", at, m.ID, w.Integers, w.Value,
					n)
			}
		}
	}
}

// holdTrace checks that the contributions of the measurements add up to the estimate, and to its variance.
func holdTrace(t *testing.T, at string, r *Reader, table int, selected [][]int, answers []measured.Measured, want,
	variance float64) {
	t.Helper()
	trace, err := r.Trace(table, selected, answers)
	if err != nil {
		t.Fatal(err)
	}
	var value, noise float64
	for i, b := range trace.Contributions {
		value += trace.Sums[i]
		noise += b.Variance
	}
	if math.Abs(value-want) > 1e-7 || math.Abs(noise-variance) > 1e-9*variance {
		t.Errorf("%s: the measurements bring %v of variance %v, least squares have %v of %v", at, value, noise, want,
			variance)
	}
}

// TestVariancesAreThoseOfTheNoise draws noise on empty tables 1000 times and compares Σ error²/variance with its law,
// χ² of 1000 degrees (the noise is Gaussian except for rounding to whole numbers; Laplace noise is not tested here).
// The cube root of Wilson and Hilferty is normal to within 1e-4 of its deviation so near the middle, and exceeds 6.47
// deviations with a chance of 1e-10. Negative control: the mutant with independent cells is refuted.
func TestVariancesAreThoseOfTheNoise(t *testing.T) {
	testkit.SkipPassed(t)
	const draws, beyond = 1000, 6.47
	for _, name := range []string{"levels", "direct", "alone"} {
		r, random := readerOf(t, questions[name]), rand.New(rand.NewPCG(9, 10))
		refuted := false
		for table, pt := range r.plan.Tables {
			levels, err := r.plan.Query(pt).Levels(r.plan.Release())
			if err != nil {
				t.Fatal(err)
			}
			var groupings [][]Grouping
			for _, selected := range everySelection(random, levels) {
				if !slices.ContainsFunc(selected, func(s []int) bool { return len(s) == 0 }) {
					groupings = append(groupings, groupingOf(levels, selected))
				}
			}
			squares := make([]float64, len(groupings))
			var cells []float64
			for draw := range draws {
				figures, err := r.Statistic(table, noiseOnly(t, r, table, draw))
				if err != nil {
					t.Fatal(err)
				}
				for i, g := range groupings {
					e := Sums(figures.Unbiased, g)[0]
					squares[i] += e * e
				}
				cells = figures.Error.Float64Values()
			}
			for i, g := range groupings {
				variance := r.Variances(table, g)[0]
				if z := cubeRootLaw(squares[i]/variance, draws); math.Abs(z) > beyond {
					t.Errorf("%s, table %s, %v: errors lie %v deviations from the variance %v", name, pt.Path, g, z,
						variance)
				}
				var apart float64
				for c, in := range selectedCells(g) {
					if in {
						apart += cells[c] * cells[c]
					}
				}
				refuted = refuted || math.Abs(cubeRootLaw(squares[i]/apart, draws)) > beyond
			}
		}
		if refuted == (name == "alone") {
			t.Errorf("%s: that cells are independent is refuted: %v", name, refuted)
		}
	}
}

// cubeRootLaw returns a χ² figure in deviations from its mean (Wilson & Hilferty 1931).
func cubeRootLaw(x, degrees float64) float64 {
	return (math.Cbrt(x/degrees) - (1 - 2/(9*degrees))) / math.Sqrt(2/(9*degrees))
}

// selectedCells reports for each cell whether it is in the first row of an answer.
func selectedCells(groupings []Grouping) []bool {
	out := []bool{true}
	for _, g := range groupings {
		var next []bool
		for _, in := range out {
			for _, of := range g.RowOf {
				next = append(next, in && of == 0)
			}
		}
		out = next
	}
	return out
}

// noiseOnly returns answers of empty tables.
func noiseOnly(t *testing.T, r *Reader, table, draw int) []measured.Measured {
	t.Helper()
	var key noise.Key
	key[0], key[1], key[2] = byte(draw), byte(draw>>8), byte(table)
	streams := noise.NewStreams(key, r.plan.Hash())
	var out []measured.Measured
	for _, m := range r.Needed(table) {
		answers := make([]int64, m.Cells)
		stream := streams.Noise(m.Canonical(), hashCounts(answers), 0)
		if err := noise.AddDiscreteGaussian(stream, m.Mechanism.Parameter, answers); err != nil {
			t.Fatal(err)
		}
		out = append(out, withAnswers(m, answers))
	}
	return out
}

// TestNoiseOfSumsIsShared compares the covariance of any two sums, of one table or of two, by the sources of VisitNoise
// with that by the integers of all measurements, whose noise is independent. Coefficients are arbitrary.
func TestNoiseOfSumsIsShared(t *testing.T) {
	for name, text := range questions {
		r, random := readerOf(t, text), rand.New(rand.NewPCG(11, 12))
		type sum struct{ shared, measured map[string][]float64 } // by source, weights times the deviation of its noise
		var sums []sum
		for table := range r.plan.Tables {
			levels, err := r.plan.Query(r.plan.Tables[table]).Levels(r.plan.Release())
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				q := make([][]float64, len(levels))
				for i, l := range levels {
					for range l.Size() {
						q[i] = append(q[i], random.NormFloat64())
					}
				}
				s := sum{map[string][]float64{}, map[string][]float64{}}
				r.VisitNoise(table, q, func(source string, variance float64, weights []float64) {
					s.shared[source] = times(weights, math.Sqrt(variance))
				})
				if at := r.at[table]; at.estimate >= 0 {
					e := &r.estimates[at.estimate]
					for source, weights := range e.Sum(at.marginal, q).Weights() {
						s.measured[e.Sources[source].ID] = times(weights,
							math.Sqrt(e.Sources[source].Mechanism.Variance()))
					}
				} else {
					m := r.sourcesOf(table)[0]
					s.measured[m.ID] = times(residual.Outer(q...), math.Sqrt(m.Mechanism.Variance()))
				}
				sums = append(sums, s)
			}
		}
		covariance := func(a, b map[string][]float64) (sum float64) {
			for source, weights := range a {
				for i, w := range b[source] {
					sum += w * weights[i]
				}
			}
			return sum
		}
		for i, a := range sums {
			for _, b := range sums[:i+1] {
				got, want := covariance(a.shared, b.shared), covariance(a.measured, b.measured)
				scale := math.Sqrt(covariance(a.measured, a.measured) * covariance(b.measured, b.measured))
				if !(math.Abs(got-want) <= 1e-9*scale) {
					t.Errorf("%s: covariance %v, want %v of at most %v", name, got, want, scale)
				}
			}
		}
	}
}

// times returns a vector times a number.
func times(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * by
	}
	return out
}

// TestAlikeRowsHaveOneLaw compares the weights of every row with those of the row that Alike gives for it.
func TestAlikeRowsHaveOneLaw(t *testing.T) {
	for name, text := range questions {
		r := readerOf(t, text)
		for table, pt := range r.plan.Tables {
			levels, err := r.plan.Query(pt).Levels(r.plan.Release())
			if err != nil {
				t.Fatal(err)
			}
			groupings := make([]Grouping, len(levels))
			for i, l := range levels { // each category is a row
				groupings[i].Rows = l.Size()
				for c := range l.Size() {
					groupings[i].RowOf = append(groupings[i].RowOf, c)
				}
			}
			alike := r.FirstWithSameNoise(table, groupings)
			several := map[int]bool{}
			for row, first := range alike {
				several[first] = true
				if got, want := lawOf(r, table, levels, row), lawOf(r, table, levels, first); got != want {
					t.Errorf("%s, table %s: row %d has weights %s, row %d, like it, %s", name, pt.Path, row, got,
						first, want)
				}
			}
			if len(several) == len(alike) && len(alike) > 7 {
				t.Errorf("%s, table %s: no two of %d rows are alike", name, pt.Path, len(alike))
			}
		}
	}
}

// lawOf formats a cell's weights without their signs.
func lawOf(r *Reader, table int, levels []*domain.Level, row int) string {
	selected := make([][]int, len(levels))
	for i := len(levels) - 1; i >= 0; i-- {
		selected[i] = []int{row % levels[i].Size()}
		row /= levels[i].Size()
	}
	text := ""
	for _, b := range r.Contributions(table, selected) {
		text += b.Measurement.ID
		for _, w := range b.Weights {
			text += fmt.Sprintf(" %d×%.9f", w.Integers, w.Value)
		}
	}
	return text
}
