package report

import (
	"strings"
	"testing"
)

func TestTablesNotToBeUsedCellByCell(t *testing.T) {
	table := func(path string, share float64) Table {
		return Table{Path: path, Cells: 100, Statistics: []Statistic{{NoiseShare: share, NoiseCells: int64(100 * share)}}}
	}
	r := &Report{Tables: []Table{table("fine", .04), table("half", .5), table("near", .49)}}
	for i, want := range []string{useCells, doNotUse, addUpFirst} {
		if got := r.Tables[i].verdict(r.Tables[i].Statistics[0]); got != want {
			t.Errorf("%s: %s, want %s", r.Tables[i].Path, got, want)
		}
	}
	if s, want := singleUse(r), "103 of 300 are in half (50 of 100), near (49 of 100) and fine (4 of 100)."; !strings.Contains(s, want) || !strings.Contains(s, "Do not use half cell by cell at all.") {
		t.Error(s)
	}
	for _, name := range []string{"a", "b", "c"} {
		r.Tables = append(r.Tables, table(name, .8))
	}
	if s := singleUse(r); !strings.Contains(s, "Worst: a (80 of 100), b (80 of 100) and c (80 of 100); and 3 more: see the column “could be zero”") || !strings.Contains(s, "Do not use 4 tables cell by cell at all: see the column “verdict”.") {
		t.Error(s)
	}
	fit := &Report{Tables: []Table{{Path: "unfit", Cells: 10, Statistics: []Statistic{{Fit: []FitClass{{Share: .2}, {Share: .8}}}}}}}
	if s := singleUse(fit); s != "To use cell by cell: unfit. See the column “verdict”." {
		t.Error(s)
	}
	if s := singleUse(&Report{Tables: []Table{table("fine", 0)}}); s != "" {
		t.Error(s)
	}
}
