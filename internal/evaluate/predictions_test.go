package evaluate

// This file tests what is said of models and of what can be learned from microdata.

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth/model"
)

const staysSpec = `version: 1
release: trips
privacy: {protects: person, neighbours: add-remove, account: trips}
budget: {rho: 9, split: {rows: 1/3, risk: 1/3, days: 1/3}}
tables:
  stays:
    source: {csv: t.csv}
    unit: row
    expect: {rows: [300, 500]}
    columns:
      sex: {values: [f, m]}
      age: {type: integer, range: [0, 19], levels: {band: {width: 5}}}
      days: {type: integer, range: [0, 9]}
      back: {values: ["no", "yes"]}
models:
  risk: {predict: {back: "yes"}, by: [sex, age.band], test: 20%, budget: risk}
  days: {predict: days, by: [sex, age], method: linear, budget: days}
synthetic: {stays: {by: [age, sex, BY, back], method: mst, budget: rows}}
`

// stay is a row of the stays.
type stay struct {
	sex, age, days, back int
}

// stays are 400 rows in which older people stay longer and come back more often.
func stays() (rows []stay, text string) {
	text = "sex,age,days,back\n"
	for i := range 400 {
		s := stay{sex: i % 2, age: i * 7 % 20}
		s.days = (s.age + i%3) / 3
		if i*13%20 < s.age {
			s.back = 1
		}
		rows = append(rows, s)
		text += fmt.Sprintf("%c,%d,%d,%s\n", "fm"[s.sex], s.age, s.days, []string{"no", "yes"}[s.back])
	}
	return rows, text
}

// staysOffice is an office that releases two models of the stays, and microdata with a column or without it.
func staysOffice(t *testing.T, by string) releasetest.Office {
	t.Helper()
	_, text := stays()
	return releasetest.With(t, strings.Replace(staysSpec, "BY, ", by, 1),
		"account: trips\nprotects: person\nneighbours: add-remove\ncap: {rho: 30}\n", text)
}

// TestEvaluateSaysHowWellModelsPredict works out the figures of the published models from their files and the rows.
func TestEvaluateSaysHowWellModelsPredict(t *testing.T) {
	o := staysOffice(t, "days, ")
	opt, place := publishedtest.Run(t, o)
	opt.Out = filepath.Join(o.Dir, "private")
	var heard []string
	opt.Log = releasetest.LogThat(func(message string) { heard = append(heard, message) })
	options := optionsFrom(opt)
	options.Predict = []string{"back=yes", "days"}
	if _, err := Evaluate(t.Context(), o.Plan, place, options); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(heard, []string{"comparison noted in the ledger"}) {
		t.Errorf("logged %q", heard)
	}
	v := readEvaluation(t, opt.Out)
	if len(v.Predictions) != 4 {
		t.Fatalf("%d predictions", len(v.Predictions))
	}
	rows, _ := stays()
	checkRisk(t, place, rows, v.Predictions[0])
	checkDays(t, place, rows, v.Predictions[1])
	asked := v.Predictions[2:]
	if p := asked[0]; p.Model != "" || p.Published != nil || p.Target != "back" || p.Class != "yes" ||
		!slices.Equal(p.By, []string{"age", "sex", "days"}) || p.Microdata.AUC == nil || p.Ceiling.AUC == nil ||
		p.Microdata.RMSE != nil {
		t.Errorf("asked for back: %+v", p)
	}
	if p := asked[1]; p.Class != "" || p.ClassRows != nil || p.Microdata.RMSE == nil || p.Ceiling.RSquared == nil ||
		p.Ceiling.AUC != nil || *p.Ceiling.RSquared < .8 {
		t.Errorf("asked for days: %+v", p)
	}
	page, err := os.ReadFile(filepath.Join(opt.Out, EvaluationPage))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"### back = yes, of stays: model risk", "### days, of stays: model days",
		"### back = yes, of stays\n", "| the true rows, with the noise of the release | " +
			fourDigits(*v.Predictions[0].Published.AUC),
		"| the microdata | ", "| the true rows, without noise | ", "| half of the true rows, without noise, and",
		"method linear"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// checkRisk compares the figures of a published additive model with those of all pairs of rows.
func checkRisk(t *testing.T, place string, rows []stay, got predictionTruth) {
	t.Helper()
	m := releasetest.ReadJSON[model.Published](t, filepath.Join(place, "models", "risk.json"))
	chances := make([]float64, len(rows))
	hits, loss, ordered, pairs, class := 0., 0., 0., 0., int64(0)
	for i, r := range rows {
		score := m.Intercept + m.Columns[0].Scores[r.sex] + m.Columns[1].Scores[r.age/5]
		chances[i] = 1 / (1 + math.Exp(-score))
		of := chances[i]
		if class += int64(r.back); r.back == 0 {
			of = 1 - of
		}
		if loss -= math.Log(of) / float64(len(rows)); of > .5 {
			hits++
		}
	}
	for i, a := range rows {
		for j, b := range rows {
			if a.back == 1 && b.back == 0 {
				pairs++
				switch d := chances[i] - chances[j]; {
				case d > 1e-12:
					ordered++
				case d > -1e-12:
					ordered += .5
				}
			}
		}
	}
	p := got.Published
	if got.Model != "risk" || got.Method != "additive" || got.Target != "back" || got.Class != "yes" ||
		got.Rows != 400 ||
		*got.ClassRows != class || !slices.Equal(got.By, []string{"sex", "age.band"}) ||
		math.Abs(*p.AUC-ordered/pairs) > 1e-9 || *p.Accuracy != hits/400 ||
		math.Abs(*p.LogLoss-loss) > 1e-9 {
		t.Errorf("%+v: AUC %v, accuracy %v, log loss %v", got, *p.AUC, *p.Accuracy, *p.LogLoss)
	}
	if got.Microdata == nil || got.Ceiling == nil { // the microdata have ages, which are finer than bands
		t.Errorf("not compared with microdata %v, ceiling %v", got.Microdata, got.Ceiling)
	}
}

// checkDays compares the figures of a published linear regression with sums over all rows.
func checkDays(t *testing.T, place string, rows []stay, got predictionTruth) {
	t.Helper()
	m := releasetest.ReadJSON[model.Regression](t, filepath.Join(place, "models", "days.json"))
	weights := map[string]float64{}
	for _, term := range m.Terms {
		weights[term.Column+term.Category] = term.Weight
	}
	squares, mean, variation := 0., 0., 0.
	for _, r := range rows {
		predicted := weights[""] + weights["sex"+"fm"[r.sex:r.sex+1]] + weights["age"]*float64(r.age)
		squares += (predicted - float64(r.days)) * (predicted - float64(r.days))
		mean += float64(r.days) / float64(len(rows))
	}
	for _, r := range rows {
		variation += (float64(r.days) - mean) * (float64(r.days) - mean)
	}
	p := got.Published
	if got.Method != "linear" || got.Class != "" || got.ClassRows != nil || p.AUC != nil ||
		math.Abs(*p.RMSE-math.Sqrt(squares/400)) > 1e-9 || math.Abs(*p.RSquared-(1-squares/variation)) > 1e-9 {
		t.Errorf("%+v: RMSE %v, R² %v, want %v, %v", got, *p.RMSE, *p.RSquared, math.Sqrt(squares/400),
			1-squares/variation)
	}
}

// TestMicrodataWithoutAColumnOfAModelTeachNothing: the figure is left out, and the others are there.
func TestMicrodataWithoutAColumnOfAModelTeachNothing(t *testing.T) {
	o := staysOffice(t, "")
	opt, place := publishedtest.Run(t, o)
	opt.Out = filepath.Join(o.Dir, "private")
	if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil {
		t.Fatal(err)
	}
	all := readEvaluation(t, opt.Out).Predictions
	if len(all) != 2 || all[0].Microdata == nil || all[1].Microdata != nil || all[1].Published == nil ||
		all[1].Ceiling == nil {
		t.Errorf("%+v", all)
	}
}

// TestMicrodataInTheColumnsOfAModel: finer columns are grouped as the model has them.
func TestMicrodataInTheColumnsOfAModel(t *testing.T) {
	o := staysOffice(t, "days, ")
	_, place := publishedtest.Run(t, o)
	e, err := published.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	claims, _, err := publishedResults(e)
	if err != nil {
		t.Fatal(err)
	}
	got, drawn := microdataFor(e, claims.Rows, e.Plan.Models[0]), claims.Rows[0].Codes
	if len(got) != 3 || len(drawn[0]) < 100 || !slices.Equal(got[0], drawn[1]) || !slices.Equal(got[2], drawn[3]) {
		t.Fatalf("%d columns of %d rows", len(got), len(drawn[0]))
	}
	for row, age := range drawn[0] {
		if got[1][row] != age/5 {
			t.Fatalf("row %d: age %d is in band %d", row, age, got[1][row])
		}
	}
}

// TestPredictIsRefused: bad values are refused with what was expected, before anything is noted.
func TestPredictIsRefused(t *testing.T) {
	o := staysOffice(t, "days, ")
	opt, place := publishedtest.Run(t, o)
	opt.Out = filepath.Join(o.Dir, "private")
	for predict, words := range map[string]string{
		"bck=yes": `there is no column of the microdata of stays "bck"; did you mean "back"?`,
		"back=ja": `there is no category of back "ja"; there is no, yes`,
		"back": "the categories of back are not all numbers: name the one whose probability is " +
			"predicted, such as back=no",
		"stays=back":              "such as back=no",
		"other=back=no":           `there is no column of the microdata of stays "other"`,
		"":                        `there is no column of the microdata of stays ""`,
		"back=yes,stays=back=yes": "asked for twice",
	} {
		options := optionsFrom(opt)
		options.Predict = strings.Split(predict, ",")
		_, err := Evaluate(t.Context(), o.Plan, place, options)
		wantsCode(t, predict, err, verdict.ExitSpec, words)
	}
	if n := o.Account(t, "trips").Comparisons; n != 0 {
		t.Errorf("%d comparisons are noted", n)
	}
	trips := releasetest.Trips(t)
	opt, place = publishedtest.Run(t, trips)
	opt.Out = filepath.Join(trips.Dir, "private")
	options := optionsFrom(opt)
	options.Predict = []string{"mode=walk"}
	_, err := Evaluate(t.Context(), trips.Plan, place, options)
	wantsCode(t, "no microdata", err, verdict.ExitSpec, "has no microdata to learn from")
}

// TestLinkedMicrodataPredict: columns of the parent row predict, on both sides.
func TestLinkedMicrodataPredict(t *testing.T) {
	o := releasetest.Of(t, releasetest.Homes("mst", "mst"))
	opt, place := publishedtest.Run(t, o)
	opt.Out = filepath.Join(o.Dir, "private")
	options := optionsFrom(opt)
	s := o.Plan.Synthetic[1]
	levels, err := plan.Query{Table: s.Table, Factors: s.By}.Levels(o.Plan.Release())
	if err != nil {
		t.Fatal(err)
	}
	options.Predict = []string{fmt.Sprintf("%s=%s=%s", s.Table, s.By[0], levels[0].Categories[0].Code)}
	if _, err := Evaluate(t.Context(), o.Plan, place, options); err != nil {
		t.Fatal(err)
	}
	p := readEvaluation(t, opt.Out).Predictions[0]
	if p.Table != "persons" || !slices.Contains(p.By, "households.members") || p.Rows == 0 ||
		p.Microdata.Accuracy == nil ||
		p.Ceiling.Accuracy == nil {
		t.Errorf("%+v", p)
	}
}

// TestPredictNamesTheTable: where several tables have microdata, the table comes first.
func TestPredictNamesTheTable(t *testing.T) {
	o := releasetest.Of(t, releasetest.Homes("mst", "mst"))
	p := o.Plan.Plan()
	var child plan.Synthetic
	for _, s := range p.Synthetic {
		if s.Parent != "" {
			child = s
		}
	}
	levels, err := plan.Query{Table: child.Table, Factors: child.By}.Levels(p.Release())
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range child.By {
		class := levels[i].Categories[0].Code
		got, err := parsePrediction(p, child.Table+"="+f.String()+"="+class)
		if err != nil || got.model.Table != child.Table || got.model.Target != f || got.model.Class != 0 ||
			slices.Contains(got.model.By, f) || len(got.model.By) != len(child.By)-1 {
			t.Errorf("%s: %+v, %v", f, got.model, err)
		}
		if _, err := parsePrediction(p, f.String()+"="+class); err == nil ||
			!strings.Contains(err.Error(), "microdata of several tables") {
			t.Errorf("%s without a table: %v", f, err)
		}
	}
}
