package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/describe"
)

// busySpec chooses four of 10⁹ cells.
const busySpec = `version: 1
release: busy
privacy: {protects: trip, neighbours: NEIGHBOURS, account: trips}
budget: {MONEY, split: {busy: 1/2, rest: 1/2}}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      from: {type: integer, range: [1, 31622]}
      to: {type: integer, range: [1, 31622]}
      hour: {type: integer, range: [0, 23]}
marginals:
  busy: {by: [from, to], budget: busy, top: 4}
  hours: {by: [hour], budget: rest}
`

// busyMoney are the three kinds of budget, each such that four cells of 200 rows or more are found among 10⁹ but for a chance of
// less than 10⁻⁹: the gap is a multiple of what [plan.Top] calls the shortfall.
var busyMoney = []struct{ money, policy string }{
	{"epsilon: 16", "cap: {epsilon: 50}"},
	{"rho: 4", "cap: {rho: 50, delta: 1e-9}"},
	{"epsilon: 8, delta: 1e-9", "cap: {rho: 50, delta: 1e-6}"},
}

// busy is an office with the rows of [flows], none of which is impossible.
func busy(t *testing.T, money, policy, neighbours string) office {
	t.Helper()
	rows := &strings.Builder{}
	rows.WriteString("from,to,hour\n")
	for i := range singleFlows {
		fmt.Fprintf(rows, "%d,%d,%d\n", 2+i*9, 31000-i*7, i%24)
	}
	for cell, n := range largeFlows {
		for i := range n {
			fmt.Fprintf(rows, "%d,%d,%d\n", cell[0], cell[1], i%24)
		}
	}
	spec := strings.NewReplacer("MONEY", money, "NEIGHBOURS", neighbours).Replace(busySpec)
	return officeWith(t, spec, "account: trips\nprotects: trip\nneighbours: "+neighbours+"\n"+policy+"\n", rows.String())
}

// TestATopReleaseOfManyCells goes all the way, under all kinds of budget and both relations: the four cells that are much larger
// than all others are published, in the order of their choice, with counts whose noise is that of the plan; and everything that
// reads a release reads it, or says why not.
func TestATopReleaseOfManyCells(t *testing.T) {
	for i, m := range busyMoney {
		for j, neighbours := range []string{"add-remove", "replace"} {
			t.Run(m.money+" "+neighbours, func(t *testing.T) {
				skipLong(t, i%2 != j) // every budget in every run, and either relation
				o := busy(t, m.money, m.policy, neighbours)
				opt, place := o.run(t)
				verified, err := Verify(t.Context(), place, VerifyOptions{})
				if err != nil {
					t.Fatalf("%v\n%+v", err, verified)
				}
				o.checkBusy(t, place)
				if a, err := Query(t.Context(), place, Question{Where: []string{"from=7", "to=31622"}}); err == nil || !strings.Contains(err.Error(), "chosen") {
					t.Errorf("a question to the top table: %+v, %v", a, err)
				}
				if a, err := Query(t.Context(), place, Question{Where: []string{"hour=0..11"}}); err != nil || a.Table != "hours" {
					t.Errorf("a question to the other table: %+v, %v", a, err)
				}
				o.checkBusyTraces(t, place)
				opt.Out = filepath.Join(o.dir, "private")
				if err := evaluateTo(t.Context(), o.plan, place, opt); err != nil {
					t.Fatal(err)
				}
				got := readEvaluation(t, opt.Out).Tables[0]
				if want := (topTruth{4, 4, 0, o.plan.Tables[0].Top.Shortfall}); got.Top == nil || *got.Top != want || got.Cells != 4 || got.L1OverN != nil {
					t.Errorf("the evaluation has %+v (%+v), expected %+v", got, got.Top, want)
				}
			})
		}
	}
}

// checkBusy holds the published table against the rows: each of the large cells is there once, with a figure within twelve
// standard errors of its rows (an honest release fails once in 10⁴).
func (o office) checkBusy(t *testing.T, place string) {
	t.Helper()
	s := o.plan.Tables[0].Statistics[0]
	seen := map[[2]int]bool{}
	for _, row := range figuresOf(t, place, "busy", "from", "to", "count", "count_unbiased", "count_low", "count_high") {
		var v [6]int
		for i, text := range row {
			v[i], _ = strconv.Atoi(text)
		}
		cell := [2]int{v[0], v[1]}
		n, large := largeFlows[cell]
		if !large || seen[cell] {
			t.Errorf("row %v is of no large cell, or twice", row)
		}
		seen[cell] = true
		if math.Abs(float64(v[3]-n)) > 12*s.StandardError || v[2] != max(v[3], 0) {
			t.Errorf("row %v has %d rows, and noise of %g", row, n, s.StandardError)
		}
		if margin := int(s.Margin); v[4] != v[3]-margin || v[5] != v[3]+margin {
			t.Errorf("row %v has not the margin %d", row, margin)
		}
	}
	if len(seen) != len(largeFlows) {
		t.Errorf("%d of %d large cells are published", len(seen), len(largeFlows))
	}
	for _, file := range []string{"report.json", "report.html", "report.md", "README.txt"} {
		b, err := os.ReadFile(filepath.Join(place, file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(b)), " "), "the true top 4 may differ") {
			t.Errorf("%s does not say what chosen cells are", file)
		}
	}
}

// checkBusyTraces follows every published cell, by its row in the file, to the choice that found it and its one noisy integer; and
// a cell that was not chosen to what that says.
func (o office) checkBusyTraces(t *testing.T, place string) {
	t.Helper()
	for i, row := range figuresOf(t, place, "busy", "from", "to", "count_unbiased") {
		trace, err := TraceCell(t.Context(), place, "busy", []string{"from=" + row[0] + ",to=" + row[1]})
		if err != nil {
			t.Fatal(err)
		}
		if got := strconv.FormatFloat(trace.Sum, 'f', -1, 64); got != row[2] || trace.Choice == nil || trace.Choice.Place != int64(i)+1 || trace.Choice.Of != 4 || trace.Choice.Times != 4 ||
			len(trace.Bearings) != 1 || trace.Bearings[0].Share != 1 || trace.Law != ExactLaw || trace.Attained < 0.95 {
			t.Errorf("row %v is followed to %s: %+v, %+v", row, got, trace.Choice, trace)
		}
	}
	missing, err := TraceCell(t.Context(), place, "busy", []string{"from=1", "to=2"})
	if err != nil || missing.Missing == nil || missing.Missing.Why != notChosen || missing.Bearings != nil {
		t.Errorf("a cell that was not chosen: %+v, %v", missing, err)
	}
	if b, err := json.Marshal(missing); err != nil || bytes.Contains(b, []byte("noise_se")) || !bytes.Contains(b, []byte(`"why":"not chosen"`)) {
		t.Errorf("%s, %v", b, err)
	}
	if _, err := TraceCell(t.Context(), place, "busy", []string{"from=1", "to=-1"}); err == nil || !strings.Contains(err.Error(), "no category of to") {
		t.Errorf("a cell that cannot be: %v", err)
	}
}

// TestATopReleaseResumes crashes behind the debit: the next run makes the same choices, with the same noise. Another row is
// another draw, and refused.
func TestATopReleaseResumes(t *testing.T) {
	m := busyMoney[1]
	o := busy(t, m.money, m.policy, "add-remove")
	opt := o.options("out")
	drawn := crashAfterDebit(t, o, opt)
	file := filepath.Join(o.dir, "t.csv")
	rows, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	moved := bytes.Replace(rows, []byte("\n2,31000,0\n"), []byte("\n3,31000,0\n"), 1) // as many rows in as many cells
	if err := os.WriteFile(file, moved, 0o600); err != nil || bytes.Equal(moved, rows) {
		t.Fatalf("no row was moved (%v)", err)
	}
	var changed *InputChanged
	if _, err := Measure(t.Context(), o.plan, opt); !errors.As(err, &changed) {
		t.Fatalf("a row in another cell: %v", err)
	}
	if err := os.WriteFile(file, rows, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), o.plan, opt); err != nil {
		t.Fatal(err)
	}
	s, err := measured.Open(MeasuredFolder(opt.Out, "busy"))
	if err != nil {
		t.Fatal(err)
	}
	top := s.Measured[slices.IndexFunc(s.Measured, func(m measured.Measured) bool { return m.Measurement.ID == "busy" })]
	if !slices.Equal(top.Values.Int64Values(), drawn["busy"]) || len(top.Cells) != 4 {
		t.Errorf("resumed to other cells or noise: %v, %v", top, drawn["busy"])
	}
	if n := o.debits(t); n != 1 {
		t.Errorf("%d debits, expected 1", n)
	}
}

// TestARehearsalOfATopRelease has made-up rows, among which no cell is large: four are chosen all the same.
func TestARehearsalOfATopRelease(t *testing.T) {
	m := busyMoney[0]
	o := busy(t, m.money, m.policy, "replace")
	opt := o.options("rehearsal")
	rehearsed, err := Rehearse(t.Context(), o.plan, 1000, opt)
	if err != nil {
		t.Fatal(err)
	}
	if rows := figuresOf(t, rehearsed, "busy", "from"); len(rows) != 4 {
		t.Errorf("%d cells are chosen of made-up rows", len(rows))
	}
}

// TestDiffOfTopReleases compares two plans, and the cells that both releases have chosen.
func TestDiffOfTopReleases(t *testing.T) {
	m := busyMoney[0]
	before, after := busy(t, m.money, m.policy, "add-remove"), busy(t, m.money, m.policy, "replace")
	text := &strings.Builder{}
	if err := describe.Diff(before.plan.Plan, after.plan.Plan).Write(text); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"sensitivity of the choice", "in one direction", "in either direction", "shortfall of the choice"} {
		if !strings.Contains(text.String(), says) {
			t.Errorf("the difference of the plans does not say %q:\n%s", says, text)
		}
	}
	_, a := before.run(t)
	_, b := after.run(t)
	d, err := Diff(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	if c := d.Releases.Tables[0]; c.Refused != "" || !c.Some || c.Compared != 4 || c.OnlyBefore+c.OnlyAfter != 0 || c.Statistics[0].Margin < 1 {
		t.Errorf("the chosen cells compare as %+v", c)
	}
	if n := (editions{t, ""}).flukes(a, b); n > 0 {
		t.Errorf("noise alone changed %d cells", n)
	}
}
