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

// TestASparseReleaseOfManyCells goes all the way, under all kinds of budget: what is above the threshold is published
// with the columns of any table, all else is told as being below, and everything that reads a release reads it.
func TestASparseReleaseOfManyCells(t *testing.T) {
	for _, m := range releasetest.FlowMoney {
		t.Run(m.Money, func(t *testing.T) {
			o := releasetest.Flows(t, m.Money, m.Policy, m.Above)
			opt, place := runRelease(t, o)
			verified, err := verify.Folder(t.Context(), place, verify.Options{})
			if err != nil {
				t.Fatalf("%v\n%+v", err, verified)
			}
			checkFlows(t, o, place)
			checkAsked(t, o, place)
			opt.Out = filepath.Join(o.Dir, "private")
			if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil {
				t.Fatal(err)
			}
			checkTruth(t, o, readEvaluation(t, opt.Out), place)
		})
	}
}

// checkFlows holds the published table against the rows: every large cell is there, with a figure within twelve scales
// of its rows (an honest release fails once in 10⁴), and what else is there is above the threshold, in domain order.
func checkFlows(t *testing.T, o releasetest.Office, place string) {
	t.Helper()
	planned := o.Plan.Tables[0]
	scale := planned.Statistics[0].StandardError
	found, last := 0, -1
	for _, row := range releasetest.Figures(t, place, "od", "from", "to", "count", "count_unbiased", "count_low",
		"count_high") {
		var v [6]int
		for i, text := range row {
			v[i], _ = strconv.Atoi(text)
		}
		at := (v[0]-1)*31622 + v[1] - 1
		if at <= last {
			t.Errorf("row %v is out of order", row)
		}
		last = at
		if int64(v[3]) <= planned.Sparse.Above || v[2] != v[3] {
			t.Errorf("row %v is not above %d", row, planned.Sparse.Above)
		}
		if margin := int(planned.Statistics[0].Margin); v[4] != v[3]-margin || v[5] != v[3]+margin {
			t.Errorf("row %v has not the margin %d", row, margin)
		}
		if n, large := releasetest.LargeFlows[[2]int{v[0], v[1]}]; large {
			found++
			if math.Abs(float64(v[3]-n)) > 12*scale {
				t.Errorf("row %v has %d rows, and noise of %g", row, n, scale)
			}
		}
		if v[0] == 9 && v[1] <= 11 {
			t.Errorf("row %v is impossible", row)
		}
	}
	if found != len(releasetest.LargeFlows) {
		t.Errorf("%d of %d large cells are published", found, len(releasetest.LargeFlows))
	}
	for _, file := range []string{"report.json", "report.html", "report.md", "README.txt"} {
		b, err := os.ReadFile(filepath.Join(place, file))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if !strings.Contains(text, "need not be empty: its noisy count was not above") &&
			!strings.Contains(strings.Join(strings.Fields(text), " "),
				"need not be empty: its noisy count was not above") {
			t.Errorf("%s does not say what a cell is that is not there", file)
		}
	}
}

// checkAsked asks for cells that are published, that are not, and that cannot be.
func checkAsked(t *testing.T, o releasetest.Office, place string) {
	t.Helper()
	s := o.Plan.Tables[0].Sparse
	a, err := query.Query(t.Context(), place,
		query.Question{By: []string{"to"}, Where: []string{"from=9", "to=5,31622"}})
	if err != nil {
		t.Fatal(err)
	}
	impossible, absent := a.Rows[0], a.Rows[1]
	if impossible.Law != interval.Exact || impossible.High != 0 || impossible.NotAbove != nil {
		t.Errorf("an impossible cell: %+v", impossible)
	}
	if n := absent.NotAbove; n == nil || n.Threshold != s.Above || n.Bound != s.Bound ||
		absent.Law != interval.Threshold ||
		absent.Low != 0 || absent.High != float64(s.Bound) || absent.Attained < 0.95 {
		t.Errorf("a cell that is not published: %+v", absent)
	}
	if a, err = query.Query(t.Context(), place, query.Question{Where: []string{"from=7", "to=31622"}}); err != nil ||
		a.Rows[0].NotAbove != nil || math.Abs(a.Rows[0].Unbiased-300) > 150 || a.Table != "od" {
		t.Errorf("a large cell: %+v, %v", a, err)
	}
	if _, err = query.Query(t.Context(), place, query.Question{Where: []string{"from=7"}}); err == nil ||
		!strings.Contains(err.Error(), "nothing can be added up") {
		t.Errorf("a sum of cells of a sparse table: %v", err)
	}
	if a, err = query.Query(t.Context(), place, query.Question{Where: []string{"hour=0..11"}}); err != nil ||
		a.Table != "hours" {
		t.Errorf("a question to the other table: %+v, %v", a, err)
	}
	for cell, n := range map[string]int{"from=31622,to=1": 400, "from=5,to=5": 0} {
		trace, err := trace.Cell(t.Context(), place, "od", []string{cell})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := trace.Write(&text); err != nil {
			t.Fatal(err)
		}
		document, err := json.Marshal(trace)
		if err != nil {
			t.Fatal(err)
		}
		if published := n > 0; published != (trace.NotAbove == nil) || published != strings.Contains(string(document),
			`"unbiased"`) || published == strings.Contains(text.String(), "not above") {
			t.Errorf("cell %s:\n%s\n%s", cell, text.String(), document)
		}
	}
	var text, table bytes.Buffer
	if a, err = query.Query(t.Context(), place, query.Question{By: []string{"to"},
		Where: []string{"from=31622", "to=1..4"}}); err == nil {
		err = a.Write(&text)
	}
	if err == nil {
		err = a.CSV(&table)
	}
	if err != nil || !strings.Contains(text.String(), "not above") || !strings.Contains(table.String(), ",,,0,") {
		t.Errorf("%v:\n%s\n%s", err, text.String(), table.String())
	}
}

// checkTruth holds an evaluation against the rows.
func checkTruth(t *testing.T, o releasetest.Office, v evaluate.Evaluation, place string) {
	t.Helper()
	rows := releasetest.Figures(t, place, "od", "from", "to", "count")
	truth, missed, falsely, l1 := 0, releasetest.SingleFlows+len(releasetest.LargeFlows), 0, 0.0
	for _, n := range releasetest.LargeFlows {
		truth += n
	}
	truth += releasetest.SingleFlows
	left := truth
	for _, row := range rows {
		var v [3]int
		for i, text := range row {
			v[i], _ = strconv.Atoi(text)
		}
		n := releasetest.LargeFlows[[2]int{v[0], v[1]}]
		if i := (v[0] - 2) / 9; n == 0 && v[0] >= 2 && (v[0]-2)%9 == 0 && i < releasetest.SingleFlows &&
			v[1] == 31000-i*7 {
			n = 1
		}
		if n > 0 {
			missed--
		} else {
			falsely++
		}
		left -= n
		l1 += math.Abs(float64(v[2] - n))
	}
	l1 += float64(left)
	got := v.Tables[0]
	want := evaluate.SparseTruth{Above: o.Plan.Tables[0].Sparse.Above, Published: int64(len(rows)),
		False: int64(falsely), Predicted: o.Plan.Tables[0].Sparse.FalseCells,
		Filled: releasetest.SingleFlows + int64(len(releasetest.LargeFlows)), Missed: int64(missed)}
	if got.Sparse == nil || *got.Sparse != want || got.Rows != int64(truth) {
		t.Errorf("the table has %+v (%+v), expected %+v of %d rows", got, got.Sparse, want, truth)
	}
	if got.L1OverN == nil || math.Abs(*got.L1OverN-l1/float64(truth)) > 1e-12 {
		t.Errorf("L1/N is %v, expected %v", *got.L1OverN, l1/float64(truth))
	}
	if v.Tables[1].Sparse != nil {
		t.Error("the other table is called sparse")
	}
}

// TestASparseReleaseResumes crashes behind the debit: the next run has the same cells and the same noise. A cell
// elsewhere is another draw, and refused.
func TestASparseReleaseResumes(t *testing.T) {
	m := releasetest.FlowMoney[1]
	o := releasetest.Flows(t, m.Money, m.Policy, m.Above)
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
	s, err := measured.Open(MeasuredFolder(opt.Out, "trips"), compiled.Read)
	if err != nil {
		t.Fatal(err)
	}
	od := s.Measured[slices.IndexFunc(s.Measured, func(m measured.Measured) bool { return m.Measurement.ID == "od" })]
	if !slices.Equal(od.Values.Int64Values(), drawn["od"]) || len(od.Cells) != len(drawn["od"]) ||
		len(od.Cells) < len(releasetest.LargeFlows) {
		t.Errorf("resumed to other cells or noise: %v, %v", od, drawn["od"])
	}
	if n := o.Debits(t); n != 1 {
		t.Errorf("%d debits, expected 1", n)
	}
}

// TestARehearsalOfASparseRelease has made-up rows: no cell is large, and what is published is false cells or none.
func TestARehearsalOfASparseRelease(t *testing.T) {
	m := releasetest.FlowMoney[0]
	o := releasetest.Flows(t, m.Money, m.Policy, m.Above)
	opt := optionsOf(o, "rehearsal")
	rehearsed, err := Rehearse(t.Context(), o.Plan, 1000, opt)
	if err != nil {
		t.Fatal(err)
	}
	if rows := releasetest.Figures(t, rehearsed, "od", "from"); len(rows) > 20 {
		t.Errorf("%d cells of a thousand rows in 10⁹ are above %s", len(rows), m.Above)
	}
}
