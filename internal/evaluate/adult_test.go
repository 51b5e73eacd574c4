package evaluate

// This file compares microdata with models: how well either predicts the incomes of UCI Adult.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
)

// adultSpec returns the spec of the example's microdata, with the whole extract as source, another budget, and in place
// of its tables and microdata what is to be released.
func adultSpec(t *testing.T, epsilon float64, released string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testkit.Root(t), "examples", "adult", "microdata.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	columns, _, _ := strings.Cut(string(text), "\nmarginals:")
	return strings.NewReplacer("{epsilon: 1, delta: 1e-9, split: {tables: 1/20, microdata: 19/20}}",
		fmt.Sprintf("{epsilon: %v, delta: 1e-9}", epsilon), "adult-train.csv", "adult14.csv",
		"[30000, 35000]", "[45000, 50000]").Replace(columns) + "\n" + released
}

// evaluateAdult makes a release of Adult on a practice account, and returns its one prediction.
func evaluateAdult(t *testing.T, epsilon float64, released string, predict ...string) predictionTruth {
	t.Helper()
	data, dir := filepath.Dir(testkit.Data(t, "adult14.csv")), t.TempDir()
	codebooks := os.DirFS(filepath.Join(testkit.Root(t), "examples", "adult", "codebooks"))
	if err := os.CopyFS(filepath.Join(dir, "codebooks"), codebooks); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "release.yaml")
	if err := os.WriteFile(path, []byte(adultSpec(t, epsilon, released)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := releasetest.Plan(t, path, nil)
	r, err := release.Run(t.Context(), p, release.Options{Out: filepath.Join(dir, "out"), Data: data})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "private")
	if _, err := Evaluate(t.Context(), p, r.Folder, Options{Out: out, Data: data, Predict: predict}); err != nil {
		t.Fatal(err)
	}
	return readEvaluation(t, out).Predictions[0]
}

// adultColumns are the columns that incomes are predicted from.
const adultColumns = "by: [age, workclass, fnlwgt, education_num, marital_status, occupation, relationship, race, sex, " +
	"capital_gain, capital_loss, hours_per_week, native_country]"

// TestRowsOrModelOfAdult prints how well incomes are predicted by a model, and by what is learned from microdata of the
// same budget. With DPRELEASE_LONG it does so for several budgets. At ε = 1 it asserts bounds that are many standard
// deviations of the noise away from what is usual: a false alarm is rarer than 1e-9.
func TestRowsOrModelOfAdult(t *testing.T) {
	testkit.Data(t, "adult14.csv")
	epsilons := []float64{1}
	if os.Getenv("DPRELEASE_LONG") != "" {
		epsilons = []float64{.1, .5, 1, 2, 4, 8}
	}
	for _, epsilon := range epsilons {
		auc := map[string]float64{}
		add := func(name string, p *performanceTruth) {
			t.Logf("ε = %v, %s: AUC %.4f, accuracy %.4f, log loss %.4f", epsilon, name, *p.AUC, *p.Accuracy, *p.LogLoss)
			auc[name] = *p.AUC
		}
		for _, method := range []string{"additive", "logistic"} {
			p := evaluateAdult(t, epsilon,
				fmt.Sprintf("models: {income: {predict: {income: \"1\"}, method: %s, %s}}\n", method, adultColumns))
			add(method, p.Published)
			add(method+" without noise", p.SameRows)
			add(method+" of other rows", p.Ceiling)
		}
		for _, method := range []string{"aim", "mst"} {
			p := evaluateAdult(t, epsilon, fmt.Sprintf("synthetic: {persons: {method: %s}}\n", method), "income=1")
			add(method, p.Microdata)
		}
		if epsilon != 1 {
			continue
		}
		for name, bounds := range map[string][2]float64{"additive of other rows": {.917, .919}, "additive": {.9, .922},
			"logistic of other rows": {.891, .894}, "logistic": {.86, .895}, "aim": {.87, .919}, "mst": {.7, .89}} {
			if auc[name] < bounds[0] || auc[name] > bounds[1] {
				t.Errorf("%s: AUC %.4f, expected %v to %v", name, auc[name], bounds[0], bounds[1])
			}
		}
	}
}
