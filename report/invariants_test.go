package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/synth"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// publicText is a spec in which the sexes are public, and so are the counts by sex and work.
var publicText = strings.Replace(strings.Replace(impossibleText, "marginals:",
	"invariants: {sexes: {by: [sex], values: {female: 800, male: 650}}}\nmarginals:\n  other: {by: [work]}", 1),
	"rows: drop}", "rows: error}", 1)

// A report lists public figures among what is given away, excludes their cells from the numbers with noise, and says,
// as a bias, a hazard and a note, that they were not compared with the data.
func TestReportOnPublicFigures(t *testing.T) {
	p := planned(publicText)
	tables := published(p, map[string][]int64{"other": {800, 300, 400}, "pairs": {2, 400, 300, 700, 0, 1},
		"sexes": {700, 703}})
	in := maker.Input{Plan: compiled.Of(p), Tables: tables, Receipt: receiptFor(p, report.Official),
		Software: "dprelease 0.1.0"}
	r := reportOf(t, in)
	const figures = "sexes (the rows of persons by sex, 2 figures, from the spec)"
	if !slices.Equal(r.Certificate.GivenAway, []string{figures}) ||
		!strings.HasSuffix(r.Guarantee.Statement, figures+".") {
		t.Errorf("given away: %q; %s", r.Certificate.GivenAway, r.Guarantee.Statement)
	}
	at := slices.IndexFunc(r.Tables, func(t report.Table) bool { return t.Path == "sexes" })
	if s := r.Tables[at].Statistics[0]; r.Accuracy.Numbers != 8 || r.Tables[at].Invariant != "sexes" || s.Margin != 0 ||
		s.TotalPublished != "1450" || s.NoiseCells != 0 {
		t.Errorf("%+v, %+v", r.Accuracy, r.Tables[at])
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiledSchema(t).Validate(instance); err != nil && strings.Contains(err.Error(), "/tables") {
		t.Error(err)
	}
	bias := slices.IndexFunc(r.Bias,
		func(b report.Bias) bool { return strings.Contains(b.Cause, "public figures of sexes") })
	if bias < 0 || !slices.Equal(r.Bias[bias].Tables, []string{"sexes"}) || r.Bias[bias].Noisy != nil {
		t.Errorf("%+v", r.Bias)
	}
	hazard := slices.IndexFunc(r.Certificate.Hazards,
		func(h report.Hazard) bool { return h.Hazard == "A mixture with exact figures" })
	if h := r.Certificate.Hazards[hazard]; h.AnsweredBy != report.LeftToApprovers ||
		!strings.Contains(h.Answer, "Public figures are published as they are") {
		t.Errorf("%+v", h)
	}
	for name, page := range map[string]string{"markdown": string(page.Markdown(r)), "readme": string(page.Readme(r))} {
		text := strings.Join(strings.Fields(page), " ")
		for _, says := range []string{"2 more were public before",
			"The cells of sexes are these figures, or sums of them", "Nothing compared them with the data", figures} {
			if !strings.Contains(text, says) {
				t.Errorf("%s does not say %q", name, says)
			}
		}
	}
	if _, err := page.HTML(r); err != nil {
		t.Error(err)
	}
	// A cell with a flag that contradicts the plan belongs to another release.
	for table, flag := range map[string]synth.Flag{"sexes": synth.Plain, "other": synth.Public} {
		at := slices.IndexFunc(tables, func(t synth.Table) bool { return t.Path == table })
		flags := tables[at].Statistics[0].Flags
		before := flags[0]
		flags[0] = flag
		if _, err := maker.New(in); err == nil || !strings.Contains(err.Error(), "marked as public figures") {
			t.Errorf("%s: %v", table, err)
		}
		flags[0] = before
	}
}
