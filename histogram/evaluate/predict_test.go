package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// on is a column as a factor.
func on(column string) plan.Factor { return plan.Factor{Attribute: column, Basis: plan.Identity} }

// kindByAge is a model of the probability of kind c by age.
func kindByAge(method spec.ModelMethod) plan.Model {
	return plan.Model{Table: "persons", Method: method, Target: on("kind"), Class: 2,
		By: []plan.Factor{on("age")}}
}

// ageByKind is a model of age by kind.
func ageByKind(method spec.ModelMethod) plan.Model {
	return plan.Model{Table: "persons", Method: method, Target: on("age"), Class: -1,
		By: []plan.Factor{on("kind")}}
}

// person is a row of the survey.
type person struct {
	kind string
	age  int
}

// surveyOf writes rows of the survey.
func surveyOf(t *testing.T, rows []person) string {
	t.Helper()
	text := &strings.Builder{}
	text.WriteString("kind,age\n")
	for _, r := range rows {
		fmt.Fprintf(text, "%s,%d\n", r.kind, r.age)
	}
	return folder(t, "persons.csv", text.String())
}

// predicted returns how well rows are predicted.
func predicted(t *testing.T, rows []person, q Prediction) *Predicted {
	t.Helper()
	p := planOf(t)
	return compared(t, p, surveyOf(t, rows), 1, PublishedResults{Predictions: []Prediction{q}}).Predictions[0]
}

// TestPredictionsOfAFewRows: of four rows the figures are worked out by hand. Rows of kind c have the probabilities .8
// and .4, the others .6 and .1: of four pairs, three are in order.
func TestPredictionsOfAFewRows(t *testing.T) {
	chances := map[int]float64{1: .8, 2: .4, 3: .6, 4: .1}
	q := Prediction{Model: kindByAge(spec.AdditiveModel),
		Published: func(codes []int) (float64, error) { return chances[codes[0]], nil }}
	got := predicted(t, []person{{"c", 1}, {"c", 2}, {"a", 3}, {"b", 4}}, q)
	p := got.Published
	loss := -(math.Log(.8) + math.Log(.4) + math.Log(.4) + math.Log(.9)) / 4
	if got.Rows != 4 || got.Class != 2 || p.AUC != .75 || p.Accuracy != .5 || !near(p.LogLoss, loss) ||
		!math.IsNaN(p.RSquared) || !math.IsNaN(p.RMSE) || got.Microdata != nil || got.Ceiling == nil ||
		got.SameRows == nil {
		t.Errorf("%d rows, %d of the class: %v, %v, %v", got.Rows, got.Class, p.AUC, p.Accuracy, p.LogLoss)
	}
	marshalled, err := json.Marshal([]any{got, p})
	if shown := fmt.Sprintf("%v %+v %#v %s", *got, p, *p, marshalled); err != nil ||
		strings.ContainsAny(shown, "0123456789") {
		t.Errorf("shown as %s, %v", shown, err)
	}
	// Ages 2, 4, 4 and 6 with the mean 4, of which 5 is said of each: squares 9 + 1 + 1 + 1, about the mean 4 + 0 + 0 +
	// 4.
	n := Prediction{Model: ageByKind(spec.AdditiveModel), Published: func([]int) (float64, error) { return 5, nil }}
	number := predicted(t, []person{{"a", 2}, {"a", 4}, {"b", 4}, {"b", 6}}, n).Published
	if !near(number.RMSE, math.Sqrt(3)) || !near(number.RSquared, 1-12./8) || !math.IsNaN(number.AUC) {
		t.Errorf("RMSE %v, R² %v", number.RMSE, number.RSquared)
	}
	// What a model rules out costs a finite loss, and what cannot be said is no figure.
	sure := Prediction{Model: kindByAge(spec.AdditiveModel), Published: func([]int) (float64, error) { return 0, nil }}
	all := predicted(t, []person{{"c", 1}, {"c", 2}}, sure).Published
	if !near(all.LogLoss, -math.Log(1e-6)) || !math.IsNaN(all.AUC) || all.Accuracy != 0 {
		t.Errorf("ruled out: %v, %v, %v", all.LogLoss, all.AUC, all.Accuracy)
	}
	same := predicted(t, []person{{"a", 3}, {"b", 3}}, n).Published
	if !math.IsNaN(same.RSquared) || same.RMSE != 2 {
		t.Errorf("equal numbers: R² %v, RMSE %v", same.RSquared, same.RMSE)
	}
	if none := predicted(t, nil, q); none.Rows != 0 || none.Published != nil || none.Ceiling != nil ||
		none.SameRows != nil {
		t.Errorf("no rows: %d", none.Rows)
	}
}

// TestPairsOfColumnsPredict: whether a row is back depends on two columns together. A model without their pair only
// guesses most rows, and one with it is right about nearly all.
func TestPairsOfColumnsPredict(t *testing.T) {
	p := planOf(t, "marginals:", "      back: {values: [no, yes]}\nmarginals:")
	text := &strings.Builder{}
	text.WriteString("kind,age,back\n")
	for i := range 4000 {
		kind, age := i%3, i/3%10
		back := map[bool]string{true: "yes", false: "no"}[(kind == 1) != (age >= 5)]
		fmt.Fprintf(text, "%c,%d,%s\n", "abc"[kind], age, back)
	}
	m := plan.Model{Table: "persons", Method: spec.AdditiveModel, Target: on("back"), Class: 1,
		By: []plan.Factor{on("kind"), on("age")}}
	with := m
	with.Pairs = [][2]int{{1, 0}}
	got := compared(t, p, folder(t, "persons.csv", text.String()), 1,
		PublishedResults{Predictions: []Prediction{{Model: m}, {Model: with}}}).Predictions
	if alone, both := got[0].Ceiling, got[1].Ceiling; alone.AUC > .8 || both.AUC < .98 || both.Accuracy < .9 {
		t.Errorf("AUC %v without the pair, %v with it, of which %v are right", alone.AUC, both.AUC, both.Accuracy)
	}
}

// TestPredictionsAreThoseOfAllPairs compares with sums over all rows and all pairs of rows, with tied predictions.
func TestPredictionsAreThoseOfAllPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		var rows []person
		for range 200 {
			rows = append(rows, person{string("abc"[random.IntN(3)]), random.IntN(10)})
		}
		chances := make([]float64, 10)
		for k := range chances {
			chances[k] = float64(random.IntN(5)) / 4
		}
		got := predicted(t, rows, Prediction{Model: kindByAge(spec.LogisticModel),
			Published: func(codes []int) (float64, error) { return chances[codes[0]], nil }}).Published
		ordered, pairs, hits, loss := 0., 0., 0., 0.
		for _, a := range rows {
			p := chances[a.age]
			if (p >= .5) == (a.kind == "c") {
				hits++
			}
			if a.kind != "c" {
				loss -= math.Log(max(1-p, 1e-6)) / 200
				continue
			}
			loss -= math.Log(max(p, 1e-6)) / 200
			for _, b := range rows {
				switch {
				case b.kind == "c":
					continue
				case p > chances[b.age]:
					ordered++
				case p == chances[b.age]:
					ordered += .5
				}
				pairs++
			}
		}
		if !near(got.AUC, ordered/pairs) || got.Accuracy != hits/200 || math.Abs(got.LogLoss-loss) > 1e-5 {
			t.Errorf("got %v, %v, %v, want %v, %v, %v", got.AUC, got.Accuracy, got.LogLoss, ordered/pairs, hits/200,
				loss)
		}
		guesses := []float64{2, 5, 7.5}
		number := predicted(t, rows, Prediction{Model: ageByKind(spec.LinearModel),
			Published: func(codes []int) (float64, error) { return guesses[codes[0]], nil }}).Published
		squares, mean, variation := 0., 0., 0.
		for _, r := range rows {
			off := guesses[strings.Index("abc", r.kind)] - float64(r.age)
			squares, mean = squares+off*off, mean+float64(r.age)/200
		}
		for _, r := range rows {
			variation += (float64(r.age) - mean) * (float64(r.age) - mean)
		}
		if !near(number.RMSE, math.Sqrt(squares/200)) || !near(number.RSquared, 1-squares/variation) {
			t.Errorf("RMSE %v, R² %v, want %v, %v", number.RMSE, number.RSquared, math.Sqrt(squares/200),
				1-squares/variation)
		}
	}
}

// clearRows are rows in which the kind is c above age 4, and a below; ages are known by kind but for the noise of
// uniform numbers.
func clearRows(n int) (rows []person) {
	for i := range n {
		rows = append(rows, person{string("ac"[i%10/5]), i % 10})
	}
	return rows
}

// codesOf returns rows as codes of microdata, the target last.
func codesOf(rows []person, target string) [][]uint32 {
	codes := make([][]uint32, 2)
	for _, r := range rows {
		kind, age := uint32(strings.Index("abc", r.kind)), uint32(r.age)
		if target == "kind" {
			kind, age = age, kind
		}
		codes[0], codes[1] = append(codes[0], kind), append(codes[1], age)
	}
	return codes
}

// TestModelsWithoutNoiseLearnWhatIsThere: what decides the target is learned by every method, from true rows and from
// microdata; microdata that say the reverse teach the reverse.
func TestModelsWithoutNoiseLearnWhatIsThere(t *testing.T) {
	rows := clearRows(2000)
	reversed := slices.Clone(rows)
	for i := range reversed {
		reversed[i].age = 9 - reversed[i].age
	}
	for _, method := range []spec.ModelMethod{spec.AdditiveModel, spec.LinearModel, spec.LogisticModel} {
		q := Prediction{Model: kindByAge(method), Microdata: codesOf(rows, "kind")}
		got := predicted(t, rows, q)
		for name, p := range map[string]*Performance{"ceiling": got.Ceiling, "microdata": got.Microdata,
			"same rows": got.SameRows} {
			if p.AUC != 1 || p.Accuracy != 1 || p.LogLoss > .5 {
				t.Errorf("%s, %s: %v, %v, %v", method, name, p.AUC, p.Accuracy, p.LogLoss)
			}
		}
		if got.Published != nil {
			t.Error("a model that was not released is tested")
		}
		q.Microdata = codesOf(reversed, "kind")
		if p := predicted(t, rows, q).Microdata; p.AUC != 0 || p.Accuracy != 0 {
			t.Errorf("%s, reversed: %v, %v", method, p.AUC, p.Accuracy)
		}
		if method == spec.LogisticModel {
			continue
		}
		// Ages are 0 to 4 of kind a and 5 to 9 of kind c: the variance 2 of uniform numbers is left, of 8.25.
		number := predicted(t, rows, Prediction{Model: ageByKind(method), Microdata: codesOf(rows, "age")})
		for name, p := range map[string]*Performance{"ceiling": number.Ceiling, "microdata": number.Microdata,
			"same rows": number.SameRows} {
			if math.Abs(p.RMSE-math.Sqrt(2)) > .01 || math.Abs(p.RSquared-(1-2/8.25)) > .005 {
				t.Errorf("%s, %s: RMSE %v, R² %v", method, name, p.RMSE, p.RSquared)
			}
		}
	}
}

// TestCeilingsAreOfOtherRows: labels are drawn at random, so that nothing can be learned. A model that was tested on
// the rows that it was fitted to seems to know them, whether they are the true rows or microdata that equal them.
func TestCeilingsAreOfOtherRows(t *testing.T) {
	p := planFor(t, `version: 1
release: survey
privacy: {protects: person, neighbours: add-remove, account: survey}
budget: {rho: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {a: {type: integer, range: [0, 4]}, b: {type: integer, range: [0, 4]}, c: {type: integer, range: [0, 4]}, d: {type: integer, range: [0, 4]}, e: {type: integer, range: [0, 4]}, label: {values: [no, yes]}}}}
marginals: {labels: {by: [label]}}
`)
	random := rand.New(rand.NewPCG(3, 4))
	const surveys = 10
	ceiling, fitted := 0., 0.
	for range surveys {
		text, codes := &strings.Builder{}, make([][]uint32, 6)
		text.WriteString("a,b,c,d,e,label\n")
		for range 100 {
			for c := range codes[:5] {
				code := random.IntN(5)
				fmt.Fprintf(text, "%d,", code)
				codes[c] = append(codes[c], uint32(code))
			}
			label := random.IntN(2)
			fmt.Fprintln(text, []string{"no", "yes"}[label])
			codes[5] = append(codes[5], uint32(label))
		}
		q := Prediction{Model: plan.Model{Table: "t", Method: spec.AdditiveModel, Target: on("label"), Class: 1,
			By: []plan.Factor{on("a"), on("b"), on("c"), on("d"), on("e")}}, Microdata: codes}
		d := compared(t, p, folder(t, "t.csv", text.String()), 1,
			PublishedResults{Predictions: []Prediction{q}}).Predictions[0]
		ceiling, fitted = ceiling+d.Ceiling.AUC/surveys, fitted+d.SameRows.AUC/surveys
		if d.SameRows.AUC != d.Microdata.AUC || d.SameRows.LogLoss != d.Microdata.LogLoss {
			t.Errorf("the same rows are learned as %v and %v", d.SameRows.AUC, d.Microdata.AUC)
		}
	}
	// The seed is fixed. The AUC of two halves of 50 rows has a standard deviation of about .06 without a relation.
	if math.Abs(ceiling-.5) > .08 || fitted < .65 {
		t.Errorf("ceiling %v, fitted to the tested rows %v", ceiling, fitted)
	}
}

// planFor plans a release.
func planFor(t *testing.T, text string) *plan.Plan {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "r.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p.Plan()
}

// TestPredictionsAreRefusedBeforeTheNote: what cannot be predicted is refused, and the note can still be used.
func TestPredictionsAreRefusedBeforeTheNote(t *testing.T) {
	p := planOf(t)
	dir, note := surveyOf(t, clearRows(10)), noteOf(t, p, false)
	compare := func(q Prediction) error {
		_, err := Compare(t.Context(), note, compiled.Of(p), scan.Files{Dir: dir}, streams(p, 1),
			PublishedResults{Predictions: []Prediction{q}})
		return err
	}
	ok := Prediction{Model: kindByAge(spec.AdditiveModel)}
	for name, q := range map[string]Prediction{
		"no such column": {Model: plan.Model{Table: "persons", Method: spec.AdditiveModel, Class: 1,
			Target: on("kind"), By: []plan.Factor{on("none")}}},
		"no columns": {Model: plan.Model{Table: "persons", Method: spec.AdditiveModel, Class: 1,
			Target: on("kind")}},
		"no number": {Model: plan.Model{Table: "persons", Method: spec.LinearModel, Class: -1, Target: on("kind"),
			By: ok.Model.By}},
		"fewer columns":  {Model: ok.Model, Microdata: [][]uint32{{1}}},
		"not one length": {Model: ok.Model, Microdata: [][]uint32{{1}, {}}},
		"no such code":   {Model: ok.Model, Microdata: [][]uint32{{1}, {3}}},
	} {
		if err := compare(q); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := compare(ok); err != nil {
		t.Error(err)
	}
}

// TestPredictionsEndWithTheContext: a comparison that is cut off while models are fitted and tested returns the error.
func TestPredictionsEndWithTheContext(t *testing.T) {
	f, err := newFitting(planOf(t), kindByAge(spec.AdditiveModel))
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	rows := cellCounts{[]uint64{1, 2}, []int64{5, 5}}
	if _, err := f.compare(ended, nil, rows, rows); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	of := func([]int) (float64, error) { return 1, nil }
	if _, err := f.test(ended, of, rows); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestPredictionsThatDoNotFitTheMemory are left out, which is said, and everything else is compared.
func TestPredictionsThatDoNotFitTheMemory(t *testing.T) {
	c := &comparison{plan: planOf(t), out: &Differences{}}
	var out *Predicted
	if err := c.askPrediction(t.Context(), Prediction{Model: kindByAge(spec.AdditiveModel)}, &out); err != nil {
		t.Fatal(err)
	}
	if !leftOut(c.questions, &memory.Error{}) || !out.TooLarge {
		t.Error("it is not left out")
	}
}
