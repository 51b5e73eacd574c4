package evaluate

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
)

// Associations are held against their definitions: every pair of rows for Kendall's τ-b, χ² from expected counts for
// Cramér's V.
func TestAssociationsFollowFromTheirDefinitions(t *testing.T) {
	for _, counts := range [][]int64{
		{3, 1, 0, 2, 2, 5}, {1, 0, 0, 0, 4, 0, 0, 0, 2}, {0, 0, 3, 0, 2, 0, 1, 0, 0}, {2, 2, 2, 2, 2, 2},
		{0, 5, 1, 0, 0, 0, 7, 1, 0, 2, 3, 1},
	} {
		const first = 3
		second := len(counts) / first
		var a, b []int
		for cell, n := range counts {
			for range n {
				a, b = append(a, cell/second), append(b, cell%second)
			}
		}
		same, apartA, apartB := 0.0, 0.0, 0.0
		for i := range a {
			for j := range i {
				da, db := float64(a[i]-a[j]), float64(b[i]-b[j])
				if da != 0 {
					apartA++
				}
				if db != 0 {
					apartB++
				}
				same += math.Copysign(1, da*db) * math.Min(math.Abs(da*db), 1)
			}
		}
		if got, want := kendallTauB(counts, first), same/math.Sqrt(apartA*apartB); !near(got, want) {
			t.Errorf("Kendall's tau-b of %v is %v, want %v", counts, got, want)
		}
		inA, inB := make([]float64, first), make([]float64, second)
		for i := range a {
			inA[a[i]]++
			inB[b[i]]++
		}
		chi, n := 0.0, float64(len(a))
		for cell, count := range counts {
			if want := inA[cell/second] * inB[cell%second] / n; want > 0 {
				chi += (float64(count) - want) * (float64(count) - want) / want
			}
		}
		full := func(in []float64) float64 {
			return float64(len(slices.DeleteFunc(slices.Clone(in), func(x float64) bool { return x == 0 })))
		}
		// a root of a rounded 0 may be 1e-8
		if got, want := cramersV(counts, first),
			math.Sqrt(chi/n/(math.Min(full(inA), full(inB))-1)); math.Abs(got-want) > 1e-7 {
			t.Errorf("Cramér's V of %v is %v, want %v", counts, got, want)
		}
	}
	for name, counts := range map[string][]int64{"one row of categories": {4, 5, 0, 0, 0, 0},
		"no rows": {0, 0, 0, 0, 0, 0}} {
		if v, tau := cramersV(counts, 3), kendallTauB(counts, 3); !math.IsNaN(v) || !math.IsNaN(tau) {
			t.Errorf("%s: %v and %v", name, v, tau)
		}
	}
}

// Ages are in order and kinds are not, so that two levels of age have a rank correlation and others do not; the figures
// are worked out by hand.
func TestCompareSaysHowPairsGoTogether(t *testing.T) {
	p := planOf(t)
	dir := folder(t, "t.csv", "kind,age\na,1\na,1\nb,7\nb,8\n")
	kind, band := plan.Factor{Attribute: "kind", Basis: plan.Identity}, plan.Factor{Attribute: "age", Level: "band",
		Basis: plan.Identity}
	age := plan.Factor{Attribute: "age", Basis: plan.Identity}
	d := compared(t, p, dir, 1, PublishedResults{Rows: []Rows{
		{Table: "persons", By: []plan.Factor{kind, band}, Codes: [][]uint32{{0, 0, 1, 1}, {0, 1, 0, 1}},
			Marginals: [][]int{{0}, {0, 1}}},
		{Table: "persons", By: []plan.Factor{age, {Attribute: "age", Basis: plan.Identity}},
			Codes: [][]uint32{{1, 2}, {2, 1}}, Marginals: [][]int{{0, 1}}},
	}})
	if got := d.Marginals[0][0].Association; got != nil {
		t.Errorf("one column goes with %+v", *got)
	}
	// Kind tells the band in the truth, and nothing of it in the microdata.
	if got := *d.Marginals[0][1].Association; got.Measure != CramersV || !near(got.Truth, 1) || !near(got.Drawn, 0) {
		t.Errorf("%s: %v and %v", got.Measure, got.Truth, got.Drawn)
	}
	if got := *d.Marginals[1][0].Association; got.Measure != KendallTauB || !near(got.Truth, 1) ||
		!near(got.Drawn, -1) {
		t.Errorf("%s: %v and %v", got.Measure, got.Truth, got.Drawn)
	}
}

// What is unique in the truth is found in the microdata, and how many of it independent columns would meet is what the
// enumeration of all rows says that they could draw.
func TestCompareFindsUniqueRows(t *testing.T) {
	p := planOf(t)
	dir := folder(t, "t.csv", "kind,age\na,1\na,1\na,7\nb,3\nc,9\n") // unique: a 7, b 3, c 9
	by := []plan.Factor{{Attribute: "kind", Basis: plan.Identity}, {Attribute: "age", Basis: plan.Identity}}
	// a 1, a 7, b 7, a 7
	rows := Rows{Table: "persons", By: by, Codes: [][]uint32{{0, 0, 1, 0}, {1, 7, 7, 7}}, Whole: []int{0, 1}}
	d := compared(t, p, dir, 1, PublishedResults{Rows: []Rows{rows, {Table: "persons", By: by, Codes: rows.Codes}}})
	j := d.Joints[0]
	// Kinds are a 3/4 and b 1/4 of the microdata, ages 1 1/4 and 7 3/4: a 7 is 9/16 of independent rows, the others
	// none.
	want := 1 - math.Pow(7.0/16, 4)
	if j.TooLarge || j.Unique != 3 || j.Matched != 1 || !near(j.Independent, want) || d.Joints[1] != nil {
		t.Errorf("unique %d, met %d, by independent columns %v; want 3, 1, %v", j.Unique, j.Matched, j.Independent,
			want)
	}
	if s := j.Propensity; s.TrueRows != 5 || s.DrawnRows != 4 || s.Leaves != 1 || !near(s.PMSE, 0) {
		t.Errorf("nine rows are too few for a question: %d and %d rows, %d leaves, pMSE %v", s.TrueRows, s.DrawnRows,
			s.Leaves, s.PMSE)
	}
	if text := fmt.Sprint(j, *j, *j.Propensity); strings.ContainsAny(text, "0123456789") {
		t.Errorf("shows %s", text)
	}
	// By the other order of columns the same rows are unique.
	rows.Whole = []int{1, 0}
	if j := compared(t, p, dir, 1, PublishedResults{Rows: []Rows{rows}}).Joints[0]; j.Unique != 3 || j.Matched != 1 ||
		!near(j.Independent, want) {
		t.Errorf("the other way: unique %d, met %d, %v", j.Unique, j.Matched, j.Independent)
	}
	rows.Codes = [][]uint32{{}, {}}
	if j := compared(t, p, dir, 1, PublishedResults{Rows: []Rows{rows}}).Joints[0]; j.Unique != 3 || j.Matched != 0 ||
		j.Independent != 0 || j.Propensity != nil {
		t.Errorf("no rows drawn: %d, %d, %v, %v", j.Unique, j.Matched, j.Independent, j.Propensity != nil)
	}
	rows.Whole = []int{2}
	if _, err := Compare(t.Context(), noteOf(t, p, false), compiled.Of(p), scan.Files{Dir: dir}, streams(p, 1),
		PublishedResults{Rows: []Rows{rows}}); err == nil {
		t.Error("a column that is not there is compared")
	}
}

// Whole rows are counted by themselves, so that it is them alone that are left out where they do not fit.
func TestWholeRowsAreCountedByThemselves(t *testing.T) {
	c := &comparison{plan: planOf(t)}
	left := 0
	ask := func(id string, tooLarge func()) {
		m := plan.Measurement{ID: id, Cells: 1, Selection: selection.All{},
			Query: plan.Query{Table: "persons", Counted: counted.Rows{}}}
		c.questions = append(c.questions, question{measurement: m, tooLarge: tooLarge})
	}
	ask("1", nil)
	ask("2", func() { left++ })
	ask("3", nil)
	ask("4", nil)
	var got []string
	for _, batch := range c.batchesOf("persons", 100) {
		var ids []string
		for _, q := range batch {
			ids = append(ids, q.measurement.ID)
		}
		got = append(got, strings.Join(ids, " "))
	}
	if want := []string{"1", "2", "3 4"}; !slices.Equal(got, want) {
		t.Fatalf("batches %q, want %q", got, want)
	}
	short := fmt.Errorf("counting: %w", &memory.Error{Have: 1})
	if batch := c.questions[:1]; leftOut(batch, short) {
		t.Error("a marginal is left out")
	}
	if batch := c.questions[1:2]; leftOut(batch, errors.New("another")) || left != 0 || !leftOut(batch, short) ||
		left != 1 {
		t.Error("whole rows are not left out where they do not fit, or are elsewhere")
	}
}

// poolOf is a pool of so many rows of each cell, of the truth and of the microdata.
func poolOf(sizes []int, order []bool, truth, drawn map[uint64]int) *pool {
	var t answer.Answer
	var rows []uint64
	for cell := range uint64(100) {
		if n := truth[cell]; n > 0 {
			t.Cells, t.Counts = append(t.Cells, cell), append(t.Counts, int64(n))
		}
		for range drawn[cell] {
			rows = append(rows, cell)
		}
	}
	return newPool(rows, t, sizes, order, &randomness{from: bufio.NewReader(rand.Reader)})
}

// The propensity score of trees that are worked out by hand.
func TestPropensityByHand(t *testing.T) {
	for _, c := range []struct {
		name         string
		sizes        []int
		order        []bool
		truth, drawn map[uint64]int
		pMSE         float64
		leaves       int
	}{
		{"nothing to tell", []int{3}, []bool{true}, map[uint64]int{0: 60, 2: 30}, map[uint64]int{0: 40, 2: 20}, 0, 1},
		// c = 1/4: all is told, c(1 − c).
		{"everything", []int{2}, []bool{false}, map[uint64]int{0: 90}, map[uint64]int{1: 30}, 3.0 / 16, 2},
		// Shares .2, .8, .2 of 100 rows each, c = .4: in order three leaves, 2/3·.2² + 1/3·.4² = .08; not in order two
		// say as much.
		{"in order", []int{3}, []bool{true}, map[uint64]int{0: 80, 1: 20, 2: 80}, map[uint64]int{0: 20, 1: 80, 2: 20},
			0.08,
			3},
		{"in no order", []int{3}, []bool{false}, map[uint64]int{0: 80, 1: 20, 2: 80},
			map[uint64]int{0: 20, 1: 80, 2: 20},
			0.08, 2},
		// Microdata have 1 1 alone, the truth all four: a column's own shares differ, and the second question is of
		// one part. c = 1/2; 1 1 has a share of 100/125, the others none: 125/200·.3² + 75/200·.5².
		{"two questions", []int{2, 2}, []bool{true, false}, map[uint64]int{0: 25, 1: 25, 2: 25, 3: 25},
			map[uint64]int{3: 100}, 0.15, 3},
		// A leaf of 19 rows is too small.
		{"few rows", []int{2}, []bool{true}, map[uint64]int{0: 100}, map[uint64]int{1: 19}, 0, 1},
		{"enough rows", []int{2}, []bool{true}, map[uint64]int{0: 100}, map[uint64]int{1: 20}, 20.0 / 120 * 100 / 120,
			2},
	} {
		p := poolOf(c.sizes, c.order, c.truth, c.drawn)
		if got, leaves := p.pMSE(); !near(got, c.pMSE) || leaves != c.leaves {
			t.Errorf("%s: pMSE %v of %d leaves, want %v of %d", c.name, got, leaves, c.pMSE, c.leaves)
		}
	}
}

// A question of where to cut finds the best of all sets of categories, which are enumerated.
func TestTreeAsksTheBestQuestion(t *testing.T) {
	truth, drawn := map[uint64]int{}, map[uint64]int{}
	for k, n := range [][2]int{{30, 41}, {25, 60}, {90, 22}, {47, 47}, {20, 33}, {61, 40}} {
		truth[uint64(k)], drawn[uint64(k)] = n[0], n[1]
	}
	for _, order := range []bool{false, true} {
		p := poolOf([]int{6}, []bool{order}, truth, drawn)
		want := 0.0
		for set := 1; set < 63; set++ {
			if order && bits.OnesCount(uint(set&^(set<<1))) != 1 || order && set&1 == 0 {
				continue // a cut is of the lowest categories
			}
			var in, out mixture
			for k := range 6 {
				m := &out
				if set>>k&1 == 1 {
					m = &in
				}
				m.rows += truth[uint64(k)] + drawn[uint64(k)]
				m.drawn += drawn[uint64(k)]
			}
			want = max(want, in.purity()+out.purity())
		}
		rows := make([]int32, len(p.drawn))
		for i := range rows {
			rows[i] = int32(i)
		}
		var best split
		p.improveSplit(&best, 0, rows, p.mixtureOfRows(rows))
		if math.Abs(best.purity-want) > 1e-9*want {
			t.Errorf("in order %v: %v, and the best set has %v", order, best.purity, want)
		}
	}
}

// Trees of names that are dealt out by lot have the mean that permutation gives: with one question of two categories
// and N rows, c(1 − c)/(N − 1), so that the mean of ten is below 72/10 of it but once in 10⁹ tables; the pMSE of the
// true names is 1/4 here.
func TestPropensityNull(t *testing.T) {
	p := poolOf([]int{2}, []bool{true}, map[uint64]int{0: 2000}, map[uint64]int{1: 2000})
	got, err := propensityOf(t.Context(), 2, p, &randomness{from: bufio.NewReader(rand.Reader)})
	if err != nil || !near(got.PMSE, 0.25) || got.TrueRows != 2000 || got.DrawnRows != 2000 || got.NullTrees != 10 {
		t.Fatalf("%v: pMSE %v of %d and %d rows", err, got.PMSE, got.TrueRows, got.DrawnRows)
	}
	if most := 7.2 * 0.25 / 3999; got.Null <= 0 || got.Null > most || got.NullError <= 0 || got.NullError > most {
		t.Errorf("null %v ± %v, above %v", got.Null, got.NullError, most)
	}
}

// Every set of two among four is drawn as often: of 6 000 draws χ² of five degrees of freedom is above 51 once in 10⁹
// runs.
func TestLotsDrawEverySetAlike(t *testing.T) {
	lots := &randomness{from: bufio.NewReader(rand.Reader)}
	seen := map[string]float64{}
	for range 6000 {
		seen[fmt.Sprint(lots.drawSubset(2, 4))]++
	}
	chi := 0.0
	for _, n := range seen {
		chi += (n - 1000) * (n - 1000) / 1000
	}
	if len(seen) != 6 || chi > 51 || lots.err != nil {
		t.Errorf("%v: χ² %v (%v)", seen, chi, lots.err)
	}
	if all := lots.drawSubset(5, 3); !slices.Equal(all, []int{0, 1, 2}) {
		t.Errorf("of three at most five: %v", all)
	}
}

// A pool takes no more than so many rows of either kind, of all cells.
func TestPoolIsBounded(t *testing.T) {
	truth := answer.Answer{Cells: []uint64{1, 4}, Counts: []int64{propensityRows, propensityRows}}
	p := newPool([]uint64{0, 5}, truth, []int{2, 3}, []bool{true, true},
		&randomness{from: bufio.NewReader(rand.Reader)})
	ones, fours := 0, 0
	for row, drawn := range p.drawn {
		switch {
		case drawn == drawnRow:
		case p.codes[0][row] == 0 && p.codes[1][row] == 1:
			ones++
		case p.codes[0][row] == 1 && p.codes[1][row] == 1:
			fours++
		default:
			t.Fatalf("row %d is %d %d", row, p.codes[0][row], p.codes[1][row])
		}
	}
	// Each of the two cells has half of the sample: 25 000 ± 6.2 standard deviations of 112 at most, but once in 10⁹
	// runs.
	if ones+fours != propensityRows || ones < 24_305 || ones > 25_695 || fmt.Sprint(p.sizes) != "[2 3]" {
		t.Errorf("%d and %d rows of the truth; sizes %v", ones, fours, p.sizes)
	}
}

// As many rows of either kind as are put together, in many columns: what a pool costs at most. Set DPRELEASE_LONG to
// see it.
func TestPropensityOfManyRows(t *testing.T) {
	if os.Getenv("DPRELEASE_LONG") == "" {
		t.Skip("grows eleven trees of 100 000 rows: set DPRELEASE_LONG=1")
	}
	const columns = 60
	p := &pool{drawn: make([]uint64, 2*propensityRows)}
	for row := range p.drawn {
		p.drawn[row] = trueRow + uint64(row%2)
	}
	lots := &randomness{from: bufio.NewReader(rand.Reader)}
	for i := range columns {
		codes := make([]int32, len(p.drawn))
		for row := range codes {
			codes[row] = int32(lots.drawBelow(2 + i%7))
		}
		p.codes, p.sizes, p.order = append(p.codes, codes), append(p.sizes, 2+i%7), append(p.order, i%2 == 0)
	}
	s, err := propensityOf(t.Context(), 2, p, lots)
	// Both kinds are of one law, so that the names are as if they were dealt: among eleven trees the first is as likely
	// the farthest as any other, and ten times the mean is more than any of eleven is but once in 10⁹ runs.
	if err != nil || s.PMSE > 10*s.Null {
		t.Errorf("pMSE %v, null %v (%v)", s.PMSE, s.Null, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := propensityOf(cancelled, 2, p, lots); !errors.Is(err, context.Canceled) {
		t.Errorf("cut off: %v", err)
	}
}
