package model

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dprelease/dprelease/plan/design"
	"gonum.org/v1/gonum/mat"
)

// population is rows of codes of a design's columns.
type population struct {
	design *design.Design
	codes  [][]int
}

// moments returns the moments of the rows with rounded normal noise of a standard deviation, in units in which features
// are between −1 and 1, off the diagonal, and √2 times as much on it.
func (p population) moments(t testing.TB, r *rand.Rand, deviation float64) *RegressionMoments {
	t.Helper()
	d := p.design
	on, off := d.Lengths()
	diagonal, offDiagonal := make([]int64, on), make([]int64, off)
	e := d.Encodings()
	for _, row := range p.codes {
		codes := append([]int{0}, row...)
		for i, k := range d.Squares() {
			diagonal[i] += e[k].Value[codes[k]] * e[k].Value[codes[k]]
		}
		for i := range e {
			for j := i + 1; j < len(e); j++ {
				offDiagonal[d.Block(i, j)+e[i].Offset[codes[i]]*e[j].Width+e[j].Offset[codes[j]]] +=
					e[i].Value[codes[i]] * e[j].Value[codes[j]]
			}
		}
	}
	deviation *= design.Scale * design.Scale
	variance := deviation * deviation
	m, err := NewRegressionMoments(d, noisy(r, diagonal, math.Sqrt2*deviation), noisy(r, offDiagonal, deviation),
		2*variance, variance)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// leastSquaresOf returns the coefficients and residual variance of rows by the QR decomposition of gonum: the intercept
// and, for each column, its number or the indicators of its categories but the reference's.
func (p population) leastSquaresOf(references []int) (coefficients []float64, variance float64) {
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
func drawPopulation(t testing.TB, r *rand.Rand, n int) population {
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
	p := population{design: d}
	for range n {
		v, region, sex := r.IntN(201), min(2, r.IntN(4)), r.IntN(2)
		mean := 0.4*float64(v-100) + []float64{-10, 0, 20}[region] + 8*float64(sex)
		p.codes = append(p.codes, []int{v, region, sex,
			max(0, min(400, 200+int(math.Round(mean+25*r.NormFloat64()))))})
	}
	return p
}

// TestLinearRegressionEqualsLeastSquares compares with gonum where there is no noise: coefficients, standard errors,
// residual variance.
func TestLinearRegressionEqualsLeastSquares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := drawPopulation(t, r, 3000)
	got, err := LinearRegression(p.moments(t, r, 0), RegressionOptions{References: map[string]int{"region": 1}})
	if err != nil {
		t.Fatal(err)
	}
	want, variance := p.leastSquaresOf([]int{0, 1, 1})
	if got.Terms[5].Coefficient != nil && *got.Terms[5].Coefficient == 0 {
		want, variance = p.leastSquaresOf([]int{0, 1, 0})
	}
	k := 0
	for _, term := range got.Terms {
		if len(term.Flags) > 0 {
			continue
		}
		if d := math.Abs(*term.Coefficient - want[k]); d > 0.01*term.StandardError {
			t.Errorf("%s %s: got %v, want %v", term.Column, term.Category, *term.Coefficient, want[k])
		}
		if term.NoiseError != 0 || term.NoiseShare != 0 {
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
	text, _ := json.MarshalIndent(got, "", " ")
	t.Logf("%s", text)
}
