package report_test

// This file tests what a report says of models.

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/synth/model"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// modelsText is a release of five models, or with a table one of six: the second is made of that table.
const modelsText = `version: 1
release: readmission-2026
about: {title: "Readmissions, 2026", population: residents aged 0–110, contact: statistics office}
privacy: {protects: person, neighbours: add-remove, account: lfs-panel}
budget: {epsilon: 2, delta: 1e-6, split: {a: SHARE, b: SHARE, c: SHARE, d: SHARE, f: SHARETABLES}}
tables:
  stays:
    source: {csv: stays.csv}
    unit: {id: person_id, max_rows: 1}
    columns:
      readmitted: {values: ["no", "yes"]}
      age:        {type: integer, range: [18, 105]}
      emergency:  {values: ["no", "yes"]}
      ward:       {values: [surgery, medicine, births]}
      days:       {type: integer, range: [0, 60]}
models:
  risk:    {predict: {readmitted: "yes"}, by: [age, emergency, ward], test: 20%, budget: a}
FREE  stay:    {predict: days, by: [emergency, ward], link: log, budget: b}
  effects: {predict: days, by: [age, emergency], method: linear, budget: c}
  chances: {predict: {readmitted: "yes"}, by: [age, ward], method: logistic, budget: d}
  odds:    {predict: {readmitted: "yes"}, by: [age, ward], method: gradient, test: 20%, budget: f}
`

// modelsInput is the release of modelsText with made-up models.
func modelsInput(withTable bool) maker.Input { return modelsInputWith(withTable, "") }

// modelsInputWith is that release with further columns, and columns that are declared otherwise.
func modelsInputWith(withTable bool, columns string) maker.Input {
	replaced := []string{"SHARE", "1/5", "TABLES", "", "FREE", ""}
	if withTable {
		replaced = []string{"SHARE", "1/6", "TABLES", ", e: 1/6", "FREE",
			"  free:    {predict: {readmitted: \"yes\"}, by: [emergency, ward], method: linear, from: tables}\n"}
	}
	text := strings.NewReplacer(replaced...).Replace(modelsText)
	if withTable {
		text += "marginals: {wards: {by: [readmitted, emergency, ward], budget: e}}\n"
	}
	for line := range strings.Lines(columns) {
		name, _, _ := strings.Cut(line, ":")
		if at := strings.Index(text, "\n"+name+":"); at >= 0 {
			text = text[:at+1] + line + text[at+2+strings.Index(text[at+1:], "\n"):]
		} else {
			text = strings.Replace(text, "models:\n", line+"models:\n", 1)
		}
	}
	p := planned(text)
	labels := func(name string, categories ...string) model.Labels {
		return model.Labels{Name: name, Categories: categories}
	}
	var ages []string
	var scores, errors []float64
	var counts []int64
	for age := 18; age <= 105; age++ {
		ages = append(ages, strconv.Itoa(age))
		scores = append(scores, float64(age-60)/40)
		errors = append(errors, .05)
		counts = append(counts, int64(120-age)-20)
	}
	class := &model.Published{Target: "readmitted", Link: boosting.Logit, Classes: []string{"no", "yes"}, Most: 1,
		Intercept: -1.75, Columns: []model.Column{
			{Labels: labels("age", ages...), Scores: scores, Errors: errors, Importance: .4375, Rows: counts,
				CountError: 13.5},
			{Labels: labels("emergency", "no", "yes"), Scores: []float64{-.25, .5}, Errors: []float64{.0155, .0175},
				Importance: .3125, Rows: []int64{4321, 2109}, CountError: 13.5},
			{Labels: labels("ward", "surgery", "medicine", "births"), Scores: []float64{.0625, -.125, .03},
				Errors: []float64{.02, .0175, .1}, Importance: .0925, Rows: []int64{2800, 3600, -9},
				CountError: 13.5},
		}, Performance: &model.Performance{AUC: &model.Interval{Estimate: .6731, Low: .64, High: .7041},
			Accuracy: &model.Interval{Estimate: .8531, Low: .838, High: .866},
			Baseline: &model.Interval{Estimate: .8401, Low: .825, High: .8553},
			Calibration: []model.Calibration{
				{From: 0, To: .0556, Share: &model.Interval{Estimate: .058, Low: .036, High: .087}},
				{From: .0556, To: .1207, Share: &model.Interval{Estimate: .0994, Low: .081, High: .1193}},
				{From: .1207, To: .4071, Share: &model.Interval{Estimate: .26, Low: .2, High: .3212}},
				{From: .4071, To: 1}}}}
	number := &model.Published{Target: "days", Link: boosting.Log, Most: 60, Intercept: 1.5, Columns: []model.Column{
		{Labels: labels("emergency", "no", "yes"), Scores: []float64{-.125, .25}, Errors: []float64{.01, .0125},
			Importance: .1575, Rows: []int64{4300, 2150}, CountError: 12},
		{Labels: labels("ward", "surgery", "medicine", "births"), Scores: []float64{0, 0, 0},
			Errors: []float64{.02, .02, .02},
			Rows:   []int64{2811, 3590, 14}, CountError: 12}}}
	interval := func(noise, all, low, high float64) *model.RegressionInterval {
		return &model.RegressionInterval{NoiseError: noise, StandardError: all, Low: low, High: high}
	}
	at := func(x float64) *float64 { return &x }
	linear := &model.Regression{Method: model.RegressionLinear, Target: "days", Rows: 6444, Confidence: .95,
		Terms: []model.RegressionTerm{
			{Coefficient: at(3.5), RegressionInterval: interval(.25, .5, 2.52, 4.48), Weight: 3.375},
			{Column: "age", Coefficient: at(-.0125), RegressionInterval: interval(.002, .004, -.0203, -.0047),
				Weight: -.0115},
			{Column: "emergency", Category: "no", Coefficient: at(0), Weight: -.5,
				Flags: []string{model.RegressionReference}},
			{Column: "emergency", Category: "yes", Coefficient: at(1.25),
				RegressionInterval: interval(.125, .25, .76, 1.74),
				Weight:             .5625}}}
	logistic := &model.Regression{Method: model.RegressionLogistic, Target: "readmitted", Positive: "yes", Rows: 6460,
		Flags: []string{model.RegressionModelOnly}, Terms: []model.RegressionTerm{
			{Coefficient: at(-3.75), Weight: -3.5}, {Column: "age", Coefficient: at(.0185), Weight: .0175},
			{Column: "ward", Category: "surgery", Coefficient: at(.125), Weight: .0925},
			{Column: "ward", Category: "medicine", Coefficient: at(0), Weight: -.0875,
				Flags: []string{model.RegressionReference}},
			{Column: "ward", Category: "births", Weight: -.005, Flags: []string{model.RegressionNotClear}}}}
	odds := &model.Regression{Method: model.RegressionLogistic, Target: "readmitted", Positive: "yes", Rows: 5170,
		Flags: []string{model.RegressionWeightsOnly}, Terms: []model.RegressionTerm{{Weight: -3.25},
			{Column: "age", Weight: .0185}, {Column: "ward", Category: "surgery", Weight: .1075},
			{Column: "ward", Category: "medicine", Weight: -.0925},
			{Column: "ward", Category: "births", Weight: .0125}},
		Performance: &model.Performance{AUC: &model.Interval{Estimate: .6655, Low: .63, High: .6995},
			Accuracy: &model.Interval{Estimate: .8475, Low: .832, High: .8613},
			Baseline: &model.Interval{Estimate: .8401, Low: .825, High: .8553}}}
	in := maker.Input{Plan: compiled.Of(p), Receipt: receiptFor(p, report.Official), Software: "dprelease 0.1.0",
		Models: []maker.Model{{Additive: class}, {Additive: number}, {Regression: linear}, {Regression: logistic},
			{Regression: odds}}}
	if withTable {
		of := *linear
		of.Target, of.Positive = "readmitted", "yes"
		in.Tables = published(p, noisyCounts)
		in.Models = slices.Insert(in.Models, 1, maker.Model{Regression: &of})
	}
	return in
}

// plainPages returns the pages of a report, without markup and line breaks.
func plainPages(t *testing.T, r *report.Report) map[string]string {
	t.Helper()
	all := map[string]string{"report.html": strings.Join(textsOf(pageOf(t, r)), " "),
		"report.md": string(page.Markdown(r)), "README.txt": string(page.Readme(r))}
	for name, text := range all {
		all[name] = strings.Join(strings.Fields(text), " ")
	}
	return all
}

// TestReportOfModelsAlone: the report of a release without tables follows the schema, and no page of it says something
// of counts, cells and tables that it does not have.
func TestReportOfModelsAlone(t *testing.T) {
	r := reportOf(t, modelsInput(false))
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.JSON()))
	if err == nil {
		err = compiledSchema(t).Validate(instance)
	}
	if err != nil {
		t.Error(err)
	}
	for name, text := range plainPages(t, r) {
		for _, never := range []string{"very number", "verything published", "the exact count",
			"of all tables together", "every table", "100%",
			"over a small base", "noisy count with its own error", "unbiased estimate next to it", "tables below"} {
			if strings.Contains(text, never) {
				t.Errorf("%s says %q", name, never)
			}
		}
	}
}

// TestReportOfModels: models stand in the order of the spec. The report says what accuracy is worth, where rows are too
// few to believe a score, where the whole model is, and that a term without a coefficient predicts.
func TestReportOfModels(t *testing.T) {
	r := reportOf(t, modelsInput(true))
	var names []string
	for _, m := range r.Models {
		names = append(names, m.Name)
	}
	if want := []string{"risk", "free", "stay", "effects", "chances", "odds"}; !slices.Equal(names, want) {
		t.Errorf("models %v, want %v", names, want)
	}
	for name, text := range plainPages(t, r) {
		if name == "README.txt" {
			continue
		}
		for _, want := range []string{"always giving the more frequent answer would have 84.0", "below about 6",
			"about 6",
			"to 12", "above about 41", "models/risk.json has, are the whole model", "The intercept is −1.75",
			"no coefficient, but its weight still predicts", "noisy number is below 27",
			"This release also has 6 models",
			"Do not let a model decide about a person by itself"} {
			if !strings.Contains(strings.ReplaceAll(text, "\u202f", " "), want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
	text := pageOf(t, r)
	for _, want := range []string{"score (log-odds)", "follow (logarithm of days)", ">−9<", ">105<",
		`class="strip hatched"`,
		`fill="url(#scores-risk-1-few)"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	// ages from 74 have fewer than 27 rows: 32 of 88
	if from, width := `<rect x="63.64%"`, `width="36.36%"`; !strings.Contains(text, from) ||
		!strings.Contains(text, width) {
		t.Errorf("the page does not hatch the ages with hardly any rows")
	}
}

// TestHardlyAnyRows: a category without rows, whose noisy number is normal with the standard error that is stated, is
// marked in 97 of 100 releases and more. One with four standard errors of rows is marked as seldom.
func TestHardlyAnyRows(t *testing.T) {
	const sigma = 20.0
	below := func(rows float64) float64 {
		at := report.ModelColumn{CountError: sigma}.LeastRows()
		return math.Erfc((rows-at)/sigma/math.Sqrt2) / 2
	}
	if marked, missed := below(0), below(4*sigma); marked < .97 || missed > .03 {
		t.Errorf("without rows %v, with many %v", marked, missed)
	}
	c := report.ModelColumn{Rows: []int64{9, 10}, CountError: 1}
	if !c.HasHardlyRows(0) || c.HasHardlyRows(1) || (report.ModelColumn{}).HasHardlyRows(0) {
		t.Error("fewer than ten rows are hardly any")
	}
}

// TestCalibrationRangesAreToldApart: ranges that would read the same in whole percent have decimals.
func TestCalibrationRangesAreToldApart(t *testing.T) {
	m := report.Model{Calibration: []report.Calibration{{To: .0012}, {From: .0012, To: .0031}, {From: .0031, To: 1}}}
	l := reportOf(t, input(report.Official, nil)).In()
	for i, want := range []string{"below about 0.1%", "about 0.1% to 0.3%", "above about 0.3%"} {
		if got := m.CalibrationRange(l, i); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// biasOf returns what the report of a release with these columns says of a bias, nil if it does not name it.
func biasOf(t *testing.T, withTable bool, columns, cause string) *report.Bias {
	t.Helper()
	for _, b := range reportOf(t, modelsInputWith(withTable, columns)).Bias {
		if strings.Contains(b.Cause, cause) {
			return &b
		}
	}
	return nil
}

// TestUnusedColumnsCauseNoBias: a policy leaves rows out only if something reads the column, be it only a model.
func TestUnusedColumnsCauseNoBias(t *testing.T) {
	const cause = "are left out where the spec says so"
	if b := biasOf(t, true, "      unused: {values: [a, b], unknown: drop, null: drop}\n", cause); b != nil {
		t.Errorf("%v", b)
	}
	// of the table
	for _, column := range []string{"      ward: {values: [surgery, medicine, births], unknown: drop}\n",
		"      days: {type: integer, range: [0, 60], null: drop}\n"} { // a target
		if biasOf(t, true, column, cause) == nil {
			t.Errorf("no bias by %s", column)
		}
	}
}

// TestBiasNamesModels: a bias names the models that are fitted to the rows it concerns, with and without tables.
func TestBiasNamesModels(t *testing.T) {
	all := []string{"models/risk", "models/stay", "models/effects", "models/chances", "models/odds"}
	const drops = "      age: {type: integer, range: [18, 105], null: drop}\n"
	for _, cause := range []string{"are left out where the spec says so", "Each person counts once"} {
		b := biasOf(t, false, drops, cause)
		if b == nil || !slices.Equal(b.Tables, all) || b.Direction != "either way" {
			t.Errorf("%s: %v", cause, b)
		}
		b = biasOf(t, true, drops, cause)
		if b == nil || !slices.Equal(b.Tables, slices.Concat([]string{"wards"}, all[:1], []string{"models/free"},
			all[1:])) ||
			b.Direction != "counts too low, other figures either way" {
			t.Errorf("%s: %v", cause, b)
		}
	}
	const category = "      emergency: {values: [\"no\", \"yes\"], null: {as: \"no\"}}\n"
	if b := biasOf(t, false, category, "Missing values of emergency count as no"); b == nil ||
		!slices.Equal(b.Tables, []string{"models/risk", "models/stay", "models/effects"}) {
		t.Errorf("%v", b)
	}
}

// TestEveryAffectedModelIsNamed: tables are named up to a few, and models are no further tables.
func TestEveryAffectedModelIsNamed(t *testing.T) {
	r := reportOf(t, modelsInput(true))
	for _, b := range r.Bias {
		if got := b.AffectedTables(r.In()); strings.Contains(got, "more") {
			t.Errorf("%s: %s", b.Cause, got)
		}
	}
}
