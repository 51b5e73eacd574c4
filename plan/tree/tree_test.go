package tree

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// tableOfAnswers are answers of areas to queries.
type tableOfAnswers map[[2]int][]int64

func (a tableOfAnswers) Answer(area, query int) ([]int64, error) { return a[[2]int{area, query}], nil }

// randomTree returns a hierarchy of five levels, with random queries, kinds that areas cannot have, and areas that are
// not asked.
func randomTree(t *testing.T, r *rand.Rand) *Tree {
	t.Helper()
	cells := Cells{Kinds: 1 + r.IntN(4)}
	for range 1 + r.IntN(2) {
		cells.Attributes = append(cells.Attributes, 2+r.IntN(2))
	}
	var classes [][]Query
	for range 6 {
		var queries []Query
		for range r.IntN(3) {
			q := Query{Axes: Axes(r.IntN(1 << len(cells.Attributes))), Variance: math.Exp(r.NormFloat64())}
			for range cells.Kinds {
				q.Groups = append(q.Groups, r.IntN(cells.Kinds))
			}
			queries = append(queries, q)
		}
		if r.IntN(3) > 0 { // the cells themselves
			q := Query{Axes: AllAxes(len(cells.Attributes)), Variance: math.Exp(r.NormFloat64())}
			for k := range cells.Kinds {
				q.Groups = append(q.Groups, k)
			}
			queries = append(queries, q)
		}
		classes = append(classes, queries)
	}
	areas := []Area{{Parent: -1, Class: r.IntN(len(classes))}}
	level := []int{0}
	for depth := range 4 {
		var next []int
		for _, p := range level {
			for range 1 + r.IntN(2) + r.IntN(2)*(1-min(depth, 1)) {
				next = append(next, len(areas))
				possible := Kinds(1 + r.IntN(1<<cells.Kinds-1))
				areas = append(areas, Area{Parent: p, Class: r.IntN(len(classes)), Possible: possible})
			}
		}
		level = next
	}
	tree, err := New(cells, classes, areas)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// dense is the same problem with a matrix over all cells of all leaves: rows of observations, with their variances.
type dense struct {
	of        map[[2]int]int // the unknown of a leaf's cell
	rows      [][]float64
	answers   []float64
	variances []float64
}

// cellsOf returns the row that adds up some cells of an area over its leaves.
func (d *dense) cellsOf(t *Tree, area int, has func(kind, cell int) bool) []float64 {
	row := make([]float64, len(d.of))
	var walk func(area int)
	walk = func(area int) {
		if all := t.childrenOf(area); len(all) > 0 {
			for _, c := range all {
				walk(int(c))
			}
			return
		}
		for _, kind := range t.areas[area].Possible.list() {
			for cell := range t.cells.perKind() {
				if has(kind, cell) {
					row[d.of[[2]int{area, kind*t.cells.perKind() + cell}]]++
				}
			}
		}
	}
	walk(area)
	return row
}

// project returns the index of a cell among the categories of some attributes.
func project(sizes []int, axes Axes, cell int) int {
	at, scale := 0, 1
	for i := len(sizes) - 1; i >= 0; i-- {
		if axes>>i&1 != 0 {
			at += cell % sizes[i] * scale
			scale *= sizes[i]
		}
		cell /= sizes[i]
	}
	return at
}

// newDense returns the dense problem with random answers.
func newDense(t *Tree, r *rand.Rand) (*dense, tableOfAnswers) {
	d, answers := &dense{of: map[[2]int]int{}}, tableOfAnswers{}
	for area := range t.areas {
		if len(t.childrenOf(area)) == 0 {
			for _, kind := range t.areas[area].Possible.list() {
				for cell := range t.cells.perKind() {
					d.of[[2]int{area, kind*t.cells.perKind() + cell}] = len(d.of)
				}
			}
		}
	}
	for area, a := range t.areas {
		for i, q := range t.classes[a.Class] {
			wide := len(t.basis.places(q.Axes))
			all := make([]int64, q.groups()*wide)
			for j := range all {
				all[j] = r.Int64N(2000) - 500
			}
			answers[[2]int{area, i}] = all
			asked := map[int]bool{}
			for _, kind := range a.Possible.list() {
				asked[q.Groups[kind]] = true
			}
			for g := range asked {
				for j := range wide {
					d.rows = append(d.rows, d.cellsOf(t, area, func(kind, cell int) bool {
						return q.Groups[kind] == g && project(t.cells.Attributes, q.Axes, cell) == j
					}))
					d.answers, d.variances = append(d.answers, float64(all[g*wide+j])), append(d.variances, q.Variance)
				}
			}
		}
	}
	return d, answers
}

// solution is what dense least squares says.
type solution struct {
	at      []float64
	inverse *mat.Dense // generalised, of the precision
	range_  *mat.Dense // projects on what is determined
}

func (d *dense) solve(t *testing.T) solution {
	t.Helper()
	n := len(d.of)
	precision, information := mat.NewSymDense(n, nil), make([]float64, n)
	for i, row := range d.rows {
		for a := range n {
			information[a] += row[a] * d.answers[i] / d.variances[i]
			for b := a; b < n; b++ {
				precision.SetSym(a, b, precision.At(a, b)+row[a]*row[b]/d.variances[i])
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(precision, true) {
		t.Fatal("no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	s := solution{make([]float64, n), mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)}
	for e, v := range values {
		if v < 1e-9*values[n-1] {
			continue
		}
		column := mat.Col(nil, e, &vectors)
		for a := range n {
			for b := range n {
				s.inverse.Set(a, b, s.inverse.At(a, b)+column[a]*column[b]/v)
				s.range_.Set(a, b, s.range_.At(a, b)+column[a]*column[b])
			}
		}
	}
	for a := range n {
		for b := range n {
			s.at[a] += s.inverse.At(a, b) * information[b]
		}
	}
	return s
}

// figure returns the estimate and the variance of a sum of cells; +Inf if it is not determined.
func (s solution) figure(row []float64) (value, variance float64) {
	n := len(row)
	var missing float64
	for a := range n {
		var in float64
		for b := range n {
			in += s.range_.At(a, b) * row[b]
			variance += row[a] * s.inverse.At(a, b) * row[b]
		}
		missing = max(missing, math.Abs(in-row[a]))
		value += row[a] * s.at[a]
	}
	if missing > 1e-6 {
		return math.NaN(), math.Inf(1)
	}
	return value, variance
}

// The estimates and variances are those of least squares with one matrix over all cells of all areas, whichever areas
// are asked, and whatever they cannot have.
func TestEqualsDenseLeastSquares(t *testing.T) {
	determined, not := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		tree := randomTree(t, r)
		d, answers := newDense(tree, r)
		if len(d.of) > 250 {
			continue
		}
		if len(d.rows) == 0 {
			continue
		}
		s, spread := d.solve(t), tree.Spread(LeastSquares)
		err := spread.Estimate(context.Background(), answers, func(area int, cells []float64) error {
			sizes, per := tree.cells.Attributes, tree.cells.perKind()
			for i, kind := range tree.areas[area].Possible.list() {
				for cell := range per {
					row := d.cellsOf(tree, area, func(k, c int) bool { return k == kind && c == cell })
					value, variance := s.figure(row)
					weights, parts := make([]float64, tree.cells.Kinds), make([]Part, len(sizes))
					weights[kind] = 1
					for a, n := range sizes {
						parts[a] = Category(n)
					}
					ours, err := spread.Variance(area, weights, parts)
					if err != nil {
						return err
					}
					if math.IsInf(variance, 1) != math.IsInf(ours, 1) ||
						!math.IsInf(ours, 1) && math.Abs(ours-variance) > 1e-9*(1+variance) {
						t.Fatalf("seed %d, area %d, kind %d, cell %d: variance %v, and %v by least squares", seed, area, kind,
							cell, ours, variance)
					}
					if math.IsInf(variance, 1) {
						not++
						if !math.IsNaN(cells[i*per+cell]) {
							t.Fatalf("seed %d, area %d: a cell that nothing determines is %v", seed, area, cells[i*per+cell])
						}
						continue
					}
					determined++
					if got := cells[i*per+cell]; !(math.Abs(got-value) <= 1e-9*(1000+math.Abs(value))) {
						t.Fatalf("seed %d, area %d, kind %d, cell %d: %v, and %v by least squares", seed, area, kind, cell,
							got, value)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if determined < 2000 || not < 200 {
		t.Errorf("%d cells were determined, and %d were not", determined, not)
	}
}

// From the top down children add up to the estimate of their parent, and the first area is estimated as if there were
// no others.
func TestTopDownHoldsTheParent(t *testing.T) {
	all := Query{Groups: []int{0, 1}, Axes: 1, Variance: 2}
	total := Query{Groups: []int{0, 0}, Variance: 0.5}
	areas := []Area{{Parent: -1, Class: 0}, {Parent: 0, Class: 1}, {Parent: 0, Class: 0, Possible: 3},
		{Parent: 1, Class: 1, Possible: 1}, {Parent: 1, Class: 1, Possible: 3}}
	cells := Cells{Kinds: 2, Attributes: []int{3}}
	estimates := func(areas []Area) map[int][]float64 {
		tree, err := New(cells, [][]Query{{all}, {all, total}}, areas)
		if err != nil {
			t.Fatal(err)
		}
		_, answers := newDense(tree, rand.New(rand.NewPCG(7, 7)))
		out := map[int][]float64{}
		if err := tree.Spread(TopDown).Estimate(context.Background(), answers, func(area int, x []float64) error {
			out[area] = append([]float64(nil), x...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	got := estimates(areas)
	for parent, children := range map[int][]int{0: {1, 2}, 1: {3, 4}} {
		for cell, want := range got[parent] {
			var sum float64
			for _, c := range children {
				if cell < len(got[c]) {
					sum += got[c][cell]
				}
			}
			if math.Abs(sum-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("area %d, cell %d: %v, and its children %v", parent, cell, want, sum)
			}
		}
	}
	alone := estimates([]Area{{Parent: -1, Class: 0, Possible: 3}})
	for cell, want := range alone[0] {
		if got[0][cell] != want {
			t.Errorf("cell %d of the first area is %v, and %v where it is alone", cell, got[0][cell], want)
		}
	}
}

func TestNewRefusesWhatIsNoTree(t *testing.T) {
	cells := Cells{Kinds: 2, Attributes: []int{3}}
	good := [][]Query{{{Groups: []int{0, 1}, Axes: 1, Variance: 1}}}
	one := []Area{{Parent: -1, Possible: 3}}
	for what, try := range map[string]func() error{
		"no areas":           func() error { _, err := New(cells, good, nil); return err },
		"two wholes":         func() error { _, err := New(cells, good, []Area{one[0], one[0]}); return err },
		"a child first":      func() error { _, err := New(cells, good, []Area{one[0], {Parent: 1}}); return err },
		"no such class":      func() error { _, err := New(cells, good, []Area{{Parent: -1, Class: 1}}); return err },
		"no such kind":       func() error { _, err := New(cells, good, []Area{{Parent: -1, Possible: 4}}); return err },
		"too many kinds":     func() error { _, err := New(Cells{Kinds: 65}, nil, one); return err },
		"one category":       func() error { _, err := New(Cells{Kinds: 1, Attributes: []int{1}}, nil, one); return err },
		"groups of one kind": func() error { _, err := New(cells, [][]Query{{{Groups: []int{0}, Variance: 1}}}, one); return err },
		"another attribute": func() error {
			_, err := New(cells, [][]Query{{{Groups: []int{0, 0}, Axes: 2, Variance: 1}}}, one)
			return err
		},
		"no variance": func() error { _, err := New(cells, [][]Query{{{Groups: []int{0, 0}}}}, one); return err },
		"an unbound variance": func() error {
			_, err := New(cells, [][]Query{{{Groups: []int{0, 0}, Variance: math.Inf(1)}}}, one)
			return err
		},
	} {
		if try() == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}
