package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/synth"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// discoverText is a spec with a table of groups that are not listed, and another table.
const discoverText = `version: 1
params: {quarter: {pattern: '20\d\dq[1-4]'}}
release: labour-${quarter}
privacy: {protects: person, neighbours: add-remove, account: lfs-panel}
budget: {epsilon: 2, delta: 1e-6}
tables:
  persons:
    source: {parquet: "lfs-${quarter}.parquet"}
    unit: {id: person_id, max_rows: 3}
    columns:
      sex: {values: [male, female]}
      job: {values: {discover: {max_length: 20, at_least: 3}}, unknown: drop}
marginals:
  jobs: {by: [sex, job], stats: [units], per_unit: {groups: GROUPS}}
  sexes: {by: [sex]}
`

func discoverInput(groups string) maker.Input {
	p := planned(strings.ReplaceAll(discoverText, "GROUPS", groups))
	s := &measured.Sealed{Plan: compiled.Of(p)}
	for _, m := range p.Measurements {
		if m.Selection.Kind() == selection.KindGroups {
			keys := [][]string{{"male", "miner"}, {"female", "miner"}, {"female", "nurse"}}
			s.Measured = append(s.Measured, measured.Measured{Measurement: m, Values: integers([]int64{210, 4, 333}),
				Keys: keys})
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

// TestReportOnGroupsThatNobodyListed checks that every page says which groups appear and what it means that one does
// not, and lists the cost of their selection; the report follows its schema.
func TestReportOnGroupsThatNobodyListed(t *testing.T) {
	schema := compiledSchema(t)
	for groups, kind := range map[string]string{"1": "randomized-response", "3": "discrete-gaussian"} {
		r := reportOf(t, discoverInput(groups))
		jobs := r.Tables[0]
		if jobs.Cells != 3 || jobs.Statistics[0].TotalPublished != "547" || r.Tables[1].Discovered != nil {
			t.Errorf("the tables are %+v", r.Tables)
		}
		d := jobs.Discovered
		if d == nil || d.AtLeast != 3 || d.Delta != "1/4000000" || d.Columns[0] != "job" || len(d.Chances) < 5 ||
			d.Chances[0].Units != 3 {
			t.Fatalf("the groups are %+v", d)
		}
		if groups == "1" && (d.Groups != 1 || d.Times != 1) || groups == "3" && d.Groups != 3 {
			t.Errorf("a unit counts in %d groups, charged %d times", d.Groups, d.Times)
		}
		listed := false
		for _, n := range r.Certificate.Mechanisms {
			listed = listed || n.Mechanism.Kind == d.Selection.Kind &&
				strings.HasPrefix(n.Measurements[0], "which groups of jobs appear")
		}
		if !listed {
			t.Errorf("the certificate does not list the selection (%s; %s is usual)", d.Selection.Kind, kind)
		}
		html, err := page.HTML(r)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"html": string(html), "markdown": string(page.Markdown(r)),
			"readme": string(page.Readme(r))} {
			text = strings.Join(strings.Fields(text), " ")
			for _, says := range []string{"Nobody lists the values of job", "Groups of fewer than 3 units never do",
				"need not be empty", "Do not add the rows up"} {
				if !strings.Contains(text, says) {
					t.Errorf("%s does not say %q", name, says)
				}
			}
		}
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.JSON()))
		if err == nil {
			err = schema.Validate(instance)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestGroupsOutOfOrderAreNone refuses keys that no selection produces.
func TestGroupsOutOfOrderAreNone(t *testing.T) {
	p := planned(strings.ReplaceAll(discoverText, "GROUPS", "1"))
	for name, keys := range map[string][][]string{
		"out of order":   {{"female", "nurse"}, {"female", "miner"}},
		"twice":          {{"male", "nurse"}, {"male", "nurse"}},
		"a key too long": {{"male", "a"}, {"male", strings.Repeat("x", 21)}},
		"no category":    {{"male", "nurse"}, {"other", "nurse"}},
		"too few":        {{"male", "nurse"}},
	} {
		s := &measured.Sealed{Plan: compiled.Of(p)}
		for _, m := range p.Measurements {
			one := measured.Measured{Measurement: m, Values: integers([]int64{7, 8})}
			if m.Selection.Kind() == selection.KindGroups {
				one.Keys = keys
			}
			s.Measured = append(s.Measured, one)
		}
		if _, err := synth.Estimate(s); err == nil {
			t.Errorf("groups %s are published", name)
		}
	}
}
