package report_test

// This file tests series and their charts: what is drawn, that it was published, and what is too large to draw.

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/synth"
)

// seriesOf returns the series of a report's tables by path.
func seriesOf(r *report.Report) map[string][]report.Series {
	all := map[string][]report.Series{}
	for _, t := range r.Tables {
		if t.Series != nil {
			all[t.Path] = t.Series
		}
	}
	return all
}

func TestSeriesAreThePublishedCells(t *testing.T) {
	in := input(report.Official, nil)
	all := seriesOf(reportOf(t, in))
	if len(all) != 4 {
		t.Fatalf("%d tables have series, want all 4", len(all))
	}
	for _, table := range in.Tables {
		s := all[table.Path][0]
		count := table.Statistics[0]
		if len(s.Points) != table.Cells {
			t.Fatalf("%s: %d points of %d cells", table.Path, len(s.Points), table.Cells)
		}
		for i, p := range s.Points {
			if *p.Value != float64(count.Published.Value(i)) || *p.Low != count.Low.Value(i) ||
				*p.High != count.High.Value(i) {
				t.Errorf("%s: point %d is %v (%v to %v)", table.Path, i, *p.Value, *p.Low, *p.High)
			}
		}
	}
	s := all["status"][0]
	if got := fmt.Sprint(s.Of, s.Labels, s.Columns,
		s.Ordered); got != "[sex status] [female male] [employed unemployed inactive] 0" {
		t.Errorf("the table of two attributes is labelled %s", got)
	}
	s = all["pairs/status"][0]
	if got := fmt.Sprint(s.Of, s.Labels, s.Columns, s.Ordered); got != "[status] [employed unemployed inactive] [] 0" {
		t.Errorf("the table of one attribute is labelled %s", got)
	}
}

func TestSeriesOfNumbersAreOrdered(t *testing.T) {
	r := reportOf(t, specInput(report.Official,
		head("{epsilon: 1}",
			"age: {type: integer, range: [0, 60], levels: {ten: {width: 10}}, null: {as: not told}}, code: {type: "+
				"integer, values: [3, 1, 2]}",
			"ages: {by: [age]}, tens: {by: [age.ten]}, codes: {by: [code]}")))
	all := seriesOf(r)
	for path, want := range map[string]int{"ages": 61, "tens": 7} {
		s := all[path][0]
		if s.Ordered != want || len(s.Labels) != want+1 || s.Labels[want] != "not told" {
			t.Errorf("%s: %d of %d labels are in order, want all but the last of %d", path, s.Ordered, len(s.Labels),
				want+1)
		}
	}
	page := pageOf(t, r)
	if n := strings.Count(page, `<path class="line"`); n != 1 {
		t.Errorf("%d lines, want one along 61 ages", n)
	}
	if !strings.Contains(page, "not told, not on the line: ") {
		t.Error("the category behind the numbers is not told of")
	}
}

// TestListedCodesAreNoNumbers checks that a line joins neighbours of a range, and never codes that a spec lists, even
// whole numbers.
func TestListedCodesAreNoNumbers(t *testing.T) {
	var codes []string
	for i := range 30 {
		codes = append(codes, strconv.Itoa(101+i))
	}
	r := reportOf(t, specInput(report.Official, head("{epsilon: 1}", "trade: {type: integer, values: ["+
		strings.Join(codes, ", ")+"]}, age: {type: integer, range: [0, 60]}",
		"trades: {by: [trade]}, ages: {by: [age]}")))
	all := seriesOf(r)
	if n, m := all["trades"][0].Ordered, all["ages"][0].Ordered; n != 0 || m != 61 {
		t.Errorf("%d of 30 codes and %d of 61 ages are in order, want none and all", n, m)
	}
	if n := strings.Count(pageOf(t, r), `<path class="line"`); n != 1 {
		t.Errorf("%d lines, want one along the ages", n)
	}
}

// TestChosenCellsAreDrawnFromTheLargestCountOn checks that cells are published in the order of selection, and drawn by
// descending count.
func TestChosenCellsAreDrawnFromTheLargestCountOn(t *testing.T) {
	p := planned(head("{epsilon: 1}", "place: {values: [a, b, c, d, e, f]}",
		"busy: {by: [place], top: 3, stats: [count]}"))
	s := &measured.Sealed{Plan: compiled.Of(p)}
	for _, m := range p.Measurements {
		s.Measured = append(s.Measured, measured.Measured{Measurement: m, Values: integers([]int64{500, 900, 700}),
			Cells: []uint64{4, 1, 3}})
	}
	tables, err := synth.Estimate(s)
	if err != nil {
		t.Fatal(err)
	}
	r := reportOf(t, maker.Input{Plan: compiled.Of(p), Tables: tables, Receipt: receiptFor(p, report.Official),
		Software: "dprelease 0.1.0"})
	drawn := r.Tables[0].Series[0]
	if got := fmt.Sprint(drawn.Labels, *drawn.Points[0].Value, *drawn.Points[1].Value,
		*drawn.Points[2].Value); got != "[b d e] 900 700 500" {
		t.Errorf("drawn are %s", got)
	}
}

// TestChartsSayWhyAFigureIsNotPublished checks a ratio for which the noise leaves every value open, in a table that
// withholds none: the chart says so.
func TestChartsSayWhyAFigureIsNotPublished(t *testing.T) {
	page := pageOf(t, reports()["figures"])
	ratio := between(t, page, ">Sum of pay over sum of hours", "</figure>")
	if !strings.Contains(ratio, "unbounded") || strings.Contains(ratio, "withheld") {
		t.Errorf("the chart of the ratio does not say that it is unbounded:\n%s", ratio)
	}
}

func TestSeriesOfFiguresTellWhatIsWithheld(t *testing.T) {
	withheld, open, whole := 0, 0, 0
	for _, all := range seriesOf(reports()["figures"]) {
		for _, s := range all[1:] {
			for _, p := range s.Points {
				switch {
				case p.Flag == synth.Withheld && p.Value == nil && p.Low == nil && p.High == nil:
					withheld++
				case p.Flag == synth.Unbounded && p.Value == nil && p.Low == nil && p.High == nil:
					open++
				case p.Flag == "" && p.Value != nil && p.Low != nil && p.High != nil:
					whole++
				default:
					t.Errorf("%s: %+v", s.Figure, p)
				}
			}
		}
	}
	if withheld == 0 || open == 0 || whole == 0 {
		t.Errorf("%d points withheld, %d unbounded, %d whole: the fixture has some of each", withheld, open, whole)
	}
}

func TestLargeTablesHaveNoSeries(t *testing.T) {
	values := func(n int) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("v%d", i))
		}
		return "{values: [" + strings.Join(names, ", ") + "]}"
	}
	r := reportOf(t, specInput(report.Official, head("{epsilon: 1}",
		"many: "+values(49)+", some: "+values(48)+", rows: "+values(40)+", more: "+values(41)+", columns: "+values(24)+
			", few: "+values(2)+", year: {type: integer, range: [0, 399]}, day: {type: integer, range: [0, 400]}",
		"many: {by: [many]}, some: {by: [some]}, grid: {by: [rows, columns]}, tall: {by: [more, columns]}, three: "+
			"{by: [few, columns, some]}, years: {by: [year]}, days: {by: [day]}")))
	var got []string
	for path := range seriesOf(r) {
		got = append(got, path)
	}
	slices.Sort(got)
	if want := "[grid some years]"; fmt.Sprint(got) != want {
		t.Errorf("series of %v, want %s", got, want)
	}
	const undrawn = "are not drawn, because they are too large or there are too many charts: <code>dprelease show"
	if page := pageOf(t, r); !strings.Contains(page, undrawn) {
		t.Error("the page does not say which tables are not drawn")
	}
}

func TestSeriesOfManyTablesAreFew(t *testing.T) {
	r := reports()["many tables"]
	charts, points := 0, 0
	for _, all := range seriesOf(r) {
		for _, s := range all {
			charts, points = charts+1, points+len(s.Points)
		}
	}
	if charts != 24 || points > 2400 {
		t.Errorf("%d charts of %d points for 210 tables", charts, points)
	}
}

// TestChartsKeepToTheirFrame reads every position in the charts of every page: shares of the width are between 0 and
// 100 %, and positions of a path within its box.
func TestChartsKeepToTheirFrame(t *testing.T) {
	for name, r := range reports() {
		page := pageOf(t, r)
		for _, m := range regexp.MustCompile(` (?:x|x1|x2|cx|width|y1|y2)="(-?[0-9.]+|[^"]*(?:NaN|Inf)[^"]*)%?"`).
			FindAllStringSubmatch(page, -1) {
			if v, err := strconv.ParseFloat(m[1], 64); err != nil || v < -12 || strings.HasSuffix(m[0], `%"`) &&
				v > 100.01 {
				t.Fatalf("%s: a place at%s", name, m[0])
			}
		}
		for _, m := range regexp.MustCompile(`<path class="(?:line|band)" d="([^"]*)"`).FindAllStringSubmatch(page,
			-1) {
			for _, number := range regexp.MustCompile(`-?[0-9]+`).FindAllString(m[1], -1) {
				if v, _ := strconv.Atoi(number); v < 0 || v > 1000 {
					t.Fatalf("%s: a path through %s", name, number)
				}
			}
		}
	}
}

// TestStripsShowWhereTheFigureIs computes by hand where dots must be, on a scale from 0 to 20 000.
func TestStripsShowWhereTheFigureIs(t *testing.T) {
	page := pageOf(t, reportOf(t,
		specInput(report.Official, head("{epsilon: 1}", "work: {values: [a, b, c, d, e, f]}", "status: {by: [work]}"))))
	for _, want := range []string{ // 18 204, 19 950 and 1004
		`cx="91.02%"`, `cx="99.75%"`, `cx="5.02%"`, `x="50.00%" y="12" text-anchor="middle">10 000</text>`,
		`<td class="n">18 204</td>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the chart lacks %s", want)
		}
	}
}

// TestHeatMapsShadeByTheFigure computes by hand the shade of each cell: breaks are at 400, 600, 800 and 1000, and a
// cell that could be zero, including one shown as 0 instead of −500, is hatched.
func TestHeatMapsShadeByTheFigure(t *testing.T) {
	page := pageOf(t, reportOf(t, noisyInput([]int64{-500, 250, 500, 750, 1000, 1000})))
	var shades []string
	for _, m := range regexp.MustCompile(`<td class="n (?:on[1-6] )?(shade[1-6]|hatched)">`).
		FindAllStringSubmatch(page, -1) {
		shades = append(shades, m[1])
	}
	if got := strings.Join(shades, " "); got != "hatched shade1 shade2 shade4 shade6 shade6" {
		t.Errorf("cells are %s", got)
	}
}

// TestFitBarsFillTheirWidth checks that classes are placed side by side without gaps.
func TestFitBarsFillTheirWidth(t *testing.T) {
	for name, r := range reports() {
		page := elements(t, pageOf(t, r))
		for _, svg := range page.all("svg") {
			if svg.class != "strip" {
				continue
			}
			end := 0.0
			for _, rect := range svg.all("rect") {
				if !strings.HasPrefix(rect.class, "shade") {
					continue
				}
				from, _ := strconv.ParseFloat(strings.TrimSuffix(rect.attributes("x"), "%"), 64)
				width, _ := strconv.ParseFloat(strings.TrimSuffix(rect.attributes("width"), "%"), 64)
				if from < end-0.02 || from > end+0.02 || from+width > 100.02 {
					t.Errorf("%s: a part from %v of width %v after one that ends at %v", name, from, width, end)
				}
				end = from + width
			}
		}
	}
}
