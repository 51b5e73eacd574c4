package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/evaluate"
	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/query"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/trace"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan/compiled"
)

// TestATopReleaseOfManyCells goes all the way, under all kinds of budget and both relations: the four cells that are
// much larger than all others are published, in the order of their choice, with counts whose noise is that of the plan;
// and everything that reads a release reads it, or says why not.
func TestATopReleaseOfManyCells(t *testing.T) {
	for i, m := range releasetest.BusyMoney {
		for j, neighbours := range []string{"add-remove", "replace"} {
			t.Run(m.Money+" "+neighbours, func(t *testing.T) {
				releasetest.SkipLong(t, i%2 != j) // every budget in every run, and either relation
				o := releasetest.Busy(t, m.Money, m.Policy, neighbours)
				opt, place := runRelease(t, o)
				verified, err := verify.Folder(t.Context(), place, verify.Options{})
				if err != nil {
					t.Fatalf("%v\n%+v", err, verified)
				}
				checkBusy(t, o, place)
				if a, err := query.Query(t.Context(), place,
					query.Question{Where: []string{"from=7", "to=31622"}}); err == nil ||
					!strings.Contains(err.Error(), "chosen") {
					t.Errorf("a question to the top table: %+v, %v", a, err)
				}
				if a, err := query.Query(t.Context(), place,
					query.Question{Where: []string{"hour=0..11"}}); err != nil ||
					a.Table != "hours" {
					t.Errorf("a question to the other table: %+v, %v", a, err)
				}
				checkBusyTraces(t, o, place)
				opt.Out = filepath.Join(o.Dir, "private")
				if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil {
					t.Fatal(err)
				}
				got := readEvaluation(t, opt.Out).Tables[0]
				if want := (evaluate.TopTruth{Of: 4, Right: 4,
					Predicted: o.Plan.Tables[0].Top.Shortfall}); got.Top == nil ||
					*got.Top != want ||
					got.Cells != 4 || got.L1OverN != nil {
					t.Errorf("the evaluation has %+v (%+v), expected %+v", got, got.Top, want)
				}
			})
		}
	}
}

// checkBusy holds the published table against the rows: each of the large cells is there once, with a figure within
// twelve standard errors of its rows (an honest release fails once in 10⁴).
func checkBusy(t *testing.T, o releasetest.Office, place string) {
	t.Helper()
	s := o.Plan.Tables[0].Statistics[0]
	seen := map[[2]int]bool{}
	for _, row := range releasetest.Figures(t, place, "busy", "from", "to", "count", "count_unbiased", "count_low",
		"count_high") {
		var v [6]int
		for i, text := range row {
			v[i], _ = strconv.Atoi(text)
		}
		cell := [2]int{v[0], v[1]}
		n, large := releasetest.LargeFlows[cell]
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
	if len(seen) != len(releasetest.LargeFlows) {
		t.Errorf("%d of %d large cells are published", len(seen), len(releasetest.LargeFlows))
	}
	for _, file := range []string{"report.json", "report.html", "report.md", "README.txt"} {
		b, err := os.ReadFile(filepath.Join(place, file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(b)), " "), "the true top 4 may be other cells") {
			t.Errorf("%s does not say what chosen cells are", file)
		}
	}
}

// checkBusyTraces follows every published cell, by its row in the file, to the choice that found it and its one noisy
// integer; and a cell that was not chosen to what that says.
func checkBusyTraces(t *testing.T, o releasetest.Office, place string) {
	t.Helper()
	for i, row := range releasetest.Figures(t, place, "busy", "from", "to", "count_unbiased") {
		trace, err := trace.Cell(t.Context(), place, "busy", []string{"from=" + row[0] + ",to=" + row[1]})
		if err != nil {
			t.Fatal(err)
		}
		if got := strconv.FormatFloat(trace.Sum, 'f', -1, 64); got != row[2] || trace.Choice == nil ||
			trace.Choice.Rank != int64(i)+1 || trace.Choice.Of != 4 || trace.Choice.Times != 4 ||
			len(trace.Contributions) != 1 || trace.Contributions[0].Share != 1 ||
			trace.Law != interval.Exact || trace.Attained < 0.95 {
			t.Errorf("row %v is followed to %s: %+v, %+v", row, got, trace.Choice, trace)
		}
	}
	missing, err := trace.Cell(t.Context(), place, "busy", []string{"from=1", "to=2"})
	if err != nil || missing.Missing == nil || missing.Missing.Why != trace.NotChosen || missing.Contributions != nil {
		t.Errorf("a cell that was not chosen: %+v, %v", missing, err)
	}
	if b, err := json.Marshal(missing); err != nil || bytes.Contains(b, []byte("noise_se")) ||
		!bytes.Contains(b, []byte(`"why":"not chosen"`)) {
		t.Errorf("%s, %v", b, err)
	}
	if _, err := trace.Cell(t.Context(), place, "busy", []string{"from=1", "to=-1"}); err == nil ||
		!strings.Contains(err.Error(), "no category of to") {
		t.Errorf("a cell that cannot be: %v", err)
	}
}

// TestATopReleaseResumes crashes behind the debit: the next run makes the same choices, with the same noise. Another
// row is another draw, and refused.
func TestATopReleaseResumes(t *testing.T) {
	m := releasetest.BusyMoney[1]
	o := releasetest.Busy(t, m.Money, m.Policy, "add-remove")
	opt := optionsOf(o, "out")
	drawn := crashAfterDebit(t, o, opt)
	file := filepath.Join(o.Dir, "t.csv")
	rows, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	moved := bytes.Replace(rows, []byte("\n2,31000,0\n"), []byte("\n3,31000,0\n"), 1) // as many rows in as many cells
	if err := os.WriteFile(file, moved, 0o600); err != nil || bytes.Equal(moved, rows) {
		t.Fatalf("no row was moved (%v)", err)
	}
	var changed *InputChanged
	if _, err := Measure(t.Context(), o.Plan, opt); !errors.As(err, &changed) {
		t.Fatalf("a row in another cell: %v", err)
	}
	if err := os.WriteFile(file, rows, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	s, err := measured.Open(MeasuredFolder(opt.Out, "busy"), compiled.Read)
	if err != nil {
		t.Fatal(err)
	}
	top := s.Measured[slices.IndexFunc(s.Measured,
		func(m measured.Measured) bool { return m.Measurement.ID == "busy" })]
	if !slices.Equal(top.Values.Int64Values(), drawn["busy"]) || len(top.Cells) != 4 {
		t.Errorf("resumed to other cells or noise: %v, %v", top, drawn["busy"])
	}
	if n := o.Debits(t); n != 1 {
		t.Errorf("%d debits, expected 1", n)
	}
}

// TestARehearsalOfATopRelease has made-up rows, among which no cell is large: four are chosen all the same.
func TestARehearsalOfATopRelease(t *testing.T) {
	m := releasetest.BusyMoney[0]
	o := releasetest.Busy(t, m.Money, m.Policy, "replace")
	opt := optionsOf(o, "rehearsal")
	rehearsed, err := Rehearse(t.Context(), o.Plan, 1000, opt)
	if err != nil {
		t.Fatal(err)
	}
	if rows := releasetest.Figures(t, rehearsed, "busy", "from"); len(rows) != 4 {
		t.Errorf("%d cells are chosen of made-up rows", len(rows))
	}
}
