package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/synth"
)

// fitText is a spec with classes of precision before its privacy.
func fitText(text, classes string) string {
	return strings.Replace(text, "privacy:", "fit: "+classes+"\nprivacy:", 1)
}

// TestCellsAreSortedByFitness uses discrete Laplace noise of scale 15/4. Its variance is 2q/(1−q)² with q = e^(−4/15),
// 27.96, so its standard error is 5.287: a twentieth of 105.7, a fifth of 26.4.
func TestCellsAreSortedByFitness(t *testing.T) {
	p := planned(fitText(oneTable("{epsilon: 4/15}"), "{precise: 5%, usable: 20%, unreliable: rest}"))
	in := maker.Input{Plan: compiled.Of(p),
		Tables:  published(p, map[string][]int64{"status": {105, 106, 27, 26, 0, -200}}),
		Receipt: receiptFor(p, report.Official), Software: "dprelease 0.1.0"}
	r := reportOf(t, in)
	want := []report.FitClass{
		{Name: "precise", AtMost: "1/20", From: 106, Cells: 1, Share: 1.0 / 6},
		{Name: "usable", AtMost: "1/5", From: 27, Cells: 2, Share: 1.0 / 3},
		{Name: "unreliable", Cells: 3, Share: 0.5},
	}
	if diff := cmp.Diff(want, r.Tables[0].Statistics[0].Fit); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	page := string(page.Markdown(r))
	for _, said := range []string{
		"“precise” is at most 5%, “usable” is at most 20%, and “unreliable” is the rest",
		"| table | figure | precise: at most 5% | usable: at most 20% | unreliable: more | from which count on |",
		"Do not use the table status cell by cell: the noise is large compared with an average cell, and 2 of its 6 " +
			"cells could be zero.",
		"| status | count | 1 (16.7%) | 2 (33.3%) | 3 (50%) | precise from 106 on and usable from 27 on |",
	} {
		if !strings.Contains(page, said) {
			t.Errorf("the report does not say %q", said)
		}
	}
}

// TestFitSparesWhatWasNotMeasured checks that an impossible cell is in no class.
func TestFitSparesWhatWasNotMeasured(t *testing.T) {
	p := planned(fitText(impossibleText, "{precise: 5%}"))
	r := reportOf(t, maker.Input{Plan: compiled.Of(p),
		Tables:  published(p, map[string][]int64{"pairs": {2, 400, 300, 700, 0, 1}}),
		Receipt: receiptFor(p, report.Official), Software: "dprelease 0.1.0"})
	seen := false
	for _, table := range r.Tables {
		seen = seen || table.Impossible > 0
		var cells int64
		for _, c := range table.Statistics[0].Fit {
			cells += c.Cells
		}
		if cells != table.Cells-table.Impossible {
			t.Errorf("%s: %d cells are in a class, of %d of which %d are impossible", table.Path, cells, table.Cells,
				table.Impossible)
		}
	}
	if !seen {
		t.Error("no cell is impossible")
	}
}

// TestFiguresAreSortedByFitness checks that figures that can be below zero are sorted by their absolute value, and
// others as noise if they are below zero.
func TestFiguresAreSortedByFitness(t *testing.T) {
	in := figuresOf(report.Official, fitText(figuresText(""), "{precise: 5%, usable: 20%}"))
	classes := func(name string, values, errors []float64, flags ...synth.Flag) []int64 {
		t.Helper()
		numbers := in.Tables[0].Numbers
		i := slices.IndexFunc(numbers, func(n synth.Number) bool { return n.Name == name })
		numbers[i].FigureColumns = synth.FigureColumns{Value: floats(values...), Estimate: floats(values...),
			Error: floats(errors...), Low: floats(values...), High: floats(values...), Flags: flags}
		if flags[1] == synth.Withheld {
			numbers[i].Value, numbers[i].Estimate, numbers[i].Error = withNull(values[0]), withNull(values[0]),
				withNull(errors[0])
			numbers[i].Low, numbers[i].High = withNull(values[0]), withNull(values[0])
		}
		for _, f := range reportOf(t, in).Tables[0].Figures {
			if f.Name == name {
				return []int64{f.Fit[0].Cells, f.Fit[1].Cells, f.Fit[2].Cells}
			}
		}
		t.Fatalf("there is no %s", name)
		return nil
	}
	for _, c := range []struct {
		what, name     string
		values, errors []float64
		flag           synth.Flag
		want           []int64
	}{
		{"profits and losses", "pay_sum", []float64{-1000, 1000}, []float64{50, 51}, synth.Plain, []int64{1, 1, 0}},
		{"nothing", "pay_sum", []float64{0, -200}, []float64{0, 41}, synth.Plain, []int64{0, 0, 2}},
		{"values that there are", "hours_distinct", []float64{-1000, 1000}, []float64{50, 200}, synth.Plain,
			[]int64{0, 1, 1}},
		{"withheld", "pay_mean", []float64{100, 0}, []float64{5, 0}, synth.Withheld, []int64{1, 0, 0}},
	} {
		if diff := cmp.Diff(c.want, classes(c.name, c.values, c.errors, synth.Plain, c.flag)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
	for _, f := range reportOf(t, in).Tables[0].Figures {
		if f.Kind == "quantiles" && f.Fit != nil {
			t.Errorf("%s has no standard error and is sorted", f.Name)
		}
	}
}

// withNull is a column of one figure and of one that is withheld.
func withNull(v float64) *array.Float64 {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.Append(v)
	b.AppendNull()
	return b.NewFloat64Array()
}

// TestFitIsAbsentWithoutAWord checks that there are no classes without a definition in the spec.
func TestFitIsAbsentWithoutAWord(t *testing.T) {
	r := reports()["one table"]
	if r.Tables[0].Statistics[0].Fit != nil || (page.View{Report: r}).FitText() != "" || r.FitRows() != nil ||
		r.FitColumns() != nil {
		t.Error("cells are sorted into classes that the spec does not have")
	}
}
