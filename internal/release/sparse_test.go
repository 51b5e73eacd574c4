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

// flowSpec has a table of 10⁹ cells. Under this budget the noise of a cell has a scale of 2.
const flowSpec = `version: 1
release: trips
privacy: {protects: trip, neighbours: add-remove, account: trips}
budget: {MONEY, split: {od: 1/2, rest: 1/2}}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      from: {type: integer, range: [1, 31622], levels: {half: {edges: [1, 15000, 31622]}}}
      to: {type: integer, range: [1, 31622]}
      hour: {type: integer, range: [0, 23]}
impossible:
  - {where: {from: 9, to: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}, rows: drop}
marginals:
  od: {by: [from, to], budget: od, cells: {above: ABOVE}}
  hours: {by: [hour], budget: rest}
`

// flowMoney are the three kinds of budget, each with the threshold above which about one false cell in ten releases is.
var flowMoney = []struct{ money, policy, above string }{
	{"epsilon: 1", "cap: {epsilon: 5}", "50"},
	{"rho: 1/4", "cap: {rho: 5, delta: 1e-9}", "14"},
	{"epsilon: 1, delta: 1e-9", "cap: {rho: 5, delta: 1e-6}", "60"},
}

// largeFlows are cells that have many rows; every other row is a cell of its own.
var largeFlows = map[[2]int]int{{1, 1}: 200, {7, 31622}: 300, {31622, 31622}: 250, {31622, 1}: 400}

// singleFlows is how many cells have one row.
const singleFlows = 3000

// flows is an office with those rows, and a row that cannot be.
func flows(t *testing.T, money, policy, above string) office {
	t.Helper()
	rows := &strings.Builder{}
	rows.WriteString("from,to,hour\n9,3,12\n")
	for i := range singleFlows {
		fmt.Fprintf(rows, "%d,%d,%d\n", 2+i*9, 31000-i*7, i%24)
	}
	for cell, n := range largeFlows {
		for i := range n {
			fmt.Fprintf(rows, "%d,%d,%d\n", cell[0], cell[1], i%24)
		}
	}
	spec := strings.NewReplacer("MONEY", money, "ABOVE", above).Replace(flowSpec)
	return officeWith(t, spec, "account: trips\nprotects: trip\nneighbours: add-remove\n"+policy+"\n", rows.String())
}

// TestASparseReleaseOfManyCells goes all the way, under all kinds of budget: what is above the threshold is published with the
// columns of any table, all else is told as being below, and everything that reads a release reads it.
func TestASparseReleaseOfManyCells(t *testing.T) {
	for _, m := range flowMoney {
		t.Run(m.money, func(t *testing.T) {
			o := flows(t, m.money, m.policy, m.above)
			opt, place := o.run(t)
			verified, err := Verify(t.Context(), place, VerifyOptions{})
			if err != nil {
				t.Fatalf("%v\n%+v", err, verified)
			}
			o.checkFlows(t, place)
			o.checkAsked(t, place)
			opt.Out = filepath.Join(o.dir, "private")
			if err := evaluateTo(t.Context(), o.plan, place, opt); err != nil {
				t.Fatal(err)
			}
			o.checkTruth(t, readEvaluation(t, opt.Out), place)
		})
	}
}

// checkFlows holds the published table against the rows: every large cell is there, with a figure within twelve scales of its
// rows (an honest release fails once in 10⁴), and what else is there is above the threshold, in domain order.
func (o office) checkFlows(t *testing.T, place string) {
	t.Helper()
	planned := o.plan.Tables[0]
	scale := planned.Statistics[0].StandardError
	found, last := 0, -1
	for _, row := range figuresOf(t, place, "od", "from", "to", "count", "count_unbiased", "count_low", "count_high") {
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
		if n, large := largeFlows[[2]int{v[0], v[1]}]; large {
			found++
			if math.Abs(float64(v[3]-n)) > 12*scale {
				t.Errorf("row %v has %d rows, and noise of %g", row, n, scale)
			}
		}
		if v[0] == 9 && v[1] <= 11 {
			t.Errorf("row %v is impossible", row)
		}
	}
	if found != len(largeFlows) {
		t.Errorf("%d of %d large cells are published", found, len(largeFlows))
	}
	for _, file := range []string{"report.json", "report.html", "report.md", "README.txt"} {
		b, err := os.ReadFile(filepath.Join(place, file))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if !strings.Contains(text, "is not an empty one") && !strings.Contains(strings.Join(strings.Fields(text), " "), "is not an empty one") {
			t.Errorf("%s does not say what a cell is that is not there", file)
		}
	}
}

// checkAsked asks for cells that are published, that are not, and that cannot be.
func (o office) checkAsked(t *testing.T, place string) {
	t.Helper()
	s := o.plan.Tables[0].Sparse
	a, err := Query(t.Context(), place, Question{By: []string{"to"}, Where: []string{"from=9", "to=5,31622"}})
	if err != nil {
		t.Fatal(err)
	}
	impossible, absent := a.Rows[0], a.Rows[1]
	if impossible.Law != ExactLaw || impossible.High != 0 || impossible.NotAbove != nil {
		t.Errorf("an impossible cell: %+v", impossible)
	}
	if n := absent.NotAbove; n == nil || n.Threshold != s.Above || n.Bound != s.Bound || absent.Law != ThresholdLaw || absent.Low != 0 || absent.High != float64(s.Bound) || absent.Attained < 0.95 {
		t.Errorf("a cell that is not published: %+v", absent)
	}
	if a, err = Query(t.Context(), place, Question{Where: []string{"from=7", "to=31622"}}); err != nil || a.Rows[0].NotAbove != nil || math.Abs(a.Rows[0].Unbiased-300) > 150 || a.Table != "od" {
		t.Errorf("a large cell: %+v, %v", a, err)
	}
	if _, err = Query(t.Context(), place, Question{Where: []string{"from=7"}}); err == nil || !strings.Contains(err.Error(), "nothing can be added up") {
		t.Errorf("a sum of cells of a sparse table: %v", err)
	}
	if a, err = Query(t.Context(), place, Question{Where: []string{"hour=0..11"}}); err != nil || a.Table != "hours" {
		t.Errorf("a question to the other table: %+v, %v", a, err)
	}
	for cell, n := range map[string]int{"from=31622,to=1": 400, "from=5,to=5": 0} {
		trace, err := TraceCell(t.Context(), place, "od", []string{cell})
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
		if published := n > 0; published != (trace.NotAbove == nil) || published != strings.Contains(string(document), `"unbiased"`) || published == strings.Contains(text.String(), "not above") {
			t.Errorf("cell %s:\n%s\n%s", cell, text.String(), document)
		}
	}
	var text, table bytes.Buffer
	if a, err = Query(t.Context(), place, Question{By: []string{"to"}, Where: []string{"from=31622", "to=1..4"}}); err == nil {
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
func (o office) checkTruth(t *testing.T, v evaluation, place string) {
	t.Helper()
	rows := figuresOf(t, place, "od", "from", "to", "count")
	truth, missed, falsely, l1 := 0, singleFlows+len(largeFlows), 0, 0.0
	for _, n := range largeFlows {
		truth += n
	}
	truth += singleFlows
	left := truth
	for _, row := range rows {
		var v [3]int
		for i, text := range row {
			v[i], _ = strconv.Atoi(text)
		}
		n := largeFlows[[2]int{v[0], v[1]}]
		if i := (v[0] - 2) / 9; n == 0 && v[0] >= 2 && (v[0]-2)%9 == 0 && i < singleFlows && v[1] == 31000-i*7 {
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
	want := sparseTruth{o.plan.Tables[0].Sparse.Above, int64(len(rows)), int64(falsely), o.plan.Tables[0].Sparse.FalseCells, singleFlows + int64(len(largeFlows)), int64(missed)}
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

// TestASparseReleaseResumes crashes behind the debit: the next run has the same cells and the same noise. A cell elsewhere is
// another draw, and refused.
func TestASparseReleaseResumes(t *testing.T) {
	m := flowMoney[1]
	o := flows(t, m.money, m.policy, m.above)
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
	s, err := measured.Open(MeasuredFolder(opt.Out, "trips"))
	if err != nil {
		t.Fatal(err)
	}
	od := s.Measured[slices.IndexFunc(s.Measured, func(m measured.Measured) bool { return m.Measurement.ID == "od" })]
	if !slices.Equal(od.Values.Int64Values(), drawn["od"]) || len(od.Cells) != len(drawn["od"]) || len(od.Cells) < len(largeFlows) {
		t.Errorf("resumed to other cells or noise: %v, %v", od, drawn["od"])
	}
	if n := o.debits(t); n != 1 {
		t.Errorf("%d debits, expected 1", n)
	}
}

// TestARehearsalOfASparseRelease has made-up rows: no cell is large, and what is published is false cells or none.
func TestARehearsalOfASparseRelease(t *testing.T) {
	m := flowMoney[0]
	o := flows(t, m.money, m.policy, m.above)
	opt := o.options("rehearsal")
	rehearsed, err := Rehearse(t.Context(), o.plan, 1000, opt)
	if err != nil {
		t.Fatal(err)
	}
	if rows := figuresOf(t, rehearsed, "od", "from"); len(rows) > 20 {
		t.Errorf("%d cells of a thousand rows in 10⁹ are above %s", len(rows), m.above)
	}
}

// TestDiffTellsAnotherThreshold compares two plans, and refuses to compare cells.
func TestDiffTellsAnotherThreshold(t *testing.T) {
	m := flowMoney[0]
	before, after := flows(t, m.money, m.policy, "50"), flows(t, m.money, m.policy, "55")
	text := &strings.Builder{}
	if err := describe.Diff(before.plan.Plan, after.plan.Plan).Write(text); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"published above", "50", "55", "cells without a row that are expected to be published"} {
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
	c, declared := d.Releases.Tables[0], float64(before.plan.Tables[0].Cells)
	if c.Refused != "" || !c.Some || c.Compared == 0 || d.Releases.Tests < declared || d.Releases.Tests > declared+float64(d.Releases.Cells) {
		t.Errorf("cells above thresholds compare as %+v, among %g", c, d.Releases.Tests)
	}
	if n := (editions{t, ""}).flukes(a, b); n > 0 {
		t.Errorf("noise alone changed %d cells", n)
	}
}
