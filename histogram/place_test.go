package histogram

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"gonum.org/v1/gonum/stat/distuv"
)

// numbersOf is the encoder of numbers on a lattice of halves from −1 to 3.
func numbersOf(t *testing.T, unknown, null spec.Action) *encoder {
	t.Helper()
	e, err := newNumbers(&spec.Table{Name: "t"}, &spec.Column{Name: "x", From: "x", Type: spec.Decimal,
		Unknown: spec.Policy{Action: unknown},
		Null:    spec.Policy{Action: null},
		Lattice: &spec.Lattice{Step: big.NewRat(1, 2), First: -2, Last: 6}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestNumbersOfAllTypes reads values of each type: rounded, clamped, and by the column's policies where they are none.
func TestNumbersOfAllTypes(t *testing.T) {
	floats := array.NewFloat64Builder(memory.DefaultAllocator)
	floats.AppendValues([]float64{0, 0.25, 0.24, -7, math.Inf(1), math.Inf(-1), math.NaN(), 1e300}, nil)
	floats.AppendNull()
	texts := `["0", "0.25", "-0.26", "2.5e0", "x", "", "900000000000000000000000", null]`
	for _, c := range []struct {
		name          string
		raw           arrow.Array
		unknown, null spec.Action
		want          string
	}{
		{"floats", floats.NewArray(), spec.Refuse, spec.Drop, "[2 3 2 0 8 0 d 8 d] []"},
		{"integers", fromJSON(t, arrow.PrimitiveTypes.Int64, `[0, 1, -1, -9, 3, 4, null]`), spec.Drop, spec.Refuse,
			"[2 4 0 0 8 8 b] [null]"},
		{"texts", fromJSON(t, arrow.BinaryTypes.String, texts), spec.Refuse, spec.Drop,
			"[2 3 1 7 b b 8 d] [not a number not a number]"},
		{"texts left out", fromJSON(t, arrow.BinaryTypes.String, texts), spec.Drop, spec.Drop, "[2 3 1 7 d d 8 d] []"},
		{"long texts", fromJSON(t, arrow.BinaryTypes.LargeString, `["1", "?"]`), spec.Refuse, spec.Drop,
			"[4 b] [not a number]"},
		{"decimals", fromJSON(t, &arrow.Decimal128Type{Precision: 20, Scale: 2}, `["0.25", "-0.26", "99", "2.74"]`),
			spec.Refuse, spec.Refuse, "[3 1 8 7] []"},
		{"booleans", fromJSON(t, arrow.FixedWidthTypes.Boolean, `[true]`), spec.Drop, spec.Drop, "[b] [of the wrong type]"},
		{"dates", fromJSON(t, arrow.PrimitiveTypes.Date32, `[0]`), spec.Drop, spec.Drop, "[b] [of the wrong type]"},
	} {
		e := numbersOf(t, c.unknown, c.null)
		codes, misfits := e.encode(nil, breachLimit, c.raw)
		var shown []string
		for _, code := range codes {
			switch code {
			case dropped:
				shown = append(shown, "d")
			case breached:
				shown = append(shown, "b")
			default:
				shown = append(shown, fmt.Sprint(code))
			}
		}
		kinds := []string{}
		for _, m := range misfits {
			kinds = append(kinds, m.kind)
		}
		if got := fmt.Sprint(shown, " ", kinds); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		read := make([]uint32, c.raw.Len())
		e.Codes(c.raw, read)
		for i, code := range read { // what readers get, whose marks are those of the width
			want := codes[i]
			switch want {
			case dropped:
				want = math.MaxUint8
			case breached:
				want = math.MaxUint8 - 1
			}
			if code != want {
				t.Errorf("%s: row %d is read as %d, want %d", c.name, i, code, want)
			}
		}
	}
}

// TestLatticesThatHaveNoCodes: 2^32 − 3 places are the most.
func TestLatticesThatHaveNoCodes(t *testing.T) {
	for last, want := range map[int64]bool{1<<32 - 5: true, 1<<32 - 4: false, math.MaxInt64: false} {
		c := &spec.Column{Name: "x", Lattice: &spec.Lattice{Step: big.NewRat(1, 1), First: 0, Last: last}}
		if _, err := newNumbers(&spec.Table{Name: "t"}, c); (err == nil) != want {
			t.Errorf("places up to %d: %v", last, err)
		}
	}
	c := &spec.Column{Name: "x", Lattice: &spec.Lattice{Step: big.NewRat(1, 1), First: math.MinInt64 / 2,
		Last: math.MaxInt64 / 2}}
	if _, err := newNumbers(&spec.Table{Name: "t"}, c); err == nil {
		t.Error("2^63 places have codes")
	}
}

// TestSumsBeyond61Bits: what a row could add, and what rows add together, is refused without a figure.
func TestSumsBeyond61Bits(t *testing.T) {
	r := payrollRelease(t, "row")
	sum := func(v plan.Value) []plan.Measurement {
		return []plan.Measurement{{ID: "m", Query: plan.Query{Table: "jobs", Value: &v}, Cells: 1}}
	}
	widest := plan.Value{Column: "pay", Power: 1, Times: 1 << 59} // up to 12·2^59
	if _, err := newTally(r, r.Tables[0], sum(widest), nil, 1); !errors.Is(err, errLargeValue) {
		t.Errorf("12·2^59: %v", err)
	}
	// 2^60 a row of large firms at most, and 3·2^58 of small ones
	wide := plan.Value{Column: "pay", Power: 1, Times: 1 << 57, Per: "size", By: []int64{1, 1}, Off: []int64{0, 4 << 57}}
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
		err = tally.scan(t.Context(), folder(t, filesOf(jobs, 100)...), noise.NewStreams(noise.Key{1}, "p"), 1<<28)
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
	if err := within(1, fmt.Errorf("counting: %w", tabulate.ErrWeights)); err != errLargeSum {
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
	asked := []asking{{query: plan.Query{Table: "jobs", Factors: by("region"), PerUnit: &spec.PerUnit{Groups: 1}},
		cells: 3}}
	surprise := func(change func(*tally)) float64 {
		got := answersTo(t, r, asked, 3, 2, 1<<28, change, filesOf(jobs, 9000)...)
		met := map[int]float64{}
		for id := range units {
			rows := 0
			for i := range 4 {
				if at := 4*id + i; got.stay[1].Of(at / 9000)[at%9000/64]>>(at%9000%64)&1 == 1 {
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
		"the table's bound is not heeded": func(t *tally) { table := *t.table; table.Unit.MaxRows = 4; t.table = &table },
		"groups of nothing":               func(t *tally) { t.allowances[1].groups = nil },
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
	if err := tally.makeUp(t.Context(), rows, noise.NewStreams(noise.Key{1}, "p").MadeUp("jobs"), 1<<28); err != nil {
		t.Fatal(err)
	}
	got := answered{tally: tally}
	for i, a := range all {
		sum := int64(0)
		for _, n := range got.byCell(i) {
			sum += n
		}
		switch {
		case a.query.Diagnostic != "" && sum != 0:
			t.Errorf("%s: %d", a.query.Diagnostic, sum)
		case a.query.Diagnostic != "":
		case a.query.Distinct != nil && sum != map[string]int64{"pay": 3 * 13, "age": 10}[a.query.Distinct.Column]:
			t.Errorf("query %d tells %d values apart", i, sum)
		case a.query.Distinct == nil && a.query.Value == nil && (a.query.Quantile == nil || !a.query.Quantile.Weight) &&
			(a.query.Distribution == nil || !a.query.Distribution.Weight) && sum != rows:
			t.Errorf("query %d counts %d rows", i, sum)
		// weights of 1.5 on average, ±0.0035
		case (a.query.Value != nil && a.query.Value.Weight && a.query.Value.Power == 0 || a.query.Distribution != nil &&
			a.query.Distribution.Weight) && (sum < rows*14/10 || sum > rows*16/10):
			t.Errorf("query %d: weights of %d", i, sum)
		}
	}
}
