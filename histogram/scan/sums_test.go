package scan

import (
	"errors"
	"fmt"
	"regexp"
	"testing"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
	"gonum.org/v1/gonum/stat/distuv"
)

// TestSumsBeyond61Bits: what a row could add, and what rows add together, is refused without a figure.
func TestSumsBeyond61Bits(t *testing.T) {
	r := payrollRelease(t, "row")
	sum := func(v counted.Values) []plan.Measurement {
		return []plan.Measurement{{ID: "m", Query: plan.Query{Table: "jobs", Counted: v}, Cells: 1,
			Selection: selection.All{}}}
	}
	widest := counted.Values{Column: "pay", Power: 1, Times: 1 << 59} // up to 12·2^59
	if _, err := newTally(r, r.Tables[0], sum(widest), nil, 1); !errors.Is(err, errLargeValue) {
		t.Errorf("12·2^59: %v", err)
	}
	// 2^60 a row of large firms at most, and 3·2^58 of small ones
	wide := counted.Values{Column: "pay", Power: 1, Times: 1 << 57, Per: "size", By: []int64{1, 1},
		Off: []int64{0, 4 << 57}}
	row := func(n int) (jobs []job) {
		for range n {
			jobs = append(jobs, job{id: 1, size: 1, pay: 900})
		}
		return append(jobs, job{id: 1, size: 0, pay: 0})
	}
	for n, want := range map[int]error{1: nil, 2: errLargeSum, 3: errLargeSum, 40: errLargeSum} {
		tally, err := newTally(r, r.Tables[0], sum(wide), nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		jobs := row(2 * n)
		err = tally.countFiles(t.Context(), source.Data{Dir: folder(t, filesOf(jobs, 100)...)},
			noise.NewStreams(noise.Key{1}, "p").Rows(),
			1<<28)
		if !errors.Is(err, want) {
			t.Errorf("%d rows of 2^60: %v", 2*n, err)
		}
		if err != nil && regexp.MustCompile(`\d{3}`).MatchString(err.Error()) {
			t.Errorf("a figure in %q", err)
		}
		if want == nil && tally.queries[0].Counts[0] != int64(2*n)<<60 {
			t.Errorf("%d rows of 2^60 are %d", 2*n, tally.queries[0].Counts[0])
		}
	}
}

// TestWeightsOfSparseTablesBeyond63Bits: what a sparse table cannot hold is refused in the same words.
func TestWeightsOfSparseTablesBeyond63Bits(t *testing.T) {
	if err := describeShortage(1, fmt.Errorf("counting: %w", tabulate.ErrSums)); err != errLargeSum {
		t.Error(err)
	}
}

// TestAllowancesAreUniform: of many units alike, each choice of their rows is as likely as choosing by hand makes it.
// Of rows in groups A A B C three stay, uniformly, and of these those of one of their groups, uniformly. An exact
// version fails with probability 1e-9; wrong ones are noticed.
func TestAllowancesAreUniform(t *testing.T) {
	const units = 6000
	var jobs []job
	for id := range units {
		for _, region := range []int{0, 0, 1, 2} {
			jobs = append(jobs, job{id: id, region: region, pay: 10})
		}
	}
	// Sets of rows that stay at last, by bits, as often as of 24: leave out one of four, then choose a group.
	want := map[int]float64{}
	for left := range 4 {
		groups := map[int]int{}
		for i, region := range []int{0, 0, 1, 2} {
			if i != left {
				groups[region] |= 1 << i
			}
		}
		for _, rows := range groups {
			want[rows] += 1 / float64(4*len(groups))
		}
	}
	r := payrollRelease(t, "{id: id, max_rows: 3}")
	asked := []asking{{query: plan.Query{Table: "jobs", Factors: by("region"), Counted: counted.Rows{},
		PerUnit: spec.PerUnit{Groups: 1}},
		cells: 3}}
	surprise := func(change func(*tally)) float64 {
		got := answersTo(t, r, asked, 3, 2, 1<<28, change, filesOf(jobs, 9000)...)
		met := map[int]float64{}
		for id := range units {
			rows := 0
			for i := range 4 {
				if at := 4*id + i; got.stay[1].PieceBits(at / 9000)[at%9000/64]>>(at%9000%64)&1 == 1 {
					rows |= 1 << i
				}
			}
			met[rows]++
		}
		statistic := 0.0
		for rows, q := range want {
			off := met[rows] - units*q
			statistic += off * off / (units * q)
			delete(met, rows)
		}
		if len(met) > 0 {
			return 0
		}
		return distuv.ChiSquared{K: float64(len(want) - 1)}.Survival(statistic)
	}
	if p := surprise(nil); p < 1e-9 {
		t.Errorf("the rows that stay have another law (%g)", p)
	}
	for name, change := range map[string]func(*tally){
		"the table's bound is not heeded": func(
			t *tally) {
			table := *t.table
			table.Unit.MaxRows = 4
			t.table = &table
		},
		"groups of nothing": func(t *tally) { t.allowances[1].groups = nil },
	} {
		if p := surprise(change); p >= 1e-9 {
			t.Errorf("%s: nobody notices (%g)", name, p)
		}
	}
}

// TestMadeUpRowsOfEveryForm: a rehearsal asks all that a release does, of rows that are each a unit.
func TestMadeUpRowsOfEveryForm(t *testing.T) {
	r := payrollRelease(t, "{id: id, max_rows: 4}")
	all := askings(2, spec.PerUnit{Groups: 1, RowsPerGroup: 1})
	tally, err := newTally(r, r.Tables[0], measurementsOf(all), nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 100_000
	stream := noise.NewStreams(noise.Key{1}, "p").Rows().MadeUp("jobs")
	if err := tally.makeUp(t.Context(), rows, stream, 1<<28); err != nil {
		t.Fatal(err)
	}
	got := answered{tally: tally}
	for i, a := range all {
		sum := int64(0)
		for _, n := range got.byCell(i) {
			sum += n
		}
		value, valued := a.query.Counted.(counted.Values)
		switch kind := a.kind(); {
		case kind == counted.KindDiagnostic:
			if sum != 0 {
				t.Errorf("%s: %d", a.query.Counted, sum)
			}
		case kind == counted.KindDistinct:
			if want := map[string]int64{"pay": 3 * 13, "age": 10}[a.query.Counted.Reads()]; sum != want {
				t.Errorf("query %d tells %d values apart, want %d", i, sum, want)
			}
		case valued && (!value.Weight || value.Power > 0):
		case a.query.Counted.Weighted(): // weights of 1.5 on average, ±0.0035
			if sum < rows*14/10 || sum > rows*16/10 {
				t.Errorf("query %d: weights of %d", i, sum)
			}
		case sum != rows:
			t.Errorf("query %d counts %d rows", i, sum)
		}
	}
}
