package graphical

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

func repeated(x float64, n int) []float64 {
	out := make([]float64, n)
	fillWith(out, x)
	return out
}

// TestWeightsAreInverseVariances: a column is measured as 60 and 40 with variance 1, and a pair has it as 50 and 50
// with variance 2 in each of four cells, so 4 in a sum of two. Least squares give (60/1 + 50/4)/(1/1 + 1/4) = 58.
// Weights of 1/σ would give (60 + 50/2)/(1 + 1/2) = 56.7, and equal ones 55.
func TestWeightsAreInverseVariances(t *testing.T) {
	m := New(Domain{2, 2}, nil, 100)
	m.Measure(Clique{0}, []float64{60, 40}, repeated(1, 2))
	m.Measure(Clique{0, 1}, repeated(25, 4), repeated(2, 4))
	m.Fit(t.Context(), 3000)
	if got := m.Marginal(Clique{0}); maxDifference(got, []float64{58, 42}) > 1e-6 {
		t.Errorf("the column is %v, expected 58 and 42", got)
	}
}

// TestRepeatsArePooled: the inverse-variance mean of 30 with variance 1 and 90 with variance 3 is 45, whichever is
// measured first.
func TestRepeatsArePooled(t *testing.T) {
	for _, first := range []int{0, 1} {
		m := New(Domain{2}, nil, 100)
		for k := range 2 {
			if k == first {
				m.Measure(Clique{0}, []float64{30, 70}, repeated(1, 2))
			} else {
				m.Measure(Clique{0}, []float64{90, 10}, repeated(3, 2))
			}
		}
		m.Fit(t.Context(), 3000)
		if got := m.Marginal(Clique{0}); maxDifference(got, []float64{45, 55}) > 1e-6 {
			t.Errorf("the column is %v, expected 45 and 55", got)
		}
	}
}

// measurement is one measurement of a random problem.
type measurement struct {
	of              Clique
	noisy, variance []float64
}

// randomMeasurements returns very noisy measurements of random cliques of a uniform law.
func randomMeasurements(r *rand.Rand, d Domain, total float64) []measurement {
	var all []measurement
	for range 4 {
		c := randomClique(r, len(d), 1+r.IntN(2))
		n := int(d.Cells(c))
		one := measurement{c, make([]float64, n), make([]float64, n)}
		spread := total / float64(n) * (0.2 + r.Float64())
		for i := range one.noisy {
			one.noisy[i], one.variance[i] = total/float64(n)+spread*r.NormFloat64(), spread*spread*(0.5+r.Float64())
		}
		all = append(all, one)
	}
	return all
}

// leastLoss minimises Σ‖marginal − noisy‖²/2σ² over all nonnegative tables of the whole domain with this total, by
// projected gradients, and returns the table.
func leastLoss(d Domain, total float64, all []measurement) []float64 {
	every := make(Clique, len(d))
	for a := range every {
		every[a] = a
	}
	x := repeated(total/d.Cells(every), int(d.Cells(every)))
	curvature := 0.0
	for _, m := range all {
		curvature += d.Cells(every.without(m.of)) / slices.Min(m.variance)
	}
	momentum, before := 1.0, slices.Clone(x)
	ahead := slices.Clone(x)
	for range 4000 {
		gradient := make([]float64, len(x))
		for _, m := range all {
			now := marginalOf(d, ahead, m.of)
			for i := range gradient {
				at := d.cellOf(m.of, d.codesOf(i))
				gradient[i] += (now[at] - m.noisy[at]) / m.variance[at]
			}
		}
		copy(before, x)
		for i := range x {
			x[i] = ahead[i] - gradient[i]/curvature
		}
		toSimplex(x, total)
		next := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		for i := range x {
			ahead[i] = x[i] + (momentum-1)/next*(x[i]-before[i])
		}
		momentum = next
	}
	return x
}

// toSimplex moves x to the nearest point that has no negative entries and this sum.
func toSimplex(x []float64, total float64) {
	sorted := slices.Clone(x)
	slices.SortFunc(sorted, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
	shift, s := 0.0, 0.0
	for i, v := range sorted {
		s += v
		if level := (s - total) / float64(i+1); v > level {
			shift = level
		}
	}
	for i := range x {
		x[i] = max(0, x[i]-shift)
	}
}

func lossOf(d Domain, x []float64, all []measurement) float64 {
	loss := 0.0
	for _, m := range all {
		for i, v := range marginalOf(d, x, m.of) {
			loss += (v - m.noisy[i]) * (v - m.noisy[i]) / (2 * m.variance[i])
		}
	}
	return loss
}

// TestFitFindsTheOptimum compares the loss of fits with the least loss of any table of the whole domain. Mirror descent
// approaches a side of the simplex slowly, hence the tolerance of a thousandth.
func TestFitFindsTheOptimum(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for run := range 6 {
		d := Domain{3, 2, 4}
		all := randomMeasurements(r, d, 500)
		m := New(d, nil, 500)
		for _, one := range all {
			m.Measure(one.of, one.noisy, one.variance)
		}
		said := m.Fit(t.Context(), 2500)
		want := lossOf(d, leastLoss(d, 500, all), all)
		fitted := 0.0 // computed from the marginals and the measurements
		for _, one := range all {
			for i, v := range m.Marginal(one.of) {
				fitted += (v - one.noisy[i]) * (v - one.noisy[i]) / (2 * one.variance[i])
			}
		}
		if !(fitted <= want*1.001+1e-6) || fitted < want*(1-1e-6)-1e-6 {
			t.Errorf("run %d: the loss is %v, the least is %v", run, fitted, want)
		}
		if said > fitted+1e-6 {
			t.Errorf("run %d: the loss is said to be %v, and is %v", run, said, fitted)
		}
	}
}

// TestSizeWithIsABound: a model with a measurement of a clique is no larger than SizeWith said, and a clique that the
// tree hosts leaves the size as it is; also with given attributes.
func TestSizeWithIsABound(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for run := range 40 {
		var d Domain
		for range 12 {
			d = append(d, 1+r.IntN(5))
		}
		m := New(d, randomClique(r, len(d), run%2*4), 10)
		for range 14 {
			c := randomClique(r, len(d), 2)
			before, said := m.Size(), m.SizeWith(c)
			if said.Total > 5000 {
				continue
			}
			held := m.isHosted(m.rankClique(c))
			m.termOf(m.rankClique(c))
			m.calibrated()
			if !m.Size().FitsIn(said) || held && said != before {
				t.Fatalf("%v with %v has size %v, was said to have %v, and %v before", d, c, m.Size(), said, before)
			}
			for _, term := range m.terms {
				if !m.isHosted(term.of) {
					t.Fatalf("no clique holds %v", term.of)
				}
			}
		}
	}
}

// TestGivenAttributesStandTogether: an attribute with edges to two given ones makes a clique of all three, since it is
// drawn given both; if they were not given it would make two cliques of a pair each. The same holds for two attributes
// with an edge between them and one to a given attribute each.
func TestGivenAttributesStandTogether(t *testing.T) {
	for _, c := range []struct {
		given    Clique
		two, way Size
	}{
		{nil, Size{36, 16}, Size{48, 16}},
		{Clique{2, 3}, Size{68, 64}, Size{128, 64}},
	} {
		m := New(Domain{4, 4, 4, 4}, c.given, 10)
		m.Measure(Clique{0, 2}, repeated(1, 16), repeated(1, 16))
		if got := m.SizeWith(Clique{0, 3}); got != c.two {
			t.Errorf("given %v, a second edge makes a tree of %v", c.given, got)
		}
		m.Measure(Clique{0, 1}, repeated(1, 16), repeated(1, 16))
		if got := m.SizeWith(Clique{1, 3}); got != c.way {
			t.Errorf("given %v, a way from one to the other makes a tree of %v", c.given, got)
		}
	}
}

// TestTreeIsAJunctionTree: every attribute is in a clique, the cliques with an attribute are connected, and a clique
// and its parent share the intersection of both. With given attributes the tree is strong.
func TestTreeIsAJunctionTree(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	for run := range 100 {
		given := randomClique(r, 7, run%5)
		g := newGraph(Domain{2, 3, 2, 4, 2, 2, 3}, given)
		for range r.IntN(8) {
			g.addClique(randomClique(r, 7, 1+r.IntN(3)))
		}
		best := g.bestElimination(nil)
		tree := best.junctionTree()
		tops := make([]int, 7) // by attribute: cliques that have it and whose parent does not
		for i, c := range tree.Cliques {
			var parent Clique
			if i > 0 {
				if tree.Parent[i] >= i {
					t.Fatal("a parent comes after its child")
				}
				parent = tree.Cliques[tree.Parent[i]]
			}
			if !slices.Equal(tree.Shared[i], c.intersection(parent)) {
				t.Fatalf("%v and %v are said to share %v", c, parent, tree.Shared[i])
			}
			for _, a := range c {
				if !parent.has(a) {
					tops[a]++
				}
			}
			if !given.holds(tree.Shared[i]) && len(c.without(parent).intersection(given)) > 0 {
				t.Fatalf("%v below %v is not strong, where %v are given", c, parent, given)
			}
		}
		if !slices.Equal(tops, []int{1, 1, 1, 1, 1, 1, 1}) {
			t.Fatalf("attributes have %v parts in %v", tops, tree.Cliques)
		}
	}
}

// A fit whose context ends after n checks makes the same n steps, to the bit, and afterwards no marginal is found.
func TestFitsEndWithTheContext(t *testing.T) {
	fitted := func(ctx context.Context, steps int) *Model {
		m := New(Domain{3, 2, 4}, nil, 100)
		for _, one := range randomMeasurements(rand.New(rand.NewPCG(3, 4)), Domain{3, 2, 4}, 100) {
			m.Measure(one.of, one.noisy, one.variance)
		}
		m.Fit(ctx, steps)
		return m
	}
	for steps := range 8 {
		ctx := testkit.EndingAfter(t.Context(), int64(steps))
		got, want := fitted(ctx, 100).Marginal(Clique{0, 1, 2}), fitted(t.Context(), steps).Marginal(Clique{0, 1, 2})
		if !slices.Equal(got, want) || ctx.Late() != 1 {
			t.Errorf("a context that ends after %d steps, and is asked %d times more, leaves %v and not %v", steps,
				ctx.Late(),
				got, want)
		}
	}
	m, cliques := fitted(t.Context(), 8), []Clique{{0}, {0, 1}, {1, 2}, {0, 1, 2}}
	whole, found := testkit.NeverEnding(t.Context()), 0
	m.Marginals(whole, cliques[:1], func(int, []float64) { found++ })
	for n := range whole.Asked() {
		m.Marginals(testkit.EndingAfter(t.Context(), n), cliques[:1], func(int, []float64) { found++ })
	}
	if found != 1 || whole.Asked() < 4 {
		t.Errorf("%d marginals are found, by a context that is asked %d times", found, whole.Asked())
	}
	m.Marginals(testkit.EndingAfter(t.Context(), 0), cliques,
		func(int, []float64) { t.Error("a marginal is found though the context has ended") })
	for _, size := range m.SizesWith(testkit.EndingAfter(t.Context(), 0), cliques) {
		if size != (Size{}) {
			t.Error("a size is found though the context has ended")
		}
	}
}

// TestCoresMakeNoDifference: a model with tables that are processed in halves has the same bits on one core and on two.
func TestCoresMakeNoDifference(t *testing.T) {
	run := func(cores int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		d := Domain{30, 3, 25, 24}
		m, r := New(d, nil, 1000), rand.New(rand.NewPCG(8, 9))
		for _, c := range []Clique{{0, 2, 3}, {0, 1}, {1, 3}, {2}, {1, 2}} {
			noisy := make([]float64, int(d.Cells(c)))
			for i := range noisy {
				noisy[i] = 1000/float64(len(noisy)) + 3*r.NormFloat64()
			}
			m.Measure(c, noisy, repeated(9, len(noisy)))
			m.Fit(t.Context(), 3)
		}
		if m.Size().Largest < dividedCells {
			t.Fatalf("no table has %d cells: %v", dividedCells, m.Size())
		}
		return fmt.Sprintf("%x", m.Marginal(Clique{0, 1}))
	}
	if run(1) != run(2) {
		t.Error("one core and two give other bits")
	}
}

// TestDegenerateModelsAreFinite measures counts that no table can have, and attributes of one category.
func TestDegenerateModelsAreFinite(t *testing.T) {
	for _, d := range []Domain{{1}, {1, 1}, {2, 1, 3}, {500, 2}} {
		for _, total := range []float64{-5, 0, 1, 1e18} {
			for _, value := range []float64{0, -1e6, 3, 1e18} {
				for _, variance := range []float64{0x1p-60, 1, 1e12} {
					m := New(d, nil, total)
					all := make(Clique, len(d))
					for a := range d {
						all[a] = a
						m.Measure(Clique{a}, repeated(value, d[a]), repeated(variance, d[a]))
					}
					m.Measure(all, repeated(-value, int(d.Cells(all))), repeated(variance, int(d.Cells(all))))
					m.Fit(t.Context(), 4)
					s := 0.0
					for _, x := range m.Marginal(all) {
						if !(x >= 0) {
							t.Fatalf("%v, total %v, value %v, variance %v: a count of %v", d, total, value, variance, x)
						}
						s += x
					}
					if want := max(total, 1); math.Abs(s-want) > 1e-9*want {
						t.Fatalf("%v, total %v, value %v, variance %v: counts sum to %v", d, total, value, variance, s)
					}
				}
			}
		}
	}
}

// TestSweepInHalves compares sums and products of a table that is processed in halves with those computed cell by cell.
func TestSweepInHalves(t *testing.T) {
	d, all := Domain{6, 20, 30, 40}, Clique{0, 1, 2, 3}
	r := rand.New(rand.NewPCG(10, 11))
	random := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.Float64()
		}
		return x
	}
	order := []int{2, 0, 1, 3}
	of := []Clique{{3}, {0, 1}, {2, 3}, {0, 2}, nil, {1, 2, 3}}
	in := random(int(d.Cells(all)))
	if len(in) < dividedCells {
		t.Fatal("the table is too small")
	}
	var factors, sums []operand
	for i, c := range of {
		factors = append(factors, operand{i, random(int(d.Cells(c)))})
		sums = append(sums, operand{i, make([]float64, int(d.Cells(c)))})
	}
	out := make([]float64, len(in))
	newSweep(d, order, of...).run(out, in, 0.5, factors, sums)
	wanted := make([][]float64, len(of))
	for i, s := range sums {
		wanted[i] = make([]float64, len(s.values))
	}
	for cell, x := range in {
		codes, rest := make([]int, len(d)), cell
		for k := len(order) - 1; k >= 0; k-- {
			codes[order[k]], rest = rest%d[order[k]], rest/d[order[k]]
		}
		x *= 0.5
		for i, c := range of {
			x *= factors[i].values[d.cellOf(c, codes)]
		}
		if math.Abs(out[cell]-x) > 1e-12*x {
			t.Fatalf("cell %d is %v, expected %v", cell, out[cell], x)
		}
		for i, c := range of {
			wanted[i][d.cellOf(c, codes)] += x
		}
	}
	for i, c := range of {
		if maxDifference(wanted[i], sums[i].values) > 1e-10*slices.Max(wanted[i]) {
			t.Errorf("sums over %v are off by %v", c, maxDifference(wanted[i], sums[i].values))
		}
	}
}
