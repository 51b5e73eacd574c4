package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/design"
	"gonum.org/v1/gonum/mat"
)

// regressionPopulation is rows of codes of a design's columns.
type regressionPopulation struct {
	design *design.Design
	codes  [][]int
}

// sums returns the exact moments of some rows of codes.
func sums(d *design.Design, rows [][]int) (diagonal, offDiagonal []int64) {
	on, off := d.Lengths()
	diagonal, offDiagonal = make([]int64, on), make([]int64, off)
	e := d.Encodings()
	for _, row := range rows {
		codes := append([]int{0}, row...)
		for i, k := range d.Squares() {
			diagonal[i] += e[k].Square[codes[k]]
		}
		for i := range e {
			for j := i + 1; j < len(e); j++ {
				offDiagonal[d.Block(i, j)+e[i].Offset[codes[i]]*e[j].Width+e[j].Offset[codes[j]]] +=
					e[i].Value[codes[i]] * e[j].Value[codes[j]]
			}
		}
	}
	return diagonal, offDiagonal
}

// noisy adds rounded normal noise of a standard deviation to integers.
func noisy(r *rand.Rand, exact []int64, deviation float64) []int64 {
	out := make([]int64, len(exact))
	for i, x := range exact {
		out[i] = x + int64(math.Round(deviation*r.NormFloat64()))
	}
	return out
}

// release draws releases of the moments of rows with normal noise of a standard deviation off the diagonal, in units in
// which features are between −1 and 1 (and the target in one of its own), and √2 times as much on it.
func (p regressionPopulation) release(t testing.TB, r *rand.Rand) func(deviation float64) *RegressionMoments {
	t.Helper()
	diagonal, offDiagonal := sums(p.design, p.codes)
	return func(deviation float64) *RegressionMoments {
		deviation *= design.Scale * design.Scale
		variance := deviation * deviation
		m, err := NewRegressionMoments(p.design, noisy(r, diagonal, math.Sqrt2*deviation),
			noisy(r, offDiagonal, deviation), 2*variance, variance)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// leastSquaresOf returns the coefficients and residual variance of rows by the QR decomposition of gonum: the intercept
// and, for each column, its number or the indicators of its categories but the reference's.
func (p regressionPopulation) leastSquaresOf(references []int) (coefficients []float64, variance float64) {
	columns := p.design.Columns()
	target := len(columns) - 1
	var x []float64
	var y []float64
	width := 0
	for _, row := range p.codes {
		line := []float64{1}
		for i, c := range columns[:target] {
			for code := range c.Size() {
				switch {
				case c.IsNumber():
					if code == 0 {
						line = append(line, float64(c.Values[row[i]]))
					}
				case code != references[i]:
					v := 0.0
					if row[i] == code {
						v = 1
					}
					line = append(line, v)
				}
			}
		}
		width = len(line)
		x = append(x, line...)
		v := 0.0
		if c := columns[target]; c.IsNumber() {
			v = float64(c.Values[row[target]])
		} else if row[target] == p.design.Positive() {
			v = 1
		}
		y = append(y, v)
	}
	n := len(p.codes)
	a, b := mat.NewDense(n, width, x), mat.NewVecDense(n, y)
	var w, fitted mat.VecDense
	if err := w.SolveVec(a, b); err != nil {
		panic(err)
	}
	fitted.MulVec(a, &w)
	fitted.SubVec(b, &fitted)
	return w.RawVector().Data, mat.Dot(&fitted, &fitted) / float64(n-width)
}

// drawPopulation returns n rows of a number with steps, a column of three categories and one of two, with a number as
// target: 3 + 2·number/100 + effects + an error of about normal law.
func drawPopulation(t testing.TB, r *rand.Rand, n int) regressionPopulation {
	t.Helper()
	x, y := design.Column{Name: "x"}, design.Column{Name: "y"}
	for v := range int64(201) {
		x.Values = append(x.Values, v-100)
	}
	for v := range int64(401) {
		y.Values = append(y.Values, v-200)
	}
	d, err := design.New([]design.Column{x, {Name: "region", Categories: []string{"N", "E", "S"}},
		{Name: "sex", Categories: []string{"f", "m"}}, y}, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := regressionPopulation{design: d}
	for range n {
		v, region, sex := r.IntN(201), min(2, r.IntN(4)), r.IntN(2)
		mean := 0.4*float64(v-100) + []float64{-10, 0, 20}[region] + 8*float64(sex)
		p.codes = append(p.codes, []int{v, region, sex,
			max(0, min(400, 200+int(math.Round(mean+25*r.NormFloat64()))))})
	}
	return p
}

// TestLinearRegressionEqualsLeastSquares compares with gonum where there is no noise: coefficients, the residual
// variance, and of moments by pairs of columns; with a number and with one of three categories as target.
func TestLinearRegressionEqualsLeastSquares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	number, category := drawPopulation(t, r, 3000), drawPopulation(t, r, 3000)
	columns := slices.Clone(category.design.Columns())
	columns[3] = design.Column{Name: "y", Categories: []string{"low", "middle", "high"}}
	d, err := design.New(columns, 2)
	if err != nil {
		t.Fatal(err)
	}
	category.design = d
	for _, row := range category.codes {
		row[3] = row[3] * 3 / 401
	}
	for name, p := range map[string]regressionPopulation{"number": number, "category": category} {
		t.Run(name, func(t *testing.T) { p.compareWithLeastSquares(t, p.release(t, r)(0)) })
		t.Run(name+" by pairs", func(t *testing.T) { p.compareWithLeastSquares(t, p.pairs(t, r, 1e-9)) })
	}
}

// compareWithLeastSquares compares the regression of moments without noise with that of the rows.
func (p regressionPopulation) compareWithLeastSquares(t *testing.T, m *RegressionMoments) {
	t.Helper()
	got, err := LinearRegression(m, RegressionOptions{References: map[string]int{"region": 1, "sex": 1}})
	if err != nil {
		t.Fatal(err)
	}
	want, variance := p.leastSquaresOf([]int{0, 1, 1})
	k := 0
	for _, term := range got.Terms {
		if len(term.Flags) > 0 {
			if !slices.Equal(term.Flags, []string{RegressionReference}) || *term.Coefficient != 0 {
				t.Errorf("%s %s: flags %v", term.Column, term.Category, term.Flags)
			}
			continue
		}
		if d := math.Abs(*term.Coefficient - want[k]); d > 0.01*term.StandardError {
			t.Errorf("%s %s: got %v, want %v", term.Column, term.Category, *term.Coefficient, want[k])
		}
		if term.NoiseError > 1e-6*term.StandardError {
			t.Errorf("%s %s: noise error %v", term.Column, term.Category, term.NoiseError)
		}
		k++
	}
	if k != len(want) {
		t.Errorf("%d terms, want %d", k, len(want))
	}
	if math.Abs(*got.ResidualVariance/variance-1) > 1e-3 {
		t.Errorf("residual variance %v, want %v", *got.ResidualVariance, variance)
	}
}

// pairs returns the moments of rows by tables of all pairs of columns with normal noise of a standard deviation.
func (p regressionPopulation) pairs(t testing.TB, r *rand.Rand, deviation float64) *RegressionMoments {
	t.Helper()
	m, err := RegressionMomentsOfTables(t.Context(), p.design, pairTables(p.design, p.codes, r, deviation))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// pairTables returns tables of all pairs of columns with normal noise of a standard deviation.
func pairTables(d *design.Design, rows [][]int, r *rand.Rand, deviation float64) (all []RegressionTable) {
	sizes := d.Sizes()
	for i := range sizes {
		for j := i + 1; j < len(sizes); j++ {
			p := RegressionTable{First: i, Second: j, Counts: make([]float64, sizes[i]*sizes[j])}
			p.Noise = func(x, y []float64, visit func(source string, variance float64, weights []float64)) {
				weights := make([]float64, 0, len(x)*len(y))
				for _, v := range x {
					for _, w := range y {
						weights = append(weights, v*w)
					}
				}
				visit(fmt.Sprint(i, j), deviation*deviation, weights)
			}
			for _, row := range rows {
				p.Counts[row[i]*sizes[j]+row[j]]++
			}
			for k := range p.Counts {
				p.Counts[k] += deviation * r.NormFloat64()
			}
			all = append(all, p)
		}
	}
	return all
}

// TestNoiseOfPairsHasItsLaw releases pairs of the same rows many times: the coefficients lie about those of the rows as
// the noise errors say.
func TestNoiseOfPairsHasItsLaw(t *testing.T) {
	const releases = 2000
	r := rand.New(rand.NewPCG(7, 8))
	p := smallPopulation(t, r, 2000)
	o := RegressionOptions{References: map[string]int{"region": 2}}
	exact, err := LinearRegression(p.release(t, r)(0), o)
	if err != nil {
		t.Fatal(err)
	}
	squares := make([]float64, len(exact.Terms))
	for range releases {
		got, err := LinearRegression(p.pairs(t, r, 4), o)
		if err != nil {
			t.Fatal(err)
		}
		for i, term := range got.Terms {
			if term.RegressionInterval != nil {
				z := (*term.Coefficient - *exact.Terms[i].Coefficient) / term.NoiseError
				squares[i] += z * z / releases
			}
		}
	}
	// The mean of 2 000 squares of a normal law has a standard error of .032.
	for i, term := range exact.Terms {
		if term.RegressionInterval != nil && math.Abs(squares[i]-1) > .2 {
			t.Errorf("%s %s: mean square of standardised errors %.3f", term.Column, term.Category, squares[i])
		}
		t.Logf("%s %s: %.3f", term.Column, term.Category, squares[i])
	}
}

// smallPopulation returns n rows of a number of five values, a column of three categories and a label.
func smallPopulation(t testing.TB, r *rand.Rand, n int) regressionPopulation {
	t.Helper()
	d, err := design.New([]design.Column{{Name: "x", Values: []int64{0, 1, 2, 4, 8}},
		{Name: "region", Categories: []string{"N", "E", "S"}}, {Name: "sick", Categories: []string{"no", "yes"}}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := regressionPopulation{design: d}
	for range n {
		x, region, sick := r.IntN(5), r.IntN(3), 0
		if r.Float64() < 0.2+0.1*float64(x)+0.1*float64(region) {
			sick = 1
		}
		p.codes = append(p.codes, []int{x, region, sick})
	}
	return p
}

// TestWhatIsNotClearIsFlagged regresses on rows with nothing to learn from: collinear and constant columns, empty
// categories, one class, few rows and none, with noise and without.
func TestWhatIsNotClearIsFlagged(t *testing.T) {
	d, err := design.New([]design.Column{{Name: "x", Values: []int64{0, 1, 2, 3}},
		{Name: "twice", Values: []int64{0, 2, 4, 6}}, {Name: "region", Categories: []string{"N", "E", "S", "W"}},
		{Name: "sex", Categories: []string{"f", "m"}},
		{Name: "sick", Categories: []string{"no", "yes"}}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		rows int
		row  func(r *rand.Rand) []int
		want map[string]string // flag by term, "" is the intercept, and of the whole under "model"
	}{
		{"collinear", 4000, func(r *rand.Rand) []int {
			x := r.IntN(4)
			return []int{x, x, r.IntN(4), r.IntN(2), r.IntN(2)}
		}, map[string]string{"twice": RegressionNotClear}},
		{"constant number and contrast", 4000, func(r *rand.Rand) []int {
			return []int{2, r.IntN(4), r.IntN(4), 1, r.IntN(2)}
		}, map[string]string{"x": RegressionNotClear, "sexf": RegressionNotClear}},
		{"an empty category", 4000, func(r *rand.Rand) []int {
			return []int{r.IntN(4), r.IntN(4), r.IntN(3), r.IntN(2), r.IntN(2)}
		}, map[string]string{"regionW": RegressionNotClear}},
		{"one class", 4000, func(r *rand.Rand) []int {
			return []int{r.IntN(4), r.IntN(4), r.IntN(4), r.IntN(2), 1}
		}, map[string]string{"model": RegressionConstantTarget}},
		{"few rows", 3, func(r *rand.Rand) []int {
			return []int{r.IntN(4), r.IntN(4), r.IntN(4), r.IntN(2), r.IntN(2)}
		}, map[string]string{"model": RegressionFewRows}},
		{"no rows", 0, nil, map[string]string{"model": RegressionFewRows, "": RegressionNotClear}},
	} {
		for _, deviation := range []float64{0, 5} {
			r := rand.New(rand.NewPCG(1, 2))
			p := regressionPopulation{design: d}
			for range c.rows {
				p.codes = append(p.codes, c.row(r))
			}
			m := p.release(t, r)(deviation)
			linear, err := LinearRegression(m, RegressionOptions{})
			if err != nil {
				t.Fatal(err)
			}
			logistic, err := LogisticRegression(m, RegressionOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range []*Regression{linear, logistic} {
				flags := map[string]string{"model": strings.Join(g.Flags, " ")}
				for _, term := range g.Terms {
					flags[term.Column+term.Category] = strings.Join(term.Flags, " ")
				}
				for name, want := range c.want {
					if c.rows == 3 && deviation == 0 {
						continue // three rows without noise can tell two terms
					}
					if !strings.Contains(flags[name], want) {
						t.Errorf("%s, noise %g, %s: %s has the flags %q, want %q", c.name, deviation, g.Method, name,
							flags[name], want)
					}
				}
				checkFinite(t, c.name, g, d)
			}
		}
	}
}

// predictionsBy returns the predictions of a regression by the codes of a row.
func predictionsBy(t testing.TB, g *Regression, d *design.Design) func(codes []int) float64 {
	t.Helper()
	published := *g
	published.Columns = ColumnsOf(d)
	p, err := published.Predictor()
	if err != nil {
		t.Fatal(err)
	}
	return func(codes []int) float64 {
		row := make([]Value, len(p.Inputs))
		for i, in := range p.Inputs {
			row[i].Category = codes[i]
			if in.IsNumber() {
				row[i].Number = float64(d.Columns()[i].Values[codes[i]])
			}
		}
		return p.Mean(row)
	}
}

// checkFinite fails if a number of a regression or a prediction is not finite, or a probability is none.
func checkFinite(t *testing.T, name string, g *Regression, d *design.Design) {
	t.Helper()
	if _, err := json.Marshal(g); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	predict := predictionsBy(t, g, d)
	codes := make([]int, len(d.Columns()))
	for i, c := range d.Columns() {
		codes[i] = c.Size() - 1
	}
	for _, row := range [][]int{make([]int, len(codes)), codes} {
		v := predict(row)
		if math.IsNaN(v) || math.IsInf(v, 0) || g.Method == RegressionLogistic && (v < 0 || v > 1) {
			t.Errorf("%s: the prediction is %v", name, v)
		}
	}
}

// TestRegressionsAreFinite regresses on random integers as moments, from tiny to the largest.
func TestRegressionsAreFinite(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := drawPopulation(t, r, 0).design
	two := smallPopulation(t, r, 0).design
	for k := range 300 {
		for _, d := range []*design.Design{d, two} {
			on, off := d.Lengths()
			draw := func(n int) []int64 {
				all := make([]int64, n)
				for i := range all {
					all[i] = int64(r.Uint64()) >> (r.IntN(64))
					if k%3 == 0 {
						all[i] >>= 40
					}
				}
				return all
			}
			m, err := NewRegressionMoments(d, draw(on), draw(off), math.Exp(float64(r.IntN(100)))-1,
				math.Exp(float64(r.IntN(100)))-1)
			if err != nil {
				t.Fatal(err)
			}
			g, err := LinearRegression(m, RegressionOptions{})
			if err != nil {
				t.Fatal(err)
			}
			checkFinite(t, fmt.Sprint(k), g, d)
			if d == two {
				if g, err = LogisticRegression(m, RegressionOptions{}); err != nil {
					t.Fatal(err)
				}
				checkFinite(t, fmt.Sprint(k), g, d)
			}
		}
	}
}

// TestPredictionsAreSumsOfWeights recomputes predictions from the published JSON alone.
func TestPredictionsAreSumsOfWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	p := smallPopulation(t, r, 3000)
	for _, fit := range []func(*RegressionMoments, RegressionOptions) (*Regression, error){LinearRegression,
		LogisticRegression} {
		g, err := fit(p.release(t, r)(10), RegressionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		var read Regression
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		predict := predictionsBy(t, &read, p.design)
		columns, mean := p.design.Columns(), 0.0
		for _, codes := range p.codes[:100] {
			sum := 0.0
			for _, term := range read.Terms {
				switch {
				case term.Column == "":
					sum += term.Weight
				case term.Column == "x":
					sum += term.Weight * float64(columns[0].Values[codes[0]])
				case term.Category == columns[1].Categories[codes[1]]:
					sum += term.Weight
				}
			}
			if g.Method == RegressionLogistic {
				sum = 1 / (1 + math.Exp(-sum))
			}
			if got := predict(codes); math.Abs(got-sum) > 1e-12 {
				t.Errorf("%s: %v predicts %v, want %v", g.Method, codes, got, sum)
			}
		}
		for _, codes := range p.codes {
			mean += (predict(codes) - float64(codes[2])) / float64(len(p.codes))
		}
		if math.Abs(mean) > .03 {
			t.Errorf("%s: predictions are off by %.3f on average", g.Method, mean)
		}
		read.Columns = ColumnsOf(drawPopulation(t, r, 0).design)
		if _, err := read.Predictor(); err == nil {
			t.Error("a regression predicts by the columns of another")
		}
	}
}

// TestRegressionsThatCannotBeAskedForAreRefused lists them with what is said of each.
func TestRegressionsThatCannotBeAskedForAreRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	p, numeric := smallPopulation(t, r, 100), drawPopulation(t, r, 100)
	m, n := p.release(t, r)(1), numeric.release(t, r)(1)
	diagonal, offDiagonal := sums(p.design, p.codes)
	moments := func(a, b []int64, v, w float64) error {
		_, err := NewRegressionMoments(p.design, a, b, v, w)
		return err
	}
	linear := func(references map[string]int) error {
		_, err := LinearRegression(m, RegressionOptions{References: references})
		return err
	}
	type table = RegressionTable
	pairs := func(change func([]table) []table) error {
		_, err := RegressionMomentsOfTables(t.Context(), p.design, change(pairTables(p.design, p.codes, r, 1)))
		return err
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := RegressionMomentsOfTables(stopped, p.design, pairTables(p.design, p.codes, r, 1)); !errors.Is(err,
		context.Canceled) {
		t.Errorf("a stopped regression of tables: %v", err)
	}
	_, logistic := LogisticRegression(n, RegressionOptions{})
	for _, c := range []struct {
		err  error
		want string
	}{
		{logistic, "use a linear one"},
		{moments(diagonal[1:], offDiagonal, 1, 1), "was given"},
		{moments(diagonal, offDiagonal[1:], 1, 1), "was given"},
		{moments(diagonal, offDiagonal, -1, 1), "variance"},
		{moments(diagonal, offDiagonal, 1, math.NaN()), "variance"},
		{linear(map[string]int{"x": 1}), "no category 1"},
		{linear(map[string]int{"region": 3}), "no category 3"},
		{linear(map[string]int{"sick": 1}), "not in the model"},
		{pairs(func(p []table) []table { return p[1:] }), "all pairs"},
		{pairs(func(p []table) []table { return append(p, p[0]) }), "all pairs"},
		{pairs(func(p []table) []table { p[0], p[1] = p[1], p[0]; return p }), "not of the columns"},
		{pairs(func(p []table) []table { p[0].Counts = p[0].Counts[1:]; return p }), "not of the columns"},
		{pairs(func(p []table) []table { p[0].Counts[0] = math.Inf(1); return p }), "no number"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %q", c.err, c.want)
		}
	}
}

// BenchmarkLinearRegression fits 12 columns of 8 categories, numbers of 40 values and contrasts, with noise.
func BenchmarkLinearRegression(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var columns []design.Column
	for i := range 12 {
		c := design.Column{Name: fmt.Sprint(i)}
		for v := range int64(40) {
			c.Values = append(c.Values, v)
		}
		if i%3 != 0 {
			c = design.Column{Name: c.Name, Categories: strings.Split("abcdefgh"[:10-4*(i%3)], "")}
		}
		columns = append(columns, c)
	}
	d, err := design.New(columns, 0)
	if err != nil {
		b.Fatal(err)
	}
	p := regressionPopulation{design: d}
	for range 10_000 {
		codes := make([]int, len(columns))
		for i, c := range columns {
			codes[i] = r.IntN(c.Size())
		}
		p.codes = append(p.codes, codes)
	}
	m := p.release(b, r)(20)
	for b.Loop() {
		if _, err := LinearRegression(m, RegressionOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
