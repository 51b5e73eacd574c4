package notes

import (
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/report"
)

func TestTablesNotToBeUsedCellByCell(t *testing.T) {
	table := func(path string, share float64) report.Table {
		return report.Table{Path: path, Cells: 100,
			Statistics: []report.Statistic{{NoiseShare: share, NoiseCells: int64(100 * share)}}}
	}
	r := &report.Report{Tables: []report.Table{table("fine", .04), table("half", .5), table("near", .49)}}
	for i, want := range []usefulness.Verdict{usefulness.UseCells, usefulness.DoNotUse, usefulness.AddUpFirst} {
		if got := r.Tables[i].Verdict(r.Tables[i].Statistics[0]); got != want {
			t.Errorf("%s: %s, want %s", r.Tables[i].Path, got, want)
		}
	}
	said := func(r *report.Report) string { return tableWarning(r) + " | " + cellWarning(r) }
	for _, c := range []struct {
		of   *report.Report
		want string
	}{
		{r,
			"Do not use the table half cell by cell: the noise is large compared with an average cell, and 50 of its " +
				"100 cells could be zero. One more is good only after adding up cells: near. | Do not use a cell on " +
				"its own if its interval reaches zero, as it could be zero: 103 of 300 cells, in half (50 of 100), " +
				"near (49 of 100) and fine (4 of 100). The list “Cells that could be zero” says how to find them."},
		{&report.Report{Tables: append(r.Tables, table("a", .8), table("b", .8), table("c", .8))},
			"Do not use 4 tables cell by cell: the noise is large compared with an average cell of each. The column " +
				"“verdict” says which. One more is good only after adding up cells: near. | " +
				"Do not use a cell on its own if its interval reaches zero, as it could be zero: 343 of 600 cells in " +
				"6 tables, the largest shares in a (80 of 100), b (80 of 100) and c (80 of 100). The list “Cells " +
				"that could be zero” says how to find them."},
		{&report.Report{Tables: []report.Table{{Path: "unfit", Cells: 10,
			Statistics: []report.Statistic{{Fit: []report.FitClass{{Share: .2}, {Name: "poor", Share: .8}}}}}}},
			"Do not use the table unfit cell by cell: the noise is large compared with an average cell, and 0 of its " +
				"10 cells could be zero. | "},
		{&report.Report{Tables: []report.Table{table("fine", 0)}}, " | "},
		{&report.Report{Tables: []report.Table{table("half", .5), table("a", .2), table("b", .2)}},
			"Do not use the table half cell by cell: the noise is large compared with an average cell, and 50 of its " +
				"100 cells could be zero. 2 more are good only after adding up cells: a and b. | " +
				"Do not use a cell on its own if its interval reaches zero, as it could be zero: 90 of 300 cells, in " +
				"half (50 of 100), a (20 of 100) and b (20 of 100). The list “Cells that could be zero” says how to find them."},
		{&report.Report{Tables: []report.Table{table("half", .5), table("a", .2), table("b", .2), table("c", .2),
			table("d", .2), table("e", .2)}},
			"Do not use the table half cell by cell: the noise is large compared with an average cell, and 50 of its " +
				"100 cells could be zero. 5 more are good only after adding up cells, as the column “verdict” says. | " +
				"Do not use a cell on its own if its interval reaches zero, as it could be zero: 150 of 600 cells in " +
				"6 tables, such as half (50 of 100), a (20 of 100) and b (20 of 100). The list “Cells that could be " +
				"zero” says how to find them."},
	} {
		if got := said(c.of); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// Counts taken from the microdata add up with them, and are distinguished from measured ones.
func TestWhatMicrodataAddUpTo(t *testing.T) {
	table := func(path, way string) report.Table {
		s := report.Statistic{Name: "count"}
		if way != "" {
			s.Fitted = &report.Fitted{Way: way}
		}
		return report.Table{Path: path, Statistics: []report.Statistic{s}}
	}
	for want, tables := range map[string][]report.Table{
		"microdata do not add up to the tables": {table("a", ""), table("b", plan.Fitted)},
		"count_unbiased has what was measured, while the published count of a, b is counted in the microdata": {table(
			"a",
			plan.Tabulated), table("b", plan.Tabulated)},
		"count_unbiased has what was measured, while the published count of a is counted in the microdata; microdata " +
			"do not add up to other tables": {table("a",
			plan.Tabulated), table("b", "")},
	} {
		if got := microdataSums(&report.Report{Tables: tables}); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
