package synth

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/adaptive"
)

var one = big.NewRat(1, 1)

// TestDrawByHand: two columns that always agree, in a table of 20 rows with next to no noise. Margins of the pair are
// those of the columns. Of tables with sums of 10 and no negative count the nearest to 12, −2, −2, 12 is 10, 0, 0, 10,
// at a distance of 8; and of the 20 rows 10 are of either kind.
func TestDrawByHand(t *testing.T) {
	s := plannedSetting(t, []int{2, 2}, 0, big.NewRat(1, 4), big.NewRat(1, 9), one)
	m, err := Draw(t.Context(), s.sealedAnswers(t, [][]int64{{10, 10}, {10, 10}},
		map[[2]int][]int64{{0, 1}: {12, -2, -2, 12}}, [2]int{0, 1}), 0)
	if err != nil {
		t.Fatal(err)
	}
	if m.Table != "t" || m.Rows != 20 || m.Total != 20 || len(m.Keys) != 2 || m.Keys[1].Attribute.String() != "c1" ||
		m.Keys[1].Level.Size() != 2 {
		t.Errorf("table %q, %d rows, total %v, keys %v", m.Table, m.Rows, m.Total, m.Keys)
	}
	if !slices.Equal(m.Codes[0], m.Codes[1]) || m.countOnes(0) != 10 {
		t.Errorf("codes %v", m.Codes)
	}
	if len(m.Fits) != 3 {
		t.Fatalf("%d fits", len(m.Fits))
	}
	p := m.Fits[2]
	if len(p.Columns) != 2 || p.Columns[0].String() != "c0" || p.Columns[1].String() != "c1" || p.Cells != 4 ||
		p.Measured != 1 || math.Abs(p.Distance-8) > 1e-7 {
		t.Errorf("pair %+v", p)
	}
	// The discrete law of σ² = 1/9 has, in addition to zero, two values of weight e^(−4.5) and next to nothing more.
	if weight := 2 * math.Exp(-4.5); math.Abs(p.Sigma*p.Sigma-weight/(1+weight)) > 1e-6 {
		t.Errorf("σ² is %v, expected %v", p.Sigma*p.Sigma, weight/(1+weight))
	}
}

// countOnes returns the number of rows with the second category.
func (m Microdata) countOnes(column int) int {
	n := 0
	for _, c := range m.Codes[column] {
		if c == 1 {
			n++
		}
	}
	return n
}

// TestTotalOfMicrodata: sums of 900 and 1,200 have variances of 200 and 300, so weights of 3 and 2: the total is 1,020
// with a standard error of √120.
func TestTotalOfMicrodata(t *testing.T) {
	s := plannedSetting(t, []int{2, 3}, 0, big.NewRat(100, 1), one, one)
	m, err := Draw(t.Context(), s.sealedAnswers(t, [][]int64{{450, 450}, {400, 400, 400}}, nil), 0)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(m.Total-1020) > 1e-9 || m.Rows != 1020 || math.Abs(m.TotalError-math.Sqrt(120)) > 1e-9 {
		t.Errorf("total %v ± %v, %d rows", m.Total, m.TotalError, m.Rows)
	}
}

// TestDrawRepeats: equal measurements give equal rows; rows differ as soon as any integer or any choice of the sealed
// folder does, even one that the microdata do not use.
func TestDrawRepeats(t *testing.T) {
	s := plannedSetting(t, []int{2, 3, 2}, 500, big.NewRat(4, 1), big.NewRat(4, 1), one)
	pairs := map[[2]int][]int64{{0, 1}: {90, 70, 80, 85, 95, 75}, {0, 2}: {120, 130, 110, 140},
		{1, 2}: {80, 81, 82, 83, 84, 85}}
	build := func(extra int64, order ...[2]int) *measured.Sealed {
		out := s.sealedAnswers(t, [][]int64{{240, 260}, {160, 170, 170}, {250, 250}}, pairs, order...)
		other := s.plan.Measurements[0]
		out.Measured = append([]measured.Measured{withAnswers(other, []int64{extra, 3})}, out.Measured...)
		return out
	}
	draw := func(s *measured.Sealed) [][]uint32 {
		m, err := Draw(t.Context(), s, 0)
		if err != nil {
			t.Fatal(err)
		}
		return m.Codes
	}
	first := draw(build(1, [2]int{0, 1}, [2]int{0, 2}))
	if again := draw(build(1, [2]int{0, 1}, [2]int{0, 2})); !reflect.DeepEqual(first, again) {
		t.Error("the same measurements give other rows")
	}
	for name, other := range map[string]*measured.Sealed{
		"another integer": build(2, [2]int{0, 1}, [2]int{0, 2}),
		"another order":   build(1, [2]int{0, 2}, [2]int{0, 1}),
		"another choice":  build(1, [2]int{0, 1}, [2]int{1, 2}),
	} {
		if reflect.DeepEqual(first, draw(other)) {
			t.Errorf("%s gives the same rows", name)
		}
	}
}

// checkMicrodata checks what holds for all microdata: as many codes as rows, each a category, and finite figures.
func checkMicrodata(t *testing.T, s setting, m Microdata) {
	t.Helper()
	if len(m.Codes) != len(s.sizes) {
		t.Fatalf("%d columns, expected %d", len(m.Codes), len(s.sizes))
	}
	for i, codes := range m.Codes {
		if len(codes) != m.Rows {
			t.Errorf("column %d has %d rows of %d", i, len(codes), m.Rows)
		}
		if len(codes) > 0 && int(slices.Max(codes)) >= s.sizes[i] {
			t.Errorf("column %d has a code of %d", i, slices.Max(codes))
		}
	}
	for _, f := range m.Fits {
		for _, x := range []float64{f.Distance, f.Rows, f.Sigma} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("fit %+v", f)
			}
		}
	}
	if math.IsNaN(m.Total) || math.IsNaN(m.TotalError) {
		t.Errorf("total %v ± %v", m.Total, m.TotalError)
	}
}

// TestDrawAlwaysDraws draws from measurements of every kind that noise can produce.
func TestDrawAlwaysDraws(t *testing.T) {
	ramp := func(n int) []int64 {
		x := make([]int64, n)
		for i := range x {
			x[i] = int64(i%7) - 3
		}
		return x
	}
	filled := func(n int, v int64) []int64 { return slices.Repeat([]int64{v}, n) }
	for name, fill := range map[string]func(n int) []int64{
		"all zero":  func(n int) []int64 { return filled(n, 0) },
		"negative":  func(n int) []int64 { return filled(n, -1e6) },
		"small":     ramp,
		"one large": func(n int) []int64 { x := ramp(n); x[n/2] = 3000; return x },
		"huge": func(n int) []int64 {
			x := ramp(n)
			x[0], x[n-1] = 1<<61, -1<<60
			return x
		},
	} {
		for _, sizes := range [][]int{{1}, {3}, {1, 1}, {2, 2}, {1, 5, 1, 2}, {500, 1}, {500, 500}, {4, 3, 2, 6}} {
			for _, rows := range []int64{0, 1, 25} {
				for _, variance := range []*big.Rat{big.NewRat(1, 1<<40), one, big.NewRat(1<<40, 1)} {
					s := plannedSetting(t, sizes, rows, variance, variance, one)
					var columns [][]int64
					for _, n := range sizes {
						columns = append(columns, fill(n))
					}
					pairs, order := map[[2]int][]int64{}, [][2]int(nil)
					for i := 1; i < len(sizes); i++ {
						pair := [2]int{i / 2, i}
						pairs[pair], order = fill(sizes[i/2]*sizes[i]), append(order, pair)
					}
					t.Run(fmt.Sprintf("%s/%v/%d/%v", name, sizes, rows, variance), func(t *testing.T) {
						sealed := s.sealedAnswers(t, columns, pairs, order...)
						if total, _ := totalOf(sealed.Measured); rows == 0 && total > mostRows {
							if capped := rowsOf(s.synthetic, 0, total); capped != mostRows { // too many to draw here
								t.Errorf("a total of %v makes %v rows", total, capped)
							}
							return
						}
						m, err := Draw(t.Context(), sealed, 0)
						if err != nil {
							t.Fatal(err)
						}
						checkMicrodata(t, s, m)
						if want := max(0, int(math.Floor(m.Total+0.5))); rows == 0 && m.Rows != want || rows > 0 &&
							m.Rows != int(rows) {
							t.Errorf("%d rows, expected %d or %d", m.Rows, rows, want)
						}
						for _, p := range fitTree(t.Context(), max(m.Total, 1), sealed.Measured,
							adaptive.Candidates(s.synthetic),
							sealed.Rounds[0].All).
							pairs {
							for _, c := range p.counts {
								if !(c >= 0) || math.IsInf(c, 0) {
									t.Fatalf("a count of %v", c)
								}
							}
						}
					})
				}
			}
		}
	}
}

// TestDrawWithoutPairs: a plan may end its rounds early; columns that no pair joins are independent.
func TestDrawWithoutPairs(t *testing.T) {
	s := plannedSetting(t, []int{2, 2}, 1000, one, one, one)
	m, err := Draw(t.Context(), s.sealedAnswers(t, [][]int64{{500, 500}, {500, 500}}, nil), 0)
	if err != nil {
		t.Fatal(err)
	}
	both := 0
	for row := range m.Codes[0] {
		both += int(m.Codes[0][row] * m.Codes[1][row])
	}
	// Hypergeometric: 250 ± √(250·250/999) = 7.9; 6.5 of that is 52.
	if m.countOnes(0) != 500 || m.countOnes(1) != 500 || both < 198 || both > 302 {
		t.Errorf("%d, %d and both %d of 1000", m.countOnes(0), m.countOnes(1), both)
	}
}

// TestRedraw: another number of rows is drawn from the same model. The two columns agree in every row, so that any
// number of rows has as many of either kind as their margins say, 30 and 10 of 40.
func TestRedraw(t *testing.T) {
	for _, planRows := range []int64{0, 8} {
		s := plannedSetting(t, []int{2, 2}, planRows, big.NewRat(1, 4), big.NewRat(1, 9), one)
		sealed := s.sealedAnswers(t, [][]int64{{15, 5}, {15, 5}}, map[[2]int][]int64{{0, 1}: {15, 0, 0, 5}},
			[2]int{0, 1})
		m, err := Redraw(t.Context(), sealed, 0, Request{Rows: 40})
		if err != nil {
			t.Fatal(err)
		}
		if m.Rows != 40 || m.RowsRequested != 40 || len(m.Codes[0]) != 40 || m.countOnes(0) != 10 ||
			!slices.Equal(m.Codes[0], m.Codes[1]) {
			t.Errorf("%d rows, %d asked: %v and %v", m.Rows, m.RowsRequested, m.Codes[0], m.Codes[1])
		}
		drawn, err := Draw(t.Context(), sealed, 0)
		if err != nil {
			t.Fatal(err)
		}
		if drawn.RowsRequested != 0 || drawn.Total != m.Total || len(drawn.Fits) == 0 ||
			len(drawn.Fits) != len(m.Fits) {
			t.Fatalf("the plan's rows are of another model: %+v, %+v", drawn.Fits, m.Fits)
		}
		for i, f := range drawn.Fits {
			if f.Distance != m.Fits[i].Distance {
				t.Errorf("the plan's rows are of another model: %+v, %+v", f, m.Fits[i])
			}
		}
		if again, err := Redraw(t.Context(), sealed, 0, Request{}); err != nil || !reflect.DeepEqual(again, drawn) {
			t.Errorf("with no number it draws others (%v)", err)
		}
	}
}

func TestDrawRefuses(t *testing.T) {
	s := plannedSetting(t, []int{2, 3, 2}, 10, one, one, one)
	pairs := map[[2]int][]int64{{0, 1}: {1, 2, 3, 4, 5, 6}, {0, 2}: {1, 2, 3, 4}, {1, 2}: {1, 2, 3, 4, 5, 6}}
	sealed := func(order ...[2]int) *measured.Sealed {
		return s.sealedAnswers(t, [][]int64{{10, 10}, {6, 7, 7}, {11, 9}}, pairs, order...)
	}
	if _, err := Draw(t.Context(), sealed([2]int{0, 1}, [2]int{1, 2}), 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		method int
		change func(*measured.Sealed)
		want   string
	}{
		{"no such method", 1, func(*measured.Sealed) {}, "no microdata number 2"},
		{"a negative method", -1, func(*measured.Sealed) {}, "no microdata number 0"},
		{"no rounds read", 0, func(m *measured.Sealed) { m.Rounds = nil }, "no microdata number 1"},
		{"a column missing", 0, func(m *measured.Sealed) { m.Measured = m.Measured[1:] }, "microdata/t/c0"},
		{"a choice out of range", 0, func(m *measured.Sealed) { m.Rounds[0].All[0].Choice = 3 },
			"was not to be chosen"},
		{"a pair twice", 0, func(m *measured.Sealed) { m.Rounds[0].All[1] = m.Rounds[0].All[0] },
			"was not to be chosen"},
		{"a round too many", 0, func(m *measured.Sealed) {
			m.Rounds[0] = sealed([2]int{0, 1}, [2]int{1, 2}, [2]int{0, 2}).Rounds[0]
		}, "more than the 2 of the plan"},
		{"another pair's answer", 0, func(
			m *measured.Sealed) {
			m.Rounds[0].All[0].Measured = m.Rounds[0].All[1].Measured
		},
			"is expected"},
		{"an answer cut short", 0, func(m *measured.Sealed) {
			r := &m.Rounds[0].All[0]
			r.Measured = withAnswers(r.Measured.Measurement, []int64{1, 2})
		}, "6 answers"},
	} {
		m := sealed([2]int{0, 1}, [2]int{1, 2})
		c.change(m)
		if _, err := Draw(t.Context(), m, c.method); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected one with %q", c.name, err, c.want)
		}
	}
}

// TestBytesAreThoseOfTheRows: 16 for each value, known before a row is drawn, however many rows forged answers ask for.
func TestBytesAreThoseOfTheRows(t *testing.T) {
	for _, c := range []struct {
		rows    int64
		columns [][]int64
		want    int64
	}{
		{25, [][]int64{{1 << 50, 1}, {1, 1}}, 25 * 2 * 16},
		{0, [][]int64{{600, 400}, {500, 500}}, 1000 * 2 * 16},
		{0, [][]int64{{-5, 0}, {0, -5}}, 0},
		{0, [][]int64{{1 << 40, 0}, {1 << 40, 0}}, mostRows * 2 * 16},
	} {
		s := plannedSetting(t, []int{2, 2}, c.rows, one, one, one)
		got, err := Bytes(t.Context(), s.sealedAnswers(t, c.columns, nil), 0, Request{Rows: 7})
		if err != nil || got != 7*2*16 {
			t.Errorf("seven rows: %d bytes, %v", got, err)
		}
		if got, err := Bytes(t.Context(), s.sealedAnswers(t, c.columns, nil), 0, Request{}); err != nil ||
			got != c.want {
			t.Errorf("%d rows asked, columns %v: %d bytes, %v; expected %d", c.rows, c.columns, got, err, c.want)
		}
	}
}
