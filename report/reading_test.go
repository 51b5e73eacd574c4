package report

import "testing"

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
	said := func(r *Report) string { return tableUse(r) + " | " + cellUse(r) }
	for _, c := range []struct {
		of   *Report
		want string
	}{
		{r, "To use cell by cell: half, of which half of the cells or more could be zero. | To use by itself a cell that could be zero, as its interval reaches zero: 103 of 300, in half (50 of 100), near (49 of 100) and fine (4 of 100). “Cells that could be zero” says how to find them."},
		{&Report{Tables: append(r.Tables, table("a", .8), table("b", .8), table("c", .8))}, "To use cell by cell: 4 tables, of each of which half of the cells or more could be zero. The column “verdict” says which. | " +
			"To use by itself a cell that could be zero, as its interval reaches zero: 343 of 600, in 6 tables, worst in a (80 of 100), b (80 of 100) and c (80 of 100). “Cells that could be zero” says how to find them."},
		{&Report{Tables: []Table{{Path: "unfit", Cells: 10, Statistics: []Statistic{{Fit: []FitClass{{Share: .2}, {Name: "poor", Share: .8}}}}}}}, "To use cell by cell: unfit, of which half of the cells or more could be zero or are “poor”. | "},
		{&Report{Tables: []Table{table("fine", 0)}}, " | "},
	} {
		if got := said(c.of); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
