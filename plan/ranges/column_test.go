package ranges

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// unit is the norm of the integers' columns.
const unit = 1 << Bits

// residual is what the strategies in integers have in common.
type residual interface {
	Measure(counts []int64) ([]int64, error)
	MeasureAll(counts []int64, stride int) ([]int64, error)
	Solve(z []float64) []float64
	SolveAll(z []float64, stride int) []float64
	Weights(query []float64) []float64
	Visit(visit func(from int, g []float64))
	Pairs() (facing, apart int64)
}

// shares are, for a query q, what noise of variance 1 on the total adds to the variance of its answer, (q't)², and what
// noise of variance 1 on each of the integers adds, ‖q'G‖².
func shares(r residual, f Figures, query []float64) (total, rest float64) {
	for _, y := range r.Weights(query) {
		rest += y * y
	}
	part := dot(query, f.Tilt)
	return part * part, rest
}

// strategies calls check with the strategies for some workloads: the optimum in
// integers, with its real one, and halving, without one.
func strategies(t *testing.T, check func(t *testing.T, name string, w *Workload, rows [][]float64, r residual,
	f Figures, o *Optimum)) {
	t.Helper()
	for _, n := range []int{1, 2, 3, 10, 64, 99} {
		for _, kind := range kinds {
			w, rows := kind.make(n), kind.rows(n)
			for _, kappa := range []float64{0, 64} {
				o, err := w.Optimum(kappa)
				if err != nil {
					t.Fatal(err)
				}
				c, err := o.Column(Bits)
				if err != nil {
					t.Fatal(err)
				}
				check(t, kind.name, w, rows, c, c.Figures, o)
			}
			if n > 1 {
				h, err := w.Haar(Bits)
				if err != nil {
					t.Fatal(err)
				}
				check(t, "halving, "+kind.name, w, rows, h, h.Figures, nil)
				if h, err = w.HaarLaplace(Bits); err != nil {
					t.Fatal(err)
				}
				check(t, "halving for Laplace noise, "+kind.name, w, rows, h, h.Figures, nil)
			}
		}
	}
}

// TestEstimateIsUnbiased: without noise each category comes back, t + G·R·e_j = e_j,
// to 1e-12; with it no more is added to any estimate than R·G = I and 1'G = 0 allow.
func TestEstimateIsUnbiased(t *testing.T) {
	strategies(t, func(t *testing.T, name string, w *Workload, _ [][]float64, r residual, f Figures, _ *Optimum) {
		n := w.Size()
		counts := make([]int64, n)
		for j := range n {
			clear(counts)
			counts[j] = 1
			moved, err := r.Measure(counts)
			if err != nil || len(moved) != n-1 {
				t.Fatalf("%s of %d: %d integers, %v", name, n, len(moved), err)
			}
			for k, x := range r.Solve(floats(moved)) {
				if want := float64(counts[k]); math.Abs(f.Tilt[k]+x-want) > 1e-12 {
					t.Fatalf("%s of %d: a row of category %d is estimated as %v in category %d", name, n, j,
						f.Tilt[k]+x, k)
				}
			}
		}
		z := make([]float64, n-1)
		for i := range z {
			clear(z)
			z[i] = 1
			var sum, size float64
			for _, x := range r.Solve(z) {
				sum += x
				size += math.Abs(x)
			}
			if math.Abs(sum) > 1e-12*size {
				t.Fatalf("%s of %d: integer %d moves the total by %v", name, n, i, sum)
			}
		}
	})
}

func floats(x []int64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// TestSensitivityIsThatOfTheWorstRow moves one row of each category in turn.
func TestSensitivityIsThatOfTheWorstRow(t *testing.T) {
	strategies(t, func(t *testing.T, name string, w *Workload, _ [][]float64, r residual, f Figures, o *Optimum) {
		var worst, least, reach, norm, facing, apart int64 = 0, math.MaxInt64, 0, 0, 0, 0
		counts, rows := make([]int64, w.Size()), make([][]int64, w.Size())
		for j := range counts {
			clear(counts)
			counts[j] = 1
			moved, err := r.Measure(counts)
			if err != nil {
				t.Fatal(err)
			}
			var squares, sum int64
			for _, v := range moved {
				squares += v * v
				sum += max(v, -v)
				reach = max(reach, v, -v)
			}
			norm, rows[j] = max(norm, sum), moved
			for _, other := range rows[:j] {
				var inner, squares int64
				for i, v := range moved {
					inner += v * other[i]
					squares += (v - other[i]) * (v - other[i])
				}
				facing, apart = max(facing, -inner), max(apart, squares)
			}
			worst, least = max(worst, squares), min(least, squares)
		}
		if worst != f.Squares || reach != f.LargestEntry {
			t.Errorf("%s of %d: a row moves the integers by up to %d squared and %d, said to be %d and %d", name,
				w.Size(),
				worst, reach, f.Squares, f.LargestEntry)
		}
		if face, far := r.Pairs(); norm != f.Norm || face != facing || far != apart {
			t.Errorf("%s of %d: a row moves the integers by up to %d, two face by %d and lie %d apart, said to be "+
				"%d, %d and %d",
				name, w.Size(), norm, facing, apart, f.Norm, face, far)
		}
		// The optimum's norms are all 2²⁰, to what one rounding of the smallest entry of a
		// column leaves: at most 2¹⁰ for a column of one entry or more.
		if o != nil && w.Size() > 1 && (worst > unit*unit+unit || least < unit*unit-unit) {
			t.Errorf("%s of %d: squared norms from %d to %d", name, w.Size(), least, worst)
		}
	})
}

// TestFiguresAreThoseOfTheQueries: what noise of variance 1 adds to each query, by the
// columns of G themselves, and over all queries; the variances of integers are within 1e-3 of
// the real strategy's.
func TestFiguresAreThoseOfTheQueries(t *testing.T) {
	strategies(t, func(t *testing.T, name string, w *Workload, rows [][]float64, r residual, f Figures, o *Optimum) {
		n := w.Size()
		var g [][]float64
		z := make([]float64, n-1)
		for i := range z {
			clear(z)
			z[i] = 1
			g = append(g, r.Solve(z))
		}
		visited := 0
		r.Visit(func(from int, column []float64) {
			for j, x := range g[visited] {
				if inside := j >= from && j < from+len(column); inside && math.Abs(x-column[j-from]) > 1e-12 ||
					!inside && x != 0 {
					t.Fatalf("%s of %d: integer %d moves category %d by %v, by definition %v", name, n, visited,
						j, column, x)
				}
			}
			visited++
		})
		if visited != n-1 {
			t.Errorf("%s of %d: %d columns", name, n, visited)
		}
		var total, rest float64
		for _, row := range rows {
			var want float64
			weights := r.Weights(row)
			for i, column := range g {
				x := dot(row, column)
				want += x * x
				if math.Abs(weights[i]-x) > 1e-12 {
					t.Fatalf("%s of %d: weight %v on integer %d, by definition %v", name, n, weights[i], i, x)
				}
			}
			a, b := shares(r, f, row)
			total, rest = total+a, rest+b
			part := dot(row, f.Tilt)
			if math.Abs(a-part*part) > 1e-12*(1+a) || math.Abs(b-want) > 1e-10*want+1e-20 {
				t.Fatalf("%s of %d: shares %v and %v of a query, by definition %v and %v", name, n, a, b, part*part,
					want)
			}
		}
		if math.Abs(total-f.Total) > 1e-9*total || math.Abs(rest-f.Residual) > 1e-9*rest {
			t.Errorf("%s of %d: shares %v and %v of all queries, said to be %v and %v", name, n, total, rest, f.Total,
				f.Residual)
		}
		if o != nil && n > 1 {
			if loss := f.Residual*float64(f.Squares)/o.Residual - 1; math.Abs(loss) > 1e-3 ||
				math.Abs(f.Total/o.Total-1) > 5e-4 {
				t.Errorf("%s of %d: as integers %v and %v of what was found", name, n, 1+loss, f.Total/o.Total)
			}
		}
	})
}

// TestVarianceIsThatOfTheEstimate draws Gaussian noise on total and integers, and
// holds the mean square error of the whole workload against Total and Residual. The
// sum over the queries of 6000 draws has a relative standard deviation below √(2/6000)
// = 1.8 %; 6 of them are 11 %.
func TestVarianceIsThatOfTheEstimate(t *testing.T) {
	const draws = 6000
	r := rand.New(rand.NewPCG(5, 6))
	w, rows := AllRanges(9), kinds[1].rows(9)
	o, err := w.Optimum(8)
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.Column(Bits)
	if err != nil {
		t.Fatal(err)
	}
	var error float64
	for range draws {
		z := make([]float64, 8)
		for i := range z {
			z[i] = r.NormFloat64() * 3000
		}
		x := c.Solve(z)
		addTo(x, r.NormFloat64()*2, c.Tilt)
		for _, row := range rows {
			error += dot(row, x) * dot(row, x) / draws
		}
	}
	if want := 4*c.Total + 9e6*c.Residual; math.Abs(error/want-1) > .11 {
		t.Errorf("a mean square error of %v, said to be %v", error, want)
	}
}

func TestOverflowIsAnError(t *testing.T) {
	strategies(t, func(t *testing.T, name string, w *Workload, _ [][]float64, r residual, f Figures, _ *Optimum) {
		if w.Size() < 2 {
			return
		}
		counts := make([]int64, w.Size())
		for _, c := range []struct {
			first, last int64
			fits        bool
		}{
			{math.MaxInt64 / f.LargestEntry, 0, true}, {0, -math.MaxInt64 / f.LargestEntry, true},
			{math.MaxInt64/f.LargestEntry + 1, 0, false}, {math.MaxInt64 / f.LargestEntry, -1, false},
			{math.MinInt64, math.MinInt64, false},
		} {
			counts[0], counts[len(counts)-1] = c.first, c.last
			if _, err := r.Measure(counts); c.fits != (err == nil) || err != nil && !errors.Is(err, ErrOverflow) {
				t.Errorf("%s of %d: counts %d and %d: %v", name, w.Size(), c.first, c.last, err)
			}
		}
	})
}

// TestRoundedIsUpOrDown: no entry moves by 1 or more, and signs stay.
func TestRoundedIsUpOrDown(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 2, 5, 200} {
		column, squares := make([]float64, n), 0.0
		for i := range column {
			column[i] = r.NormFloat64() / float64(1+i)
			squares += column[i] * column[i]
		}
		var sum float64
		for i := range column {
			column[i] *= unit / math.Sqrt(squares)
		}
		for i, k := range roundColumn(column, unit) {
			if math.Abs(float64(k)-column[i]) >= 1 {
				t.Errorf("%v is rounded to %d", column[i], k)
			}
			sum += float64(k) * float64(k)
		}
		// The smallest of 200 entries is below 6, a step of it below 12.
		if limit := map[bool]float64{true: 12, false: unit}[n == 200]; math.Abs(sum-unit*unit) > limit {
			t.Errorf("%d entries have a squared norm of %v", n, sum)
		}
	}
}

func TestHaarIsForRanges(t *testing.T) {
	if _, err := Prefix(1).Haar(Bits); err == nil {
		t.Error("one category is halved")
	}
}
