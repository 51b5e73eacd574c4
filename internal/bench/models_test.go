package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/spec"
)

func TestAreaUnderCurve(t *testing.T) {
	for name, c := range map[string]struct {
		scores   []float64
		positive []bool
		want     float64
	}{
		"in order":     {[]float64{1, 2, 3, 4}, []bool{false, false, true, true}, 1},
		"upside down":  {[]float64{-1, -2}, []bool{false, true}, 0},
		"all equal":    {[]float64{2, 2, 2}, []bool{true, false, true}, .5},
		"one in four":  {[]float64{3, 1, 4, 2}, []bool{false, false, true, true}, .75},
		"one is equal": {[]float64{1, 2, 1}, []bool{false, true, true}, .75},
	} {
		if got := areaUnderCurve(c.scores, c.positive); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// made returns rows of the columns that Adult and taxi trips have, where age and fare say much of what is predicted.
func made(set string, rows int) string {
	r := rand.New(rand.NewPCG(7, 7))
	var b strings.Builder
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	if set == "adult" {
		b.WriteString("age,workclass,education_num,marital_status,occupation,relationship,race,sex,capital_gain," +
			"capital_loss,hours_per_week,native_country,income\n")
		for range rows {
			age, income := 17+r.IntN(74), "<=50K"
			if r.IntN(74) < age-17 {
				income = ">50K"
			}
			fmt.Fprintf(&b, "%d,%s,%d,%s,%s,%s,%s,%s,%s,0,%d,%s,%s\n", age, pick("?", "Private"), 1+r.IntN(16),
				pick("Never-married", "Divorced"), pick("Sales", "?"), pick("Husband", "Wife"), pick("White", "Other"),
				pick("Male", "Female"), pick("0", "99999"), 1+r.IntN(99), pick("United-States", "Cuba"), income)
		}
		return b.String()
	}
	b.WriteString("shift,company_id,pickup_community_area,dropoff_community_area,payment_type,fare,trip_seconds," +
		"trip_miles\n")
	for range rows {
		fare := r.IntN(11)
		fmt.Fprintf(&b, "%d,%d,%d,%d,%d,%d,%d,%d\n", r.IntN(21), r.IntN(3), r.IntN(3), r.IntN(3),
			1+max(0, r.IntN(11)-fare), fare, r.IntN(11), r.IntN(11))
	}
	return b.String()
}

// TestModelSets reads made-up rows, and checks what follows from them by rules, and that the specs are ones.
func TestModelSets(t *testing.T) {
	for _, s := range modelSets {
		path := filepath.Join(t.TempDir(), s.name+".csv")
		if err := os.WriteFile(path, []byte(made(s.name, 50)), 0o600); err != nil {
			t.Fatal(err)
		}
		got, rows, err := s.read(path)
		if err != nil || len(rows) != 50 {
			t.Fatalf("%s: %d rows, %v", s.name, len(rows), err)
		}
		classes := got.target().Values
		if !slices.Contains(classes, s.positive) || len(classes) != 2 || s.target().Values != nil {
			t.Errorf("%s: classes %q", s.name, classes)
		}
		for _, method := range []string{"additive", "logistic"} {
			var text strings.Builder
			if err := got.writeSpec(&text, "rows.csv", method, .5, 1000); err != nil {
				t.Fatal(err)
			}
			if _, err := spec.Parse(spec.Source{Name: "bench.yaml", Text: text.String()}); err != nil {
				t.Errorf("%s, %s: %v", s.name, method, err)
			}
			wanted := method != "additive" && s.name == "adult"
			if squares := strings.Contains(text.String(), "age_squared"); squares != wanted {
				t.Errorf("%s, %s has the square of the age: %v", s.name, method, squares)
			}
		}
	}
	s := modelSets[0]
	path := filepath.Join(t.TempDir(), "adult.csv")
	line := "age,workclass,education_num,marital_status,occupation,relationship,race,sex,capital_gain,capital_loss," +
		"hours_per_week,native_country,income\n90,?,16,Widowed,Sales,Wife,White,Female,%s,0,99,Cuba,>50K\n"
	if err := os.WriteFile(path, []byte(fmt.Sprintf(line, "99999")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, rows, err := s.read(path)
	want := []string{"90", "81", "16", "99", "115", "0", "?", "Widowed", "Sales", "Wife", "White", "Female", "no",
		">50K"}
	if err != nil || len(rows) != 1 || !slices.Equal(rows[0], want) {
		t.Errorf("%q, %v; want %q", rows, err, want)
	}
	if err := os.WriteFile(path, []byte(fmt.Sprintf(line, "much")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.read(path); err == nil || !strings.Contains(err.Error(), "row 1, column capital_gain") {
		t.Errorf("a gain that is no number: %v", err)
	}
}

// TestModelsRun fits all models to made-up rows, of which those of age a are positive with a chance of (a−17)/74. The
// AUC of the age itself is 5/6 on average. At ε = 8 our models come near, and so do peers that python3 can import.
func TestModelsRun(t *testing.T) {
	if testing.Short() {
		t.Setenv("PATH", t.TempDir()) // without python3
	}
	path := filepath.Join(t.TempDir(), "adult.csv")
	if err := os.WriteFile(path, []byte(made("adult", 6000)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, rows, err := modelSets[0].read(path)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{options: options{runs: 1}, progress: io.Discard}
	methods, err := b.fitSplits(t.Context(), s, rows, []float64{8})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range methods {
		there := m.who == ownName || exec.Command("python3", "-c", "import "+m.who).Run() == nil
		if measured := m.areas != nil; measured != there {
			t.Errorf("%s is there: %v, was measured: %v", m.name(), there, measured)
		}
		if m.areas == nil {
			t.Logf("%s is not there: python3 cannot import it", m.name())
			continue
		}
		if area := m.areas[0][0]; area < .75 || area > .87 || !(m.seconds[0][0] > 0) {
			t.Errorf("%s has AUC %v after %v s", m.name(), area, m.seconds[0][0])
		}
	}
}

func TestModelsAreSkipped(t *testing.T) {
	t.Setenv(testkit.Variable, t.TempDir())
	var out, said bytes.Buffer
	if err := run(t.Context(), []string{"-models", "adult,taxi"}, &out, &said); err != nil ||
		strings.Count(out.String(), "skipped") != 2 {
		t.Errorf("%v\n%s", err, out.String())
	}
	if err := run(t.Context(), []string{"-models", "iris"}, &out, &said); err == nil {
		t.Error("a set that there is not is taken")
	}
}

// TestModelTable prints figures of two splits, and compares ours with the best of the peers.
func TestModelTable(t *testing.T) {
	epsilons := []float64{.1, .5}
	same := func(values ...float64) [][]float64 { return [][]float64{values, values} }
	methods := []*method{{who: ownName, words: "additive", areas: same(.9, .88), seconds: same(1, 2)},
		{who: ownName, words: "logistic", areas: same(.95, .95), seconds: same(1, 1)},
		{who: "interpret", version: "1.2", words: "DP-EBM", areas: same(.8, .8), seconds: same(4, 5)},
		{who: "opacus", words: "DP-SGD"}}
	methods[2].areas[1] = []float64{.91, .91}
	var out bytes.Buffer
	if err := writeMethods(&out, methods, epsilons); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.8900 ± 0.0141", "1.5", "4.5", "opacus, DP-SGD", "not installed",
		"ε = 0.1: at least as good as every peer: met, by 0.0900 ± 0.0100 (interpret 1.2, DP-EBM)",
		"ε = 0.5: at least as good as every peer: MISSED, by 0.0200 ± 0.0100 (interpret 1.2, DP-EBM)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, out.String())
		}
	}
	if got := verdictAt(methods[:2], 0); got != notMeasured {
		t.Errorf("without peers: %s", got)
	}
	few := &method{}
	for name, got := range map[string]*fits{"too few models": {}, "too few scores": {Fits: make([]fit, 2)}} {
		if err := few.note(got, []bool{true, false}, 2); err == nil {
			t.Errorf("%s are taken", name)
		}
	}
}
