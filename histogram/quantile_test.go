package histogram

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/selection"
	"gonum.org/v1/gonum/stat/distuv"
)

// quantilesOf is a measurement of quantiles of pay by size, of the payroll, opened with a key.
func quantilesOf(t testing.TB, r *plan.Plan, q counted.Quantiles, counts answer.Answer, key int) (*opened,
	exactAnswer) {
	t.Helper()
	m := plan.Measurement{ID: "pay", Query: plan.Query{Table: "jobs",
		Factors: []plan.Factor{{Attribute: "size", Basis: plan.Identity}}, Counted: q},
		Cells:     int64(2 * q.Draws()),
		Selection: selection.All{}, Mechanism: budget.Mechanism{Kind: budget.ExponentialQuantiles,
			Parameter: big.NewRat(1, 3), L1: big.NewInt(3),
			L2Squared: big.NewInt(9)}}
	s := noise.NewStreams(keyNumbered(key), r.Hash())
	a := exactAnswer{measurement: m, definition: m.Canonical(), Answer: counts, hash: counts.Hash()}
	return &opened{exact: &exact{plan: compiled.Of(r), answers: []exactAnswer{a}}, streams: s, given: make([]bool, 1)},
		a
}

// payrollPlan is the plan of the counts of the payroll, with what payrollRelease adds to its release.
func payrollPlan(t testing.TB) *plan.Plan {
	t.Helper()
	r := payrollRelease(t, "row")
	table := r.Tables[0]
	columns, weight := table.Columns, table.Weight
	table.Columns, table.Weight = columns[:len(columns)-1], nil
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	table = p.Release().Tables[0]
	table.Columns, table.Weight = columns, weight
	return p.Plan()
}

// chance is the law of a draw among places first..last: exp(−θ·u/2), with u the distance, in parts of 1/den row, of the
// rank num·n + shift from those that a place has.
func chance(rows map[int64]int64, first, last, num, den, shift int64, theta float64) map[int64]float64 {
	n := int64(0)
	for _, c := range rows {
		n += c
	}
	law, sum := map[int64]float64{}, 0.0
	for y := first; y <= last; y++ {
		below := int64(0)
		for place, c := range rows {
			if place < y {
				below += c
			}
		}
		rank := min(max(num*n+shift, 0), den*n)
		u := max(den*below-rank, rank-den*(below+rows[y]), 0)
		law[y] = math.Exp(-theta * float64(u) / 2)
		sum += law[y]
	}
	for y := range law {
		law[y] /= sum
	}
	return law
}

// TestQuantilesHaveTheirLaw draws again and again, under other keys: each answer has the law of its share, within the
// range of its cell. An exact drawing fails with probability 1e-9 per check, 12 in all.
func TestQuantilesHaveTheirLaw(t *testing.T) {
	p := payrollPlan(t)
	q := counted.Quantiles{Column: "pay", At: []string{"1/4", "2/3"}, Shift: 5, Beyond: 3}
	rows := []map[int64]int64{{1: 2, 5: 4}, {4: 1, 9: 3, 12: 2}}
	var counts answer.Answer
	for cell, places := range rows {
		for place := range int64(13) {
			if places[place] > 0 {
				counts.Cells, counts.Counts = append(counts.Cells, uint64(13*cell)+uint64(place)),
					append(counts.Counts, places[place])
			}
		}
	}
	const runs = 4000
	met := make([]map[int64]float64, 12)
	for run := range runs {
		x, a := quantilesOf(t, p, q, counts, run)
		m, err := x.drawQuantiles(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		for i, place := range m.Values.Int64Values() {
			if met[i] == nil {
				met[i] = map[int64]float64{}
			}
			met[i][place]++
		}
	}
	for i := range met {
		cell, share, end := i/6, i%6/3, i%3
		first, last := []int64{0, 4}[cell], []int64{6, 12}[cell]
		before, after := []int64{0, 3, 0}[end], []int64{0, 0, 3}[end]
		law := chance(rows[cell], first-before, last+after, []int64{3, 8}[share], 12, []int64{0, -5, 5}[end], 1./3)
		statistic, freedom := 0.0, -1.0
		for y := first; y <= last; y++ {
			q := law[y]
			for beyond := range int64(3) {
				if y == first && before > 0 {
					q += law[first-1-beyond]
				}
				if y == last && after > 0 {
					q += law[last+1+beyond]
				}
			}
			off := met[i][y] - runs*q
			statistic, freedom = statistic+off*off/(runs*q), freedom+1
			delete(met[i], y)
		}
		if len(met[i]) > 0 {
			t.Errorf("answer %d is %v, beyond its range", i, met[i])
		}
		if p := (distuv.ChiSquared{K: freedom}).Survival(statistic); p < 1e-9 {
			t.Errorf("answer %d has another law (%g)", i, p)
		}
	}
}

// What is drawn is bound to key and counts, and to nothing else.
func TestQuantilesAreDrawnOnce(t *testing.T) {
	p := payrollPlan(t)
	q := counted.Quantiles{Column: "pay", At: []string{"1/2", "9/10"}}
	draw := func(key int, counts answer.Answer, processors int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		x, a := quantilesOf(t, p, q, counts, key)
		m, err := x.giveAnswer(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.giveAnswer(context.Background(), 0); err != errGiven || x.exact.answers[0].Counts != nil {
			t.Errorf("given twice: %v", err)
		}
		if !slices.Equal(m.Measurement.Canonical(), a.definition) {
			t.Error("of another measurement")
		}
		return fmt.Sprint(m.Values)
	}
	// So many places that two draws are hardly ever the same: none of the comparisons below is by chance.
	wide := p.Release().Tables[0].Column("pay")
	lattice := *wide.Lattice
	defer func() { wide.Lattice = &lattice }()
	wide.Lattice = &domain.Lattice{Step: big.NewRat(1, 2), First: 0, Last: 1 << 30}
	none := answer.Answer{Cells: []uint64{}, Counts: []int64{}}
	some := answer.Answer{Cells: []uint64{7}, Counts: []int64{1}}
	first := draw(1, none, 1)
	if first != draw(1, none, 4) {
		t.Error("processors decide")
	}
	if first == draw(2, none, 1) || first == draw(1, some, 1) {
		t.Error("another key, or other rows, draw the same")
	}
}

// TestRangesOfCoarserStrata: a category of several strata has the least range that holds them.
func TestRangesOfCoarserStrata(t *testing.T) {
	l := &domain.Lattice{Step: big.NewRat(1, 1), First: 0, Last: 90,
		Strata: []domain.Stratum{{First: 5, Last: 9}, {First: 0, Last: 7}, {First: 30, Last: 90}}}
	level := &domain.Level{Categories: make([]domain.Category, 2), CategoryOf: []uint32{0, 0, 1}}
	want := []domain.Stratum{{First: 0, Last: 9}, {First: 30, Last: 90}}
	if got := rangesByCategory(l, level); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	d := &quantileDrawing{lattice: l, sizes: []int{2, 2, 3}, by: 1, ranges: rangesByCategory(l, level)}
	for cell := range 12 {
		want := l.Strata[2]
		if cell/3%2 == 0 {
			want = domain.Stratum{First: 0, Last: 9}
		}
		if first, last := d.rangeOf(cell); first != want.First || last != want.Last {
			t.Errorf("cell %d: %d to %d", cell, first, last)
		}
	}
}
