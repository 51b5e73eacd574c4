package report_test

// This file tests reports with figures other than counts, and with weighted counts.

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/synth"
)

// figuresText is a spec with a figure of every kind, with weights of the given kind.
func figuresText(weight string) string {
	return fmt.Sprintf(`version: 1
params: {quarter: {pattern: '20\d\dq[1-4]'}}
release: labour-${quarter}
about: {title: "Earnings, ${quarter}", population: employees, contact: statistics office}
privacy: {protects: person, neighbours: add-remove, account: lfs-panel}
budget: {rho: 1/2}
tables:
  jobs:
    source: {parquet: jobs.parquet}
    expect: {rows: [1000, 900000]}
    unit: {id: person_id, max_rows: 3}%s
    columns:
      sex:   {values: [female, male]}
      size:  {values: [small, large]}
      pay:   {type: decimal, step: 0.5, range: {by: size, small: [0, 5000], large: [-100, 20000]}}
      hours: {type: integer, range: [10, 60]}
marginals:
  pay:   {by: [sex], stats: [count, {sum: pay}, {mean: pay}, {median: pay}, {distinct: hours, per_unit: 2}], show: {when_count_at_least: 400}}
  size:  {by: [size], stats: [count, units, {variance: hours}, {deviation: hours}, {quantiles: hours, at: [2.5%%, 75%%]}, {median: pay, as: middle}], per_unit: {groups: 1, rows_per_group: 2}}
  ratio: {by: [sex], stats: [count, {ratio: {of: {sum: pay}, over: {sum: hours}}, as: hourly}, {ratio: {of: {size: small}, over: {size: [small, large]}}, as: small}]}
  heads: {by: [sex], stats: [units]}
`, weight)
}

// togetherText is a spec whose counts are reconstructed from what tables share, with other figures.
var togetherText = head("{rho: 1/2}",
	"sex: {values: [female, male]}, status: {values: [employed, unemployed, inactive]}, hours: {type: integer, "+
		"range: [0, 60]}",
	"pairs: {every: [0, 1, 2], by: [sex, status]}, hours: {by: [sex, status], stats: [count, {sum: hours}, {mean: hours}]}")

const (
	designWeight     = "\n    weight: {from: w, range: [0, 25], step: 0.5, kind: design}"
	calibratedWeight = "\n    weight: {from: w, range: [1, 40], step: 1, kind: calibrated}"
)

// figuresInput is a release of that spec, with counts that are large in one cell and zero in the next.
func figuresInput(status report.Status, weight string) maker.Input {
	return figuresOf(status, figuresText(weight))
}

// figuresOf is a release of a spec with figures.
func figuresOf(status report.Status, text string) maker.Input {
	p := planned(text)
	s := &measured.Sealed{Plan: compiled.Of(p)}
	for i, m := range p.Measurements {
		s.Measured = append(s.Measured, measured.Measured{Measurement: m, Values: integers(madeUp(p, m, int64(i)))})
	}
	tables, err := synth.Estimate(s)
	if err != nil {
		panic(err)
	}
	return maker.Input{Plan: compiled.Of(p), Tables: tables, Receipt: receiptFor(p, status),
		Software: "dprelease 0.1.0"}
}

// madeUp returns consistent answers: 40 000 rows in every cell but the last, which has none.
func madeUp(p *plan.Plan, m plan.Measurement, seed int64) []int64 {
	values := make([]int64, m.Cells)
	if q, ok := m.Query.Counted.(counted.Quantiles); ok {
		l := p.Release().Table(m.Query.Table).Column(q.Column).Lattice
		for i := range values {
			width := l.Last - l.First
			middle := l.First + width*int64(i/3%len(q.At)+1)/int64(len(q.At)+2)
			values[i] = middle + []int64{0, -width / 50, width / 50}[i%3]
			if i >= len(values)-3 {
				values[i] = []int64{middle, l.First, l.Last}[i%3]
			}
		}
		return values
	}
	if d, ok := m.Query.Counted.(counted.Bins); ok {
		l := p.Release().Table(m.Query.Table).Column(d.Column).Lattice
		bins := d.Len(l)
		column, axis, err := d.Strategy(l)
		if err != nil {
			panic(err)
		}
		values = values[:0]
		for cell := range m.Cells / bins {
			counts := make([]int64, bins)
			if cell < m.Cells/bins-1 {
				for i := range counts {
					counts[i] = 40000 / bins
				}
			}
			if column != nil {
				values = append(values, d.Total*bins*counts[0])
				if counts, err = residual.Exact([]*residual.Column{column}, residual.Set{axis}, nil,
					counts); err != nil {
					panic(err)
				}
			}
			values = append(values, counts...)
		}
		return values
	}
	for i := range values {
		values[i] = 40000 + seed
		if v, ok := m.Query.Counted.(counted.Values); ok && v.Power == 2 {
			reach := math.Sqrt(float64(m.Mechanism.L1.Int64()) / 75)
			values[i] = int64(20000 * reach * reach / 10)
		}
		if i == len(values)-1 {
			values[i] = -3
		}
	}
	return values
}

func TestEveryKindOfFigureIsTold(t *testing.T) {
	r := reports()["figures"]
	kinds := map[string]bool{}
	for _, table := range r.Tables {
		for _, f := range table.Figures {
			kinds[f.Kind] = true
			if f.What == "" || f.Unit == "" {
				t.Errorf("%s %s: %+v", table.Path, f.Name, f)
			}
			if f.Unbiased != slices.Contains([]string{"sum", "units", "distinct"}, f.Kind) {
				t.Errorf("%s %s: unbiased %v", table.Path, f.Name, f.Unbiased)
			}
			if f.Kind == "quantiles" && f.StandardError != nil {
				t.Errorf("%s %s has a standard error", table.Path, f.Name)
			}
		}
	}
	for _, kind := range []string{"units", "distinct", "sum", "mean", "variance", "deviation", "ratio", "quantiles"} {
		if !kinds[kind] {
			t.Errorf("no figure of kind %s", kind)
		}
	}
	page, text, readme := pageOf(t, r), string(page.Markdown(r)), string(page.Readme(r))
	for _, says := range []string{
		"mean of pay", "97.5%", "Withheld by the noisy count alone", "Some quantiles are drawn",
		"The other quantiles are read from noisy counts", "Counts of units do not add up",
		"cover the privacy noise only", "small 0 to 5000, large −100 to 20", "with at most 2 rows in each cell",
	} {
		if says != "97.5%" && (!strings.Contains(page, says) || !strings.Contains(text, says)) {
			t.Errorf("a page does not say %q", says)
		}
	}
	for _, says := range []string{"pay_mean", "hourly", "NAME_flag", "Withheld by the noisy count alone",
		"cover the privacy noise only"} {
		if !strings.Contains(strings.Join(strings.Fields(readme), " "), says) {
			t.Errorf("the readme does not say %q", says)
		}
	}
}

// The first table withholds the figures of its last cell, whose noisy count is below the threshold, and of no other.
func TestFiguresAreCounted(t *testing.T) {
	for _, f := range reports()["figures"].Tables[0].Figures {
		if f.Withheld != 1 {
			t.Errorf("%s: %d withheld", f.Name, f.Withheld)
		}
	}
}

func TestTypicalErrorsAreMedians(t *testing.T) {
	in := figuresInput(report.Official, "")
	r := reportOf(t, in)
	n, f := in.Tables[1].Numbers[1], r.Tables[1].Figures[1] // a variance in two cells
	if n.Name != f.Name || f.StandardError == nil || f.HalfWidth == nil {
		t.Fatalf("%s: %+v", n.Name, f)
	}
	least := math.Inf(1)
	for i := range n.Error.Len() {
		if n.Error.IsValid(i) {
			least = min(least, n.Error.Value(i))
		}
	}
	if *f.StandardError != least { // the nearest rank to a half of two values is the smaller
		t.Errorf("%v is not the median of %v", *f.StandardError, n.Error)
	}
}

// A report without weights does not mention them. With weights every page says that no error is a sampling error;
// calibrated weights are mentioned with the guarantee.
func TestWeightsAreTold(t *testing.T) {
	for weight, says := range map[string][3]bool{"": {}, designWeight: {true, true, false},
		calibratedWeight: {true, false, true}} {
		r := reportOf(t, figuresInput(report.Official, weight))
		for name, page := range map[string]string{"html": pageOf(t, r), "markdown": string(page.Markdown(r)),
			"json": string(r.JSON())} {
			for i, text := range []string{"cover the privacy noise only", "taken to be an attribute of the person",
				"what one weight reveals about another"} {
				if strings.Contains(page, text) != says[i] {
					t.Errorf("%q, %s: %q", weight, name, text)
				}
			}
			if weight != "" && strings.Contains(page,
				"of the exact count, before sampling and response error; many are closer") &&
				!strings.Contains(page, "counts without weights") {
				t.Errorf("%s calls weighted counts exact counts", name)
			}
		}
	}
}

// A published weighted count is rounded to a whole number if the step is not one, and the headline's margin allows for
// that.
func TestHeadlineOfWeightedCounts(t *testing.T) {
	for weight, half := range map[string]float64{designWeight: 0.5, calibratedWeight: 0} {
		r := reportOf(t, figuresInput(report.Official, weight))
		if len(r.Accuracy.Groups) != 2 {
			t.Fatalf("%+v", r.Accuracy)
		}
		g := r.Accuracy.Groups[0]
		says := fmt.Sprintf("within %d of the exact sum of weights", int64(math.Ceil(g.Margin+half)))
		if !strings.Contains(r.Accuracy.Sentence, says) || g.Rounded != (half > 0) {
			t.Errorf("%+v: %s", g, r.Accuracy.Sentence)
		}
	}
}

// The sensitivity of one person is in the unit of the data: three rows of weight 25, and of pay at most 10 050 from the
// middle.
func TestSensitivitiesAreInTheUnitOfTheData(t *testing.T) {
	most := map[string]string{}
	for _, s := range reports()["figures"].Certificate.Sensitivities {
		most[s.Measurement] = s.Most
	}
	for measurement, want := range map[string]string{
		"pay": "75", "size": "50", "heads": "2", "pay/pay_sums": "753750", "pay/pay_median_quantiles": "",
		"pay/hours_distinct": "2",
		"size/hours_squares": "31250", // 50 × 25²
	} {
		if got, ok := most[measurement]; !ok || got != want {
			t.Errorf("%s: %q, want %q of %v", measurement, got, want, most)
		}
	}
}

func TestNewRefusesFiguresThatAreNotThePlans(t *testing.T) {
	number := func(change func(*synth.Number)) func(*maker.Input) {
		return func(in *maker.Input) { change(&in.Tables[0].Numbers[0]) }
	}
	for name, c := range map[string]struct {
		change func(*maker.Input)
		says   string
	}{
		"one too few":   {func(in *maker.Input) { in.Tables[0].Numbers = in.Tables[0].Numbers[1:] }, "the plan has 4"},
		"another name":  {number(func(n *synth.Number) { n.Name = "x" }), "the plan does not have it"},
		"short":         {number(func(n *synth.Number) { n.High = floats(1) }), "do not all have 2 cells"},
		"infinite":      {number(func(n *synth.Number) { n.Value = floats(1, math.Inf(1)) }), "finite"},
		"unknown flag":  {number(func(n *synth.Number) { n.Flags = []synth.Flag{"odd", ""} }), "does not suit"},
		"not withheld":  {number(func(n *synth.Number) { n.Flags = make([]synth.Flag, 2) }), "does not suit"},
		"upside down":   {number(func(n *synth.Number) { n.Low, n.High = n.High, n.Low }), "does not suit"},
		"withheld, but": {number(func(n *synth.Number) { n.Value = floats(1, 2) }), "does not suit"},
	} {
		in := figuresInput(report.Official, designWeight)
		c.change(&in)
		if _, err := maker.New(in); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Cells are compared by their counts: other figures have their own errors, for which no single difference is valid.
func TestCellsAreComparedByTheirCounts(t *testing.T) {
	for name, in := range map[string]maker.Input{
		"counts": input(report.Official, nil), "with sums": figuresOf(report.Official, togetherText),
		"some sparse": sparseInput(sparseText),
	} {
		if r := reportOf(t, in); !strings.HasPrefix(r.Comparison, "Call two counts of one table different only if ") {
			t.Errorf("%s: %s", name, r.Comparison)
		}
	}
}

// TestRowsLeftOutMoveFiguresEitherWay uses pay that may be below zero, so that sums without some rows may be too high.
func TestRowsLeftOutMoveFiguresEitherWay(t *testing.T) {
	for name, want := range map[string]string{"release": "too low",
		"figures": "counts too low, other figures either way"} {
		found := 0
		for _, b := range reports()[name].Bias {
			if strings.Contains(b.Cause, "are left out") || strings.Contains(b.Cause, "counts once: of several rows") ||
				strings.Contains(b.Cause, "leave out the rows of a unit") {
				if found++; b.Direction != want {
					t.Errorf("%s: %s: %s", name, b.Cause, b.Direction)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: nothing is left out", name)
		}
	}
}

// TestTerminalSetsOneSignBeforeHalfWidths checks the half widths of figures other than counts.
func TestTerminalSetsOneSignBeforeHalfWidths(t *testing.T) {
	page := string(page.Terminal(reports()["figures"], screen.Look{Columns: 200}, "f", true))
	if !strings.Contains(page, "Figures other than counts") || strings.Contains(page, "±±") ||
		strings.Contains(page, "±–") {
		t.Error(page)
	}
}
