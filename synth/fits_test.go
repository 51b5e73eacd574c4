package synth

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
)

// measuredOnce returns an answer for some columns with noise of this variance.
func measuredOnce(variance int64, answers ...int64) measured.Measured {
	mechanism := budget.Mechanism{Kind: budget.DiscreteGaussian, Parameter: big.NewRat(variance, 1), L1: one.Num(),
		L2Squared: one.Num()}
	return withAnswers(plan.Measurement{Query: plan.Query{Counted: counted.Rows{}}, Selection: selection.All{},
		Mechanism: mechanism}, answers)
}

// TestKnownByHand: three columns of 2, 3 and 2 categories, of which the last two of the second are merged. All three
// are measured together, with variance 100, and the first two with variances 100, then 16. Two rounds measure the
// second by itself, by class, and one the third: none of them is lost.
func TestKnownByHand(t *testing.T) {
	asked := plan.Synthetic{Method: plan.AIM, Ways: 3, By: make([]plan.Factor, 3)}
	columns := []measured.Measured{measuredOnce(4, 10, 20), measuredOnce(4, 10, 11, 12), measuredOnce(4, 13, 17)}
	candidates := adaptive.Candidates(asked)
	round := func(m measured.Measured, set ...int) measured.Round {
		return measured.Round{Choice: slices.IndexFunc(candidates, func(c []int) bool { return slices.Equal(c, set) }),
			Measured: m}
	}
	all := estimatesOf(asked, columns, measured.Rounds{Classes: [][]int{{0, 1}, {0, 1, 1}, {0, 1}},
		All: []measured.Round{
			round(measuredOnce(100, 1, 2, 3, 4), 0, 1),
			round(measuredOnce(100, 1, 2, 3, 4, 5, 6, 7, 8), 0, 1, 2),
			round(measuredOnce(16, 5, 6, 7, 8), 0, 1),
			round(measuredOnce(3, 9, 23), 1),
			round(measuredOnce(2, 14, 16), 2),
			round(measuredOnce(1, 10, 22), 1),
		}})
	for i, want := range []struct {
		columns  []int
		measured int
		counts   []float64
		sigma    float64
	}{
		{[]int{0}, 1, []float64{10, 20}, 2},
		{[]int{1}, 1, []float64{10, 11, 12}, 2},
		{[]int{2}, 1, []float64{13, 17}, 2},
		{[]int{1}, 2, []float64{10, 22}, 1},
		{[]int{2}, 1, []float64{14, 16}, 1.41421},
		{[]int{0, 1}, 2, []float64{5, 6, 7, 8}, 4},                      // the last, not the mean of all
		{[]int{0, 2}, 0, []float64{1 + 3, 2 + 4, 5 + 7, 6 + 8}, 14.142}, // sums of two classes
		{[]int{1, 2}, 0, []float64{1 + 5, 2 + 6, 3 + 7, 4 + 8}, 14.142},
		{[]int{0, 1, 2}, 1, []float64{1, 2, 3, 4, 5, 6, 7, 8}, 10},
	} {
		got := all[i]
		if !slices.Equal(got.columns, want.columns) || got.measured != want.measured ||
			!slices.Equal(got.counts, want.counts) || math.Abs(got.sigma-want.sigma) > 1e-3 {
			t.Errorf("%v: %+v, expected %+v", want.columns, got, want)
		}
	}
	if len(all) != 9 {
		t.Errorf("%d sets, expected 9", len(all))
	}
	rounds := 0
	for i, k := range all {
		if k.first != (i < 3) {
			t.Errorf("set %d is said to be measured before the rounds: %v", i, k.first)
		}
		if !k.first {
			rounds += k.measured
		}
	}
	if rounds != 6 {
		t.Errorf("sets were measured by themselves %d times, in 6 rounds", rounds)
	}
	// Rows (0, 1, 0), (0, 2, 1) and (1, 2, 1): the categories 1 and 2 are one class.
	rows := [][]uint32{{0, 0, 1}, {1, 2, 2}, {0, 1, 1}}
	if got := all[8].countRows(rows); !slices.Equal(got, []float64{0, 0, 1, 1, 0, 0, 0, 1}) {
		t.Errorf("rows are tallied as %v", got)
	}
	if got := all[1].countRows(rows); !slices.Equal(got, []float64{0, 1, 2}) {
		t.Errorf("rows are tallied as %v", got)
	}
}

// TestRowsBesideTheEstimate: 10 rows of one column, as the plan says, while the noisy total is 20; each row counts
// twice.
func TestRowsBesideTheEstimate(t *testing.T) {
	s := plannedSetting(t, []int{2, 2}, 10, one, one, one)
	m := Microdata{Rows: 10, Total: 20, Codes: [][]uint32{make([]uint32, 10)}}
	keys, err := keysOf(s.plan.Release(), plan.Query{Table: "t", Factors: s.synthetic.By})
	if err != nil {
		t.Fatal(err)
	}
	m.Keys = keys
	m.compareFits(t.Context(), model{columns: [][]float64{{15, 5}}},
		[]setEstimate{{columns: []int{0}, of: [][]int{nil}, sizes: []int{2}, counts: []float64{19, 2}, sigma: 0.5,
			proxy: 0.25, measured: 1}})
	f := m.Fits[0]
	if f.Distance != 4+3 || f.Rows != 1+2 || f.Off != 1 || f.Cells != 2 {
		t.Errorf("%+v", f)
	}
	// 2·2·0.25·(2·ln 2 + ln 20) = 4.382
	if math.Abs(f.Bound-(3+math.Sqrt(4.38203))) > 1e-4 {
		t.Errorf("the bound is %v", f.Bound)
	}
	if len(m.FarthestCells) != 1 || m.FarthestCells[0].Categories[0] != "1" || m.FarthestCells[0].Deviations != 4 ||
		m.FarthestCells[0].Rows != 0 || m.FarthestCells[0].Model != 5 {
		t.Errorf("%+v", m.FarthestCells)
	}
}

// TestNoiseIsWithinItsBound draws noise of 3 cells 20,000 times: it exceeds the bound in less than one draw in twenty.
// The noise has a normal law, whose sums are within the bound far more often: there is practically no chance of a false
// alarm.
func TestNoiseIsWithinItsBound(t *testing.T) {
	r := seededStream([32]byte{50})
	normal := func() float64 {
		s := -6.0
		for range 12 {
			s += r.unit()
		}
		return s
	}
	above := 0
	e := setEstimate{counts: make([]float64, 3), proxy: 9}
	for range 20_000 {
		s := 0.0
		for range e.counts {
			s += 3 * math.Abs(normal())
		}
		if s > e.noiseBound() {
			above++
		}
	}
	if above > 1000 {
		t.Errorf("%d of 20,000 are above", above)
	}
}
