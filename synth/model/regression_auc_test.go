package model

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan/design"
)

// adultTable is the rows of adult.csv as codes of a design's columns.
type adultTable struct {
	columns []design.Column
	codes   [][]int // by row
}

// readAdult returns the public design of the benchmark, and the rows.
func readAdult(t testing.TB) adultTable {
	t.Helper()
	f, err := os.Open(testkit.Data(t, "adult.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range lines[0] {
		at[name] = i
	}
	var all adultTable
	codes := make([][]int, len(lines)-1)
	number := func(name, column string, values int, code func(v int64) int, value func(code int) int64) {
		c := design.Column{Name: name}
		for i := range values {
			c.Values = append(c.Values, value(i))
		}
		all.columns = append(all.columns, c)
		for r, line := range lines[1:] {
			v, err := strconv.ParseInt(line[at[column]], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			codes[r] = append(codes[r], max(0, min(values-1, code(v))))
		}
	}
	category := func(name, column string, of func(string) string) {
		c := design.Column{Name: name}
		for _, line := range lines[1:] {
			if v := of(line[at[column]]); !slices.Contains(c.Categories, v) {
				c.Categories = append(c.Categories, v)
			}
		}
		slices.Sort(c.Categories)
		all.columns = append(all.columns, c)
		for r, line := range lines[1:] {
			codes[r] = append(codes[r], slices.Index(c.Categories, of(line[at[column]])))
		}
	}
	same := func(s string) string { return s }
	year := func(v int64) int { return int(v) - 17 }
	number("age", "age", 74, year, func(c int) int64 { return int64(c) + 17 })
	number("age_squared", "age", 74, year, func(c int) int64 { return int64((c + 17) * (c + 17)) })
	number("education_num", "education_num", 16, func(v int64) int { return int(v) - 1 },
		func(c int) int64 { return int64(c) + 1 })
	number("hours", "hours_per_week", 99, func(v int64) int { return int(v) - 1 },
		func(c int) int64 { return int64(c) + 1 })
	money := func(v int64) int { return int(math.Round(10 * math.Log1p(float64(v)))) }
	number("gain", "capital_gain", 116, money, func(c int) int64 { return int64(c) })
	number("loss", "capital_loss", 85, money, func(c int) int64 { return int64(c) })
	for _, name := range []string{"workclass", "marital_status", "occupation", "relationship", "race", "sex"} {
		category(name, name, same)
	}
	category("native", "native_country", func(s string) string {
		if s == "United-States" {
			return "US"
		}
		return "other"
	})
	category("income", "income", same)
	all.codes = codes
	return all
}

// sums returns the exact moments of some rows.
func (a adultTable) sums(d *design.Design, rows []int) (diagonal, offDiagonal []int64) {
	on, off := d.Lengths()
	diagonal, offDiagonal = make([]int64, on), make([]int64, off)
	e := d.Encodings()
	for _, r := range rows {
		codes := append([]int{0}, a.codes[r]...)
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

// gaussianMu are the budgets of the benchmark: epsilon at δ = 1e-5, and μ of Gaussian differential privacy.
var gaussianMu = []struct{ epsilon, mu float64 }{{.1, 0}, {.5, 0}, {1, 0}, {2, 0}, {4, 0}, {8, 0}}

// muOf returns μ of an (ε, 1e-5) budget.
func muOf(epsilon float64) float64 {
	low, high := 0.0, 20.0
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for range 100 {
		mu := (low + high) / 2
		if phi(-epsilon/mu+mu/2)-math.Exp(epsilon)*phi(-epsilon/mu-mu/2) > 1e-5 {
			high = mu
		} else {
			low = mu
		}
	}
	return low
}

// areaUnderCurve returns the share of pairs of a positive and another row that scores rank rightly.
func areaUnderCurve(scores []float64, positive []bool) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case scores[a] < scores[b]:
			return -1
		case scores[a] > scores[b]:
			return 1
		}
		return 0
	})
	var ranks, n float64
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && scores[order[j]] == scores[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			if positive[order[k]] {
				ranks += float64(i+j+1) / 2
				n++
			}
		}
		i = j
	}
	return (ranks - n*(n+1)/2) / (n * (float64(len(order)) - n))
}

func TestProto(t *testing.T) {
	a := readAdult(t)
	d, err := design.New(a.columns, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(d.Features())
	splits := 5
	one := design.Change{Added: 1}
	on, _ := d.Diagonal(one).L2Squared.Float64()
	off, _ := d.OffDiagonal(one).L2Squared.Float64()
	for _, b := range append(gaussianMu, struct{ epsilon, mu float64 }{1e9, 0}) {
		mu := muOf(b.epsilon)
		sigma2 := (on + 2*off) / mu / mu // off: half
		if b.epsilon > 1e8 {
			sigma2 = 0
		}
		var aucs [4][]float64
		for s := range splits {
			r := rand.New(rand.NewPCG(uint64(s), 7))
			order := r.Perm(len(a.codes))
			cut := len(order) * 2 / 3
			x, y := a.sums(d, order[:cut])
			m, err := NewRegressionMoments(d, noisy(r, x, math.Sqrt(sigma2)), noisy(r, y, math.Sqrt(sigma2/2)), sigma2, sigma2/2)
			if err != nil {
				t.Fatal(err)
			}
			var all []int
			for i := range d.Features() - 1 {
				all = append(all, i)
			}
			f := m.fitLeastSquares(all)
			w0 := make([]float64, d.Features()-1)
			for i := range w0 {
				w0[i] = -f.residual[i]
			}
			lam := math.Sqrt(sigma2/2) / (1 << 20) * math.Sqrt(float64(d.Features()))
			rid := newSymmetric(d.Features() - 1)
			for i := range w0 {
				copy(rid.row(i), m.matrix.row(i)[:len(w0)])
				rid.add(i, i, 2*lam+1)
			}
			for k, w := range [][]float64{w0, m.score(), factorise(rid).solve(m.matrix.row(len(w0)))} {
				var sc []float64
				var pos []bool
				for _, row := range order[cut:] {
					v := w[0]
					for c := 0; c < len(a.codes[row])-1; c++ {
						e := d.Encodings()[c+1]
						code := a.codes[row][c]
						v += w[d.First(c+1)+e.Offset[code]] * float64(e.Value[code]) / design.Scale
					}
					sc = append(sc, v)
					pos = append(pos, a.codes[row][len(a.codes[row])-1] == 1)
				}
				aucs[k] = append(aucs[k], areaUnderCurve(sc, pos))
			}
			aucs[3] = append(aucs[3], float64(len(f.features)))
		}
		var line string
		for k := range aucs {
			sum := 0.0
			for _, v := range aucs[k] {
				sum += v
			}
			line += fmt.Sprintf(" %.4f", sum/float64(splits))
		}
		t.Log(b.epsilon, mu, line)
	}
}
