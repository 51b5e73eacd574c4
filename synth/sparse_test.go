package synth

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

const sparseText = `version: 1
release: r
privacy: {protects: trip, neighbours: add-remove}
budget: {epsilon: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {from: {type: integer, range: [0, 999], levels: {ten: {width: 10}}}, tens: {derived_from: from.ten}, to: {type: integer, range: [0, 999]}}}}
impossible: [{where: {from: 3, to: [4, 5]}, rows: drop}]
marginals: {od: {by: [to, from], cells: {above: 20}}, tens: {by: [tens, to], cells: {above: 20}}}
`

// TestSparseTablesHaveTheirCells compares the rows of sparse tables, one of them by a derived column, with the cells
// that they represent.
func TestSparseTablesHaveTheirCells(t *testing.T) {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: sparseText})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	sealed := func(cells ...uint64) *measured.Sealed {
		s := &measured.Sealed{Plan: compiled.Of(p.Plan())}
		for _, m := range p.Measurements {
			b := array.NewInt64Builder(memory.DefaultAllocator)
			for i := range cells {
				b.Append(30 + int64(i))
			}
			s.Measured = append(s.Measured, measured.Measured{Measurement: m, Values: b.NewInt64Array(), Cells: cells})
		}
		return s
	}
	tables, err := Estimate(sealed(2, 4001, 99_999))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][3][2]string{{{"0", "2"}, {"4", "1"}, {"99", "999"}},
		{{"0–9", "2"}, {"40–49", "1"}, {"990–999", "999"}}} {
		table := tables[i]
		if table.Cells != 3 || table.Statistics[0].Published.Len() != 3 || !table.Statistics[0].Whole {
			t.Fatalf("table %s has %d cells", table.Path, table.Cells)
		}
		for row, codes := range want {
			if got := [2]string{table.Category(row, 0).Code, table.Category(row, 1).Code}; got != codes {
				t.Errorf("table %s, row %d is %v, expected %v", table.Path, row, got, codes)
			}
		}
	}
	if _, err := Estimate(sealed(5003)); err == nil { // to 5 from 3
		t.Error("an impossible cell is published")
	}
	reader, err := NewReader(p)
	if err != nil {
		t.Fatal(err)
	}
	answer := sealed(2, 4001).Measured[0]
	for _, c := range []struct {
		cell              []int
		at                int
		above, impossible bool
	}{{[]int{0, 2}, 0, true, false}, {[]int{4, 1}, 1, true, false}, {[]int{4, 2}, 2, false, false},
		{[]int{4, 3}, 2, false, true}} {
		at, above, impossible, err := reader.Cell(answer, c.cell)
		if err != nil || above != c.above || impossible != c.impossible || above && at != c.at {
			t.Errorf("cell %v: %d, %t, %t, %v", c.cell, at, above, impossible, err)
		}
	}
}
