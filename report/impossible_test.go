package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// impossibleText is the fixture's spec with an impossible combination and a column under another name.
const impossibleText = `version: 1
params: {quarter: {pattern: '20\d\dq[1-4]'}}
release: labour-${quarter}
privacy: {protects: person, neighbours: add-remove, account: lfs-panel}
budget: {epsilon: 2}
tables:
  persons:
    source: {parquet: "lfs-${quarter}.parquet"}
    unit: {id: person_id, max_rows: 1}
    columns:
      sex:    {values: [female, male]}
      status: {values: [employed, unemployed, inactive], unknown: {as: inactive}}
      work:   {derived_from: status}
impossible:
  - {where: {sex: male, status: unemployed}, rows: drop}
marginals:
  pairs:  {by: [sex, work]}
  sexes: {by: [sex]}
`

// A report says how many cells are impossible, by which rule, and that the rule is not a finding; these cells are not
// among the numbers with noise.
func TestReportOnImpossibleCells(t *testing.T) {
	p := planned(impossibleText)
	tables := published(p, map[string][]int64{"pairs": {2, 400, 300, 700, 0, 1}, "sexes": {700, 703}})
	r := reportOf(t, maker.Input{Plan: compiled.Of(p), Tables: tables, Receipt: receiptFor(p, report.Official),
		Software: "dprelease 0.1.0"})
	if r.Accuracy.Numbers != 7 || r.Tables[0].Impossible != 1 || r.Tables[0].Statistics[0].NoiseCells != 2 ||
		r.Tables[0].Statistics[0].NoiseShare != 2./5 {
		t.Errorf("%+v, %+v", r.Accuracy, r.Tables[0])
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range []error{compiledSchema(t).Validate(instance)} {
		if fault != nil && strings.Contains(fault.Error(), "/tables") {
			t.Error(fault)
		}
	}
	for name, page := range map[string]string{"markdown": string(page.Markdown(r)), "readme": string(page.Readme(r))} {
		text := strings.Join(strings.Fields(page), " ")
		for _, says := range []string{
			"1 more is impossible by the spec, and an exact zero.", "Declared in the spec, not read from data",
			"no row of persons has sex = male with status = unemployed: such a row is left out before anything is " +
				"bounded or counted",
			"1 of 6 cells of pairs",
		} {
			if !strings.Contains(text, says) {
				t.Errorf("%s does not say %q", name, says)
			}
		}
	}
	if last := r.Guarantee.Sentences[len(r.Guarantee.Sentences)-1]; last != "Given away, because the spec declares "+
		"it and no data were read for it: no row of persons has sex = male with status = unemployed." {
		t.Errorf("guarantee: %q", last)
	}
	// Figures in impossible cells belong to another release.
	tables[0].Statistics[0].Flags[4] = ""
	if _, err := maker.New(maker.Input{Plan: compiled.Of(p), Tables: tables, Receipt: receiptFor(p, report.Official),
		Software: "dprelease 0.1.0"}); err == nil || !strings.Contains(err.Error(), "1 impossible cells") {
		t.Errorf("error %v", err)
	}
}
