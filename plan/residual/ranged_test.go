package residual

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// rangedOf is a column of levels with a strategy.
func rangedOf(t testing.TB, r Ranging, parents ...[]int) *Column {
	t.Helper()
	c, err := NewRanged(r, parents...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// together are tables with columns of every kind, and marginals that show them every way.
func together(t testing.TB, r *rand.Rand) []table {
	bands := [][]int{{0, 0}, {0, 0, 1, 1, 1}}
	crossed := [][]int{{0, 0}, {0, 1, 0, 1}} // a level whose categories are not neighbours
	all := []Set{
		{{0, 1, Cells}}, {{1, 2, Prefixes}}, {{1, 1, Cells}, {0, 1, Cells}}, {{0, 1, Prefixes}, {1, 2, Cells}},
		{{2, 2, Ranges}, {1, 2, Prefixes}}, {{1, 1, Prefixes}, {2, 1, Cells}},
		{{0, 1, Cells}, {1, 2, Ranges}, {2, 2, Prefixes}}, {},
	}
	var out []table
	for _, columns := range [][]*Column{
		{flat(3), NewColumn(bands...), NewColumn(crossed...)},
		{flat(3), rangedOf(t, Ranging{Prefixes, Optimal, 4, 0}, bands...), NewColumn(crossed...)},
		{flat(3), rangedOf(t, Ranging{Ranges, Optimal, 0, 0}, bands...),
			rangedOf(t, Ranging{Prefixes, Haar, 0, 0}, crossed...)},
		{rangedOf(t, Ranging{Prefixes, Optimal, .5, 7}, make([]int, 3)),
			rangedOf(t, Ranging{Ranges, Haar, 0, 0}, bands...),
			rangedOf(t, Ranging{Prefixes, HaarLaplace, 0, 6}, crossed...)},
	} {
		var sorted []Set
		for _, m := range all {
			m = slices.Clone(m)
			slices.SortFunc(m, func(a, b Axis) int { return a.Column - b.Column })
			sorted = append(sorted, m)
		}
		out = append(out, newTable(t, r, columns, sorted...))
	}
	return out
}

// sources are every residual once or twice and, mixed, every one whose axes can be counts, with counts along all but
// the last of these, in an order of its own.
func (t table) sources(r *rand.Rand) []Source {
	var out []Source
	add := func(s Source) {
		s.Variance = 1 + 9*r.Float64()
		for i, a := range s.Axes { // in proportion to the integers, so that the dense problem is well conditioned
			if !s.Plain[i] {
				s.Variance *= float64(t.Columns[a.Column].Sensitivity(a.Level).Squares)
			}
		}
		out = append(out, s)
	}
	for i, res := range t.Residuals {
		for range 1 + i%2 {
			add(ResidualOf(res.Axes, 0))
		}
		if mixed := ResidualOf(slices.Clone(res.Axes), 0); len(res.Axes) > 1 {
			slices.Reverse(mixed.Axes)
			for i, a := range mixed.Axes[1:] {
				mixed.Plain[i+1] = a.Level == 1 && t.Columns[a.Column].ranged == nil
			}
			add(mixed)
		}
	}
	return out
}

// TestEstimatesAreUnbiasedLeastSquares puts each unit of each noisy integer through the estimate. Without noise every
// marginal comes out as counted; the squares of what the units do to a row, times their variances, are the variance
// that is said of it; it is that of generalised least squares by dense matrices; and what they do to a sum of cells is
// what Weights say.
func TestEstimatesAreUnbiasedLeastSquares(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for i, w := range together(t, r) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			sources := w.sources(r)
			combination, err := w.Combine(sources)
			if err != nil {
				t.Fatal(err)
			}
			var rows [][]float64
			var precisions []float64
			exact := make([][]float64, len(sources))
			for i, s := range sources {
				integers, err := Exact(w.Columns, s.Axes, s.Plain, w.marginal(s.Axes))
				if err != nil {
					t.Fatal(err)
				}
				exact[i] = floats(integers)
				for _, row := range w.integers(s.Axes, s.Plain) {
					rows, precisions = append(rows, row), append(precisions, 1/s.Variance)
				}
			}
			for m, marginal := range w.Marginals {
				for i, want := range w.shown(marginal.Axes) {
					if got := w.estimate(combination, sources, marginal.Axes,
						exact)[i]; math.Abs(got-float64(want)) > 1e-9 {
						t.Fatalf("marginal %v, row %d: %v, counted %d", marginal.Axes, i, got, want)
					}
				}
				said := w.CellVariances(marginal.Axes, combination.Variances)
				found := w.throughEstimate(t, combination, sources, marginal.Axes, exact)
				best := variancesOf(t, rows, precisions,
					w.dense(func(one table) []float64 { return floats(one.shown(marginal.Axes)) }))
				for i, v := range said {
					if math.Abs(found[i]/v-1) > 1e-9 || math.Abs(best[i]/v-1) > 1e-9 {
						t.Errorf("marginal %v, row %d: variance %v, of the estimate %v, by least squares %v",
							marginal.Axes, i, v,
							found[i], best[i])
					}
				}
				w.holdMeans(t, m, marginal.Axes, combination.Variances, said)
			}
		})
	}
}

// estimate puts a marginal together from noisy integers.
func (t table) estimate(c *Combination, sources []Source, axes Set, noisy [][]float64) []float64 {
	cells := make([]float64, cellsOf(t.Columns, axes))
	for i, parts := range c.Parts {
		if !t.bearsOn(t.Residuals[i].Axes, axes) {
			continue
		}
		for _, p := range parts {
			figure := sources[p.Source].Figure(t.Columns, t.Residuals[i].Axes, noisy[p.Source])
			for j := range figure {
				figure[j] *= p.Weight
			}
			Spread(t.Columns, axes, t.Residuals[i].Axes, figure, cells)
		}
	}
	return cells
}

// bearsOn tells that a residual is one of a marginal.
func (t table) bearsOn(residual, marginal Set) bool {
	for _, r := range residual {
		if !slices.ContainsFunc(marginal, func(a Axis) bool {
			return a.Column == r.Column && slices.Contains(t.Columns[a.Column].ContributingLevels(a.Level), r.Level)
		}) {
			return false
		}
	}
	return true
}

// throughEstimate puts unit after unit of noise through the estimate of a marginal, and returns the variances of its
// rows. It holds what the units do to a sum of cells, with random coefficients along each axis, against Weights.
func (t table) throughEstimate(tt *testing.T, c *Combination, sources []Source, axes Set, exact [][]float64) []float64 {
	cellAxes := slices.Clone(axes)
	q := make([][]float64, len(axes))
	r := rand.New(rand.NewPCG(13, 14))
	for i := range axes {
		cellAxes[i].Sums = Cells
		q[i] = make([]float64, t.Columns[axes[i].Column].Size(axes[i].Level))
		for j := range q[i] {
			q[i][j] = float64(r.IntN(3))
		}
	}
	product := Outer(q...)
	variances := make([]float64, cellsOf(t.Columns, axes))
	for s := range sources {
		weights := t.weightsOf(c, sources, s, axes, q)
		for i := range exact[s] {
			units := make([][]float64, len(sources))
			for k := range units {
				units[k] = make([]float64, len(exact[k]))
			}
			units[s][i] = 1
			for j, x := range t.estimate(c, sources, axes, units) {
				variances[j] += x * x * sources[s].Variance
			}
			var answer float64
			for j, x := range t.estimate(c, sources, cellAxes, units) {
				answer += x * product[j]
			}
			if math.Abs(answer-weights[i]) > 1e-12 {
				tt.Fatalf("a sum of cells of %v: source %v, integer %d: weight %v, the estimate gives %v", axes,
					sources[s], i,
					weights[i], answer)
			}
		}
	}
	return variances
}

// weightsOf are the weights of a sum of cells on the integers of a source, by Weights.
func (t table) weightsOf(c *Combination, sources []Source, source int, axes Set, q [][]float64) []float64 {
	s := sources[source]
	n := 1
	for i, a := range s.Axes {
		if s.Plain[i] {
			n *= t.Columns[a.Column].Size(a.Level)
		} else {
			n *= t.Columns[a.Column].Integers(a.Level)
		}
	}
	out := make([]float64, n)
	for i, parts := range c.Parts {
		tau := t.Residuals[i].Axes
		for _, p := range parts {
			if p.Source != source || !t.bearsOn(tau, axes) {
				continue
			}
			term := []float64{p.Weight}
			for k, a := range axes {
				if !slices.ContainsFunc(tau, func(r Axis) bool { return r.Column == a.Column }) {
					term[0] *= t.Columns[a.Column].Weights(a, 0, q[k], false)[0]
				}
			}
			for j, own := range s.Axes {
				along := slices.Repeat([]float64{1}, t.Columns[own.Column].Size(own.Level))
				if slices.ContainsFunc(tau, func(r Axis) bool { return r.Column == own.Column }) {
					k := slices.IndexFunc(axes, func(a Axis) bool { return a.Column == own.Column })
					along = t.Columns[own.Column].Weights(axes[k], own.Level, q[k], s.Plain[j])
				}
				term = Outer(term, along)
			}
			for j, x := range term {
				out[j] += x
			}
		}
	}
	return out
}

// holdMeans holds the figures that planning uses against the rows' own: the mean of what counts and the worst row.
func (t table) holdMeans(tt *testing.T, m int, axes Set, variances, said []float64) {
	tt.Helper()
	mean, bound := t.Variance(m, variances)
	var sum float64
	for _, v := range said {
		sum += v
	}
	largest := t.Largest(m, variances)
	if most := slices.Max(said); math.Abs(largest/most-1) > 1e-9 || bound < most*(1-1e-9) {
		tt.Errorf("marginal %v: the worst row has %v, said to be %v and at most %v", axes, most, largest, bound)
	}
	want := sum / float64(len(said))
	if slices.ContainsFunc(axes, func(a Axis) bool { return a.Sums == Ranges }) {
		want = t.meanOfRanges(axes, variances)
	}
	if math.Abs(mean/want-1) > 1e-9 {
		tt.Errorf("marginal %v: mean variance %v, of all that counts %v", axes, mean, want)
	}
}

// meanOfRanges adds up the variances of all that counts, sum by sum, by Weights.
func (t table) meanOfRanges(axes Set, variances []float64) float64 {
	var total float64
	for i, res := range t.Residuals {
		if !t.bearsOn(res.Axes, axes) {
			continue
		}
		product := variances[i]
		for _, a := range axes {
			level := 0
			for _, r := range res.Axes {
				if r.Column == a.Column {
					level = r.Level
				}
			}
			n := t.Columns[a.Column].Size(a.Level)
			var sum, sums float64
			for from := range n {
				for to := from; to < n; to++ {
					if a.Sums == Cells && from != to || a.Sums == Prefixes && from > 0 {
						continue
					}
					q := make([]float64, n)
					for j := from; j <= to; j++ {
						q[j] = 1
					}
					for _, x := range t.Columns[a.Column].Weights(a, level, q, false) {
						sum += x * x
					}
					sums++
				}
			}
			product *= sum / sums
		}
		total += product
	}
	return total
}

// TestMovesAreThoseOfTheWorstRows moves each row, and each pair, of columns of every kind.
func TestMovesAreThoseOfTheWorstRows(t *testing.T) {
	for i, w := range together(t, rand.New(rand.NewPCG(15, 16))) {
		for k, c := range w.Columns {
			for _, level := range c.ContributingLevels(c.Levels())[1:] {
				n := c.Size(level)
				rows := make([][]int64, n)
				var want Sensitivity
				for j := range rows {
					counts := make([]int64, n)
					counts[j] = 1
					var err error
					if rows[j], err = Exact(w.Columns, Set{{k, level, Cells}}, nil, counts); err != nil ||
						len(rows[j]) != c.Integers(level) {
						t.Fatalf("%d integers, %v", len(rows[j]), err)
					}
					var norm, squares int64
					for _, v := range rows[j] {
						norm += max(v, -v)
						squares += v * v
						want.LargestFactor = max(want.LargestFactor, v, -v)
					}
					want.Norm, want.Squares = max(want.Norm, norm), max(want.Squares, squares)
					for _, other := range rows[:j] {
						var inner, apart int64
						for i, v := range rows[j] {
							inner += v * other[i]
							apart += (v - other[i]) * (v - other[i])
						}
						want.PairOpposition, want.PairSquares = max(want.PairOpposition, -inner),
							max(want.PairSquares, apart)
					}
				}
				if got := c.Sensitivity(level); got != want {
					t.Errorf("table %d, column %d, level %d: %+v, by enumeration %+v", i, k, level, got, want)
				}
			}
		}
	}
}

// TestManyRangedColumnsHaveSmallerIntegers: products stay within 2³⁰, those of the other columns included where that
// costs little, and no variance grows by more than 2 % by it.
func TestManyRangedColumnsHaveSmallerIntegers(t *testing.T) {
	r := Ranging{Prefixes, Optimal, 4, 0}
	figure := func(c *Column) float64 { return c.Mean(Axis{0, 1, Prefixes}, 1) * float64(c.Sensitivity(1).Squares) }
	best := figure(rangedOf(t, r, make([]int, 40)))
	for _, c := range []struct {
		columns int
		cells   int64
		bits    int // 0: all
		fits    bool
	}{
		{1, 1, 0, true}, {3, 1, 0, true}, {3, 2, 9, true}, {4, 1, 7, true}, {5, 1, 6, true}, {1, 1 << 20, 0, true},
		{1, 1<<20 + 1, 9, true},
		{2, 1 << 18, 6, true}, {2, 1 << 19, 6, false}, {4, 64, 6, true}, {1, 1 << 40, 6, false},
	} {
		small := r.SizedFor(c.columns, c.cells)
		column := rangedOf(t, small, make([]int, 40))
		own := math.Pow(float64(column.Sensitivity(1).LargestFactor), float64(c.columns))
		loss := figure(column)/best - 1
		if fits := own*float64(c.cells) <= 1<<30; small.Bits != c.bits || fits != c.fits || own > 1<<30 || loss > .02 {
			t.Errorf("%d columns beside %d cells: %d bits, products to %v and %v, a loss of %v", c.columns, c.cells,
				small.Bits,
				own, own*float64(c.cells), loss)
		}
	}
}

func TestRangedRefuses(t *testing.T) {
	for want, r := range map[string]Ranging{
		"for prefix sums or ranges": {Cells, Optimal, 0, 0},
		"no strategy":               {Prefixes, Optimal, 3, 0},
		"no strategy \"haar\"":      {Prefixes, Haar, 1, 0},
		"no strategy \"other\"":     {Prefixes, "other", 0, 0},
		"not of 10 bits":            {Prefixes, Haar, 0, 10},
		"not of -1 bits":            {Prefixes, Haar, 0, -1},
	} {
		if _, err := NewRanged(r, make([]int, 4)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, expected %s", r, err, want)
		}
	}
	for _, n := range []int{1, 1<<16 + 1} {
		if _, err := NewRanged(Ranging{Prefixes, Haar, 0, 0}, make([]int, n)); err == nil ||
			!strings.Contains(err.Error(), "2 to 65536") {
			t.Errorf("%d categories: %v", n, err)
		}
	}
	if _, err := NewRanged(Ranging{Prefixes, Optimal, 0, 0}, make([]int, 513)); err == nil {
		t.Error("an optimum for 513 categories")
	}
	w, err := NewWorkload([]*Column{rangedOf(t, Ranging{Prefixes, Optimal, 0, 0}, make([]int, 4))},
		[]Marginal{{Set{{0, 1, Prefixes}}, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Combine([]Source{CountsOf(Set{{0, 1, Cells}}, 1)}); err == nil ||
		!strings.Contains(err.Error(), "of ranges") {
		t.Errorf("counts of a ranged column: %v", err)
	}
}
