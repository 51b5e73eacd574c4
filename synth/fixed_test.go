package synth

import (
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/tabulation"
	"github.com/dprelease/dprelease/spec"
)

// lawsOf returns both models of what is measured: the tree, and the targets that are used if no tree is small enough.
func lawsOf(t testing.TB, s *measured.Sealed) map[string]rowLaw {
	t.Helper()
	out := map[string]rowLaw{}
	for shape, most := range map[string]plan.ModelSize{Tree: adaptive.MaxModelSize(), Gradual: {}} {
		f, err := newFixed(t.Context(), s, s.Plan.Synthetic[0], nil, measured.Rounds{})
		if err != nil {
			t.Fatal(err)
		}
		law, as := f.newLaw(t.Context(), most)
		if as != shape {
			t.Fatalf("a model of %v is a %s", most, as)
		}
		out[shape] = law
	}
	return out
}

// followingRows returns rows whose columns each follow the one before in three rows of four.
func followingRows(sizes []int, rows int) [][]uint32 {
	r, codes := seededStream([32]byte{41}), make([][]uint32, len(sizes))
	for i, size := range sizes {
		for row := range rows {
			code := uint32(r.below(uint64(size)))
			if i > 0 && r.below(4) > 0 {
				code = codes[i-1][row] % uint32(size)
			}
			codes[i] = append(codes[i], code)
		}
	}
	return codes
}

// planOfTables returns the plan of microdata made from the marginals of a table with columns of given sizes.
func planOfTables(t testing.TB, sizes []int, budget, marginals, asked string) *plan.Plan {
	t.Helper()
	return planOf(t, sizes, budget, "marginals: {"+marginals+"}\nsynthetic: {t: {method: tables"+asked+"}}\n")
}

// Repeated measurements are weighted by inverse variance: a table of noise ½, a column of noise 4, and a pair whose
// cells have noise 1, which give a noise of 3 for the first column. A weight of 1/σ would be off by more than 3 rows.
func TestMeasurementsWeighByInverseVariance(t *testing.T) {
	s := plannedSetting(t, []int{4, 3}, 0, big.NewRat(4, 1), big.NewRat(1, 1), big.NewRat(1, 1))
	in := s.sealedAnswers(t, [][]int64{{1060, 1940, 3060, 3940}, {3000, 3000, 4000}},
		map[[2]int][]int64{{0, 1}: {290, 300, 400, 580, 600, 800, 900, 900, 1210, 1200, 1200, 1620}}, [2]int{0, 1})
	table := s.plan.Measurements[0]
	in.Measured = append(in.Measured, withAnswers(table, []int64{1000, 2000, 3000, 4000}))
	f, err := newFixed(t.Context(), in, s.synthetic, in.Measured[:2], in.Rounds[0])
	if err != nil {
		t.Fatal(err)
	}
	law, _ := f.newLaw(t.Context(), adaptive.MaxModelSize())
	weights := [3]float64{1 / table.Mechanism.Variance(), 1 / s.column[0].Mechanism.Variance(),
		1 / (3 * s.synthetic.Noise.Variance())}
	said := [3][]float64{{1000, 2000, 3000, 4000}, {1060, 1940, 3060, 3940}, {990, 1980, 3010, 4020}}
	total := f.modelRows()
	if math.Abs(total-10_000) > 1 {
		t.Errorf("the total is %v", total)
	}
	of := slices.IndexFunc(f.sets, func(s set) bool { return slices.Equal(s.columns, []int{0}) })
	law.(*treeLaw).visitMarginals(t.Context(), []setEstimate{f.sets[of].setEstimate}, func(_ int, counts []float64) {
		for i, got := range counts {
			want, all := 0.0, 0.0
			for k, w := range weights {
				want, all = want+w*said[k][i], all+w
			}
			if want /= all; math.Abs(got-want) > 0.5 {
				t.Errorf("category %d has %v rows, by least squares %v", i, got, want)
			}
		}
	})
}

// Rows agree with the tables that they are made from, with or without a tree; the same measurements give the same rows,
// and each file has others.
func TestRowsKeepToTables(t *testing.T) {
	sizes := []int{4, 3, 5, 2}
	codes := followingRows(sizes, 2000)
	s := sealedFrom(t, planOfTables(t, sizes, "{rho: 1}", "m: {by: ["+columnNames(4)+"], every: [2]}", ", files: 2"),
		codesByName(codes), noise.Key{}, false)
	for shape, law := range lawsOf(t, s) {
		rows := law.drawRows(t.Context(), 2000, newStream(s, "rows"))
		if l1 := twoWay(sizes, codes, rows); l1 > 0.01 {
			t.Errorf("%s: the L1/N of pairs is %.4f", shape, l1)
		}
		if l1 := threeWay(sizes, codes, rows); l1 > 0.12 {
			t.Errorf("%s: the L1/N of triples is %.4f", shape, l1)
		}
		first := 0
		for _, code := range rows[0][:1000] {
			if code == 0 {
				first++
			}
		}
		all := 0
		for _, code := range rows[0] {
			if code == 0 {
				all++
			}
		}
		if math.Abs(float64(2*first-all)) > 8*math.Sqrt(float64(all)) {
			t.Errorf("%s: %d of %d rows with a category are in the first half", shape, first, all)
		}
		if !reflect.DeepEqual(rows, lawsOf(t, s)[shape].drawRows(t.Context(), 2000, newStream(s, "rows"))) {
			t.Errorf("%s: other rows of the same measurements", shape)
		}
	}
	d, err := NewDrawing(t.Context(), s, 0, Request{})
	if err != nil {
		t.Fatal(err)
	}
	one, _ := d.Draw(t.Context(), 1)
	two, err := d.Draw(t.Context(), 2)
	if err != nil || reflect.DeepEqual(one.Codes, two.Codes) || one.Rows != 2000 || math.Abs(one.Total-2000) > 1e-6 ||
		len(one.Fits) != 6 {
		t.Errorf("%d rows of a total of %v with %d fits, %v", one.Rows, one.Total, len(one.Fits), err)
	}
	d.Spread(one.Fits)
	for i, k := range d.estimates { // half the squared difference estimates the variance
		a, b, squares := k.countRows(one.Codes), k.countRows(two.Codes), 0.0
		for cell := range a {
			squares += (a[cell] - b[cell]) * (a[cell] - b[cell]) / 2
		}
		if want := math.Sqrt(squares / float64(len(a))); math.Abs(one.Fits[i].Spread-want) > 1e-9 ||
			two.Fits[i].Spread != 0 {
			t.Errorf("set %d: files deviate by %v, not %v", i, one.Fits[i].Spread, want)
		}
	}
}

// Rows agree with levels of a column that are not nested, and a column that no table counts has equal shares of every
// category.
func TestRowsKeepToLevels(t *testing.T) {
	r, err := spec.Parse(spec.Source{Name: "release.yaml",
		Text: "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\nbudget: {rho: 1}\n" +
			"tables: {t: {source: {csv: t.csv}, unit: row, columns: {a: {type: integer, range: [0, 11], levels: " +
			"{half: {width: 6}, third: {width: 4}}}, b: {values: [x, y, z]}, c: {values: [k, l, m, n]}}}}\n" +
			"marginals: {m: {by: [b, a.half]}, n: {by: [a.third]}}\nsynthetic: {t: {method: tables}}\n"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	codes := followingRows([]int{12, 3, 4}, 3000)
	s := sealedFrom(t, p.Plan(), map[string][]uint32{"a": codes[0], "b": codes[1], "c": codes[2]}, noise.Key{}, false)
	for shape, law := range lawsOf(t, s) {
		rows := law.drawRows(t.Context(), 3000, newStream(s, "rows"))
		count := func(codes [][]uint32, of func(row int) int, cells int) []float64 {
			out := make([]float64, cells)
			for row := range codes[0] {
				out[of(row)]++
			}
			return out
		}
		half := func(c [][]uint32) []float64 {
			return count(c, func(row int) int { return int(c[1][row])*2 + int(c[0][row])/6 }, 6)
		}
		third := func(c [][]uint32) []float64 { return count(c, func(row int) int { return int(c[0][row]) / 4 }, 3) }
		if d, e := l1Distance(half(codes), half(rows)), l1Distance(third(codes), third(rows)); d > 30 || e > 30 {
			t.Errorf("%s: the levels are off by %v and %v rows", shape, d, e)
		}
		within := count(rows, func(row int) int { return int(rows[0][row]) }, 12)
		for _, pair := range [][2]int{{0, 1}, {4, 5}, {6, 7}, {8, 11}} { // which no level distinguishes
			if math.Abs(within[pair[0]]-within[pair[1]]) > 8 {
				t.Errorf("%s: categories %v, which are one to all tables, have %v rows", shape, pair, within)
			}
		}
		for _, n := range count(rows, func(row int) int { return int(rows[2][row]) }, 4) {
			if math.Abs(n-750) > 2 {
				t.Errorf("%s: a column that no table tells of has categories of %v rows", shape, n)
			}
		}
	}
	if left := tabulation.UnmeasuredColumns(p.Plan(), p.Synthetic[0]); len(left) != 1 || left[0].Attribute != "c" {
		t.Errorf("unmeasured are %v", left)
	}
	m, err := Draw(t.Context(), s, 0)
	if err != nil || m.Fits[0].Columns[0].String() != "a.half" || m.Fits[0].Table != "m" {
		t.Errorf("%+v %v", m.Fits, err)
	}
}

// Whatever the noise has made of the counts, rows are valid: of declared categories, as many as asked for, and none if
// the total is not positive; and all figures are numbers.
func TestRowsOfOddCounts(t *testing.T) {
	for name, c := range map[string]struct {
		sizes  []int
		answer func(i int) int64
	}{
		"nothing":                {[]int{3, 4, 2}, func(int) int64 { return 0 }},
		"below zero":             {[]int{3, 4, 2}, func(i int) int64 { return -int64(i) - 5 }},
		"all in one cell":        {[]int{3, 4, 2}, func(i int) int64 { return 1_000_000 * int64(1-min(i, 1)) }},
		"far beyond":             {[]int{2, 2}, func(i int) int64 { return math.MaxInt64 / 8 * int64(1-2*(i%2)) }},
		"one category":           {[]int{1, 1, 1}, func(int) int64 { return 12 }},
		"one beside many":        {[]int{1, 500, 2}, func(i int) int64 { return int64(i%7) - 2 }},
		"categories that vanish": {[]int{30, 30}, func(i int) int64 { return int64(i%31) - 15 }},
	} {
		s := sealedWith(t, planOfTables(t, c.sizes, "{epsilon: 1}", "m: {by: ["+columnNames(len(c.sizes))+
			"], every: [1, 2]}",
			""), c.answer)
		for shape, law := range lawsOf(t, s) {
			for _, n := range []int{0, 1, 57} {
				for column, codes := range law.drawRows(t.Context(), n, newStream(s, "rows")) {
					if len(codes) != n || n > 0 && int(slices.Max(codes)) >= c.sizes[column] {
						t.Errorf("%s, %s: column %d of %d rows is %v", name, shape, column, n, codes)
					}
				}
			}
		}
		m, err := Redraw(t.Context(), s, 0, Request{Rows: 7})
		if err != nil || m.Rows != 7 || math.IsNaN(m.Total) || !(m.TotalError > 0) {
			t.Errorf("%s: %d rows of %v ± %v, %v", name, m.Rows, m.Total, m.TotalError, err)
		}
		for _, f := range m.Fits {
			for _, x := range []float64{f.Sigma, f.Distance, f.Rows, f.Bound} {
				if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
					t.Errorf("%s: %+v", name, f)
				}
			}
		}
	}
}

// sealedWith seals the same answers to every measurement, by cell.
func sealedWith(t testing.TB, p *plan.Plan, answer func(i int) int64) *measured.Sealed {
	t.Helper()
	out := &measured.Sealed{Plan: compiled.Of(p), Rounds: make([]measured.Rounds, len(p.Synthetic))}
	for _, m := range p.Measurements {
		all := make([]int64, m.Cells)
		for i := range all {
			all[i] = answer(i)
		}
		out.Measured = append(out.Measured, withAnswers(m, all))
	}
	return out
}

// A model of tables is refused if a measurement is missing or short, and a model by another method if its rounds were
// not made.
func TestTablesThatAreNotWhole(t *testing.T) {
	whole := sealedWith(t, planOfTables(t, []int{3, 4}, "{epsilon: 1}", "m: {by: [c0, c1]}, n: {by: [c0]}", ""),
		func(i int) int64 { return int64(i) })
	for name, change := range map[string]func(*measured.Sealed){
		"missing": func(s *measured.Sealed) { s.Measured = s.Measured[:len(s.Measured)-1] },
		"short": func(s *measured.Sealed) {
			last := len(s.Measured) - 1
			s.Measured = append(slices.Clone(s.Measured[:last]), withAnswers(s.Measured[last].Measurement, []int64{1}))
		},
	} {
		s := *whole
		change(&s)
		if _, err := Draw(t.Context(), &s, 0); err == nil ||
			!strings.Contains(err.Error(), "is missing, or not whole") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, method := range []string{plan.MST, plan.AIM, "gum"} {
		if _, err := Redraw(t.Context(), whole, 0, Request{Method: method}); err == nil ||
			!strings.Contains(err.Error(), "write tables") {
			t.Errorf("%s: %v", method, err)
		}
	}
	if m, err := Redraw(t.Context(), whole, 0, Request{Method: plan.Tables}); err != nil || m.Shape != Tree ||
		m.Method != plan.Tables {
		t.Errorf("%s of method %s: %v", m.Shape, m.Method, err)
	}
}

// A table that an invariant decides is published without noise; a model is made from the measurements, whose noise it
// has as if there were no invariant.
func TestModelsKnowTheNoiseOfTablesThatInvariantsDecide(t *testing.T) {
	of := func(invariants string) *fixedEstimates {
		p := planOf(t, []int{3, 2}, "{rho: 1/50}", "marginals: {m: {by: [c0, c1]}, n: {by: [c1]}}\n"+invariants+
			"synthetic: {t: {method: tables}}\n")
		s := sealedWith(t, p, func(i int) int64 { return int64(10 * i) })
		f, err := newFixed(t.Context(), s, p.Synthetic[0], nil, measured.Rounds{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	free, held := of(""), of("invariants: {i: {by: [c1], values: {0: 100, 1: 200}}}\n")
	if !held.reader.IsInvariant(1) || held.reader.IsInvariant(0) || len(free.sets) != 2 || len(held.sets) != 2 {
		t.Fatalf("%d and %d sets", len(free.sets), len(held.sets))
	}
	for i, s := range held.sets { // a plan rounds its errors
		if want := free.sets[i].sigma; !(math.Abs(s.sigma-want) < 1e-6*want) || want < 1 {
			t.Errorf("%s has noise of %v, without the invariant %v", s.path, s.sigma, want)
		}
	}
	for i := range held.columns {
		for k, s := range held.columns[i].sums {
			if want := free.columns[i].sums[k].variance; !(math.Abs(s.variance-want) < 1e-9*want) {
				t.Errorf("column %d has variance %v, without the invariant %v", i, s.variance, want)
			}
		}
	}
}
