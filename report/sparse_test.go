package report_test

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/synth"
)

// sparseText is a spec with a table of 12 321 cells, of which those above 20 are published, and another table.
const sparseText = `version: 1
params: {quarter: {pattern: '20\d\dq[1-4]'}}
release: labour-${quarter}
privacy: {protects: person, neighbours: add-remove, account: lfs-panel}
budget: {epsilon: 2, split: {pairs: 1/2, sexes: 1/2}}
tables:
  persons:
    source: {parquet: "lfs-${quarter}.parquet"}
    unit: {id: person_id, max_rows: 1}
    columns:
      sex:   {values: [female, male]}
      age:   {type: integer, range: [0, 110]}
      spouse: {type: integer, range: [0, 110]}
impossible:
  - {where: {age: 0, spouse: [1, 2]}, rows: drop}
marginals:
  pairs: {by: [age, spouse], cells: {above: 20}}
  sexes: {by: [sex]}
`

// sparseInput is a release of that spec with three cells above the threshold.
func sparseInput(text string) maker.Input {
	return sparseOf(text, []int64{21, 400, 33}, []uint64{0, 112, 12320})
}

// sparseOf is a release of a spec with those cells above the threshold.
func sparseOf(text string, counts []int64, cells []uint64) maker.Input {
	p := planned(text)
	s := &measured.Sealed{Plan: compiled.Of(p)}
	for _, m := range p.Measurements {
		if m.Selection.Kind() == selection.KindAbove {
			s.Measured = append(s.Measured, measured.Measured{Measurement: m, Values: integers(counts), Cells: cells})
		} else {
			s.Measured = append(s.Measured, measured.Measured{Measurement: m, Values: integers([]int64{700, 703})})
		}
	}
	tables, err := synth.Estimate(s)
	if err != nil {
		panic(err)
	}
	return maker.Input{Plan: compiled.Of(p), Tables: tables, Receipt: receiptFor(p, report.Official),
		Software: "dprelease 0.1.0"}
}

// sparseAlone is that spec without the other table.
func sparseAlone() string {
	return strings.NewReplacer("  sexes: {by: [sex]}\n", "", "split: {pairs: 1/2, sexes: 1/2}", "split: {pairs: 1}").
		Replace(sparseText)
}

// A report counts the cells of a sparse table separately from those that the headline's margin covers, and says on
// every page what a present and an absent cell mean.
func TestReportOnSparseTables(t *testing.T) {
	r := reportOf(t, sparseInput(sparseText))
	pairs, sexes := r.Tables[0], r.Tables[1]
	if r.Accuracy.Numbers != 2 || r.Accuracy.Margin != sexes.Statistics[0].Margin {
		t.Errorf("the headline is %+v", r.Accuracy)
	}
	if pairs.Cells != 3 || pairs.Impossible != 0 || sexes.Sparse != nil || pairs.Statistics[0].TotalPublished != "454" {
		t.Errorf("the tables are %+v and %+v", pairs, sexes)
	}
	if s := pairs.Sparse; s == nil || s.Above != 20 || s.Declared != 12321 || s.Impossible != 2 || s.Bound <= 20 ||
		s.Missed[0].Rows != 21 || s.FalseCells <= 0 {
		t.Errorf("the sparse table is %+v", pairs.Sparse)
	}
	html, err := page.HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"html": string(html), "markdown": string(page.Markdown(r)),
		"readme": string(page.Readme(r))} {
		text = strings.Join(strings.Fields(text), " ")
		for _, says := range []string{"Of 12 319 cells, each with noise, those above 20 are published",
			"need not be empty: its noisy count was not above 20", "Do not add the rows up"} {
			if !strings.Contains(text, says) {
				t.Errorf("%s does not say %q", name, says)
			}
		}
	}
	if !strings.Contains(r.Accuracy.Sentence, "3 more are in tables that show only cells above a threshold") {
		t.Errorf("the headline says %q", r.Accuracy.Sentence)
	}
	alone := reportOf(t, sparseInput(sparseAlone()))
	if alone.Accuracy.Numbers != 3 ||
		!strings.Contains(alone.Accuracy.Sentence, " of all cells of the tables, published or not, have a noisy "+
			"count within") {
		t.Errorf("the headline of the sparse table alone is %+v", alone.Accuracy)
	}
}
