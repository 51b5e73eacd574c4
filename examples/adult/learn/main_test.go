package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/spec"
	"github.com/parquet-go/parquet-go"
)

// row is a row of a file, all codes as text; the attributes that a test does not speak of are 0.
func row(age, education, sex, income int) []string {
	out := []string{fmt.Sprint(age), "0", "0", fmt.Sprint(education), "0", "0", "0", "0", fmt.Sprint(sex), "0", "0",
		"0",
		"0", fmt.Sprint(income)}
	return out
}

// group is so many people of one kind, of whom some have an income above.
type group struct{ age, education, sex, rich, all int }

// peopleOf are groups of people.
func peopleOf(t *testing.T, groups ...group) (p people) {
	t.Helper()
	for _, g := range groups {
		for i := range g.all {
			above := 0
			if i < g.rich {
				above = 1
			}
			r := row(g.age, g.education, g.sex, above)
			at, err := places(header)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.add(func(name string) string { return r[at[name]] }); err != nil {
				t.Fatal(err)
			}
		}
	}
	return p
}

var header = strings.Split(
	"age,workclass,fnlwgt,education-num,marital-status,occupation,relationship,race,sex,capital-gain,capital-loss,hours-per-week,native-country,income>50K", ",")

// The gradient is that of the loss, by differences.
func TestGradient(t *testing.T) {
	p := peopleOf(t, group{10, 3, 0, 2, 5}, group{80, 15, 1, 4, 5})
	beta := make([]float64, coefficients())
	for i := range beta {
		beta[i] = math.Sin(float64(i))
	}
	got := make([]float64, len(beta))
	p.gradient(got, beta)
	for i := range beta {
		const step = 1e-5
		at := func(by float64) float64 {
			moved := append([]float64(nil), beta...)
			moved[i] += by
			return p.loss(moved)
		}
		// the third derivative is below 1, so 1e-10, and rounding 1e-16·10/1e-5
		if want := (at(step) - at(-step)) / (2 * step); math.Abs(got[i]-want) > 1e-6 {
			t.Errorf("coefficient %d: %v, want %v", i, got[i], want)
		}
	}
}

// With many people of two kinds the chances that are learned are the shares: the penalty moves them by less than a
// thousandth.
func TestFitLearnsShares(t *testing.T) {
	p := peopleOf(t, group{20, 5, 0, 400, 2000}, group{20, 5, 1, 1200, 2000})
	model, err := fit(p)
	if err != nil {
		t.Fatal(err)
	}
	scores := model.scores(p)
	for at, want := range map[int]float64{0: 0.2, 3000: 0.6} {
		if got := 1 / (1 + math.Exp(-scores[at])); math.Abs(got-want) > 2e-3 {
			t.Errorf("row %d: %v, want %v", at, got, want)
		}
	}
	if _, err := fit(peopleOf(t, group{20, 5, 0, 3, 3})); err == nil {
		t.Error("there is something to learn of one class")
	}
}

// Accuracy and area under the curve are those of all rows and all pairs.
func TestScores(t *testing.T) {
	scores, above := []float64{-2, 1, 1, -2, 0.5, 3, -1}, []bool{false, true, false, true, true, true, false}
	right, pairs, better := 0.0, 0.0, 0.0
	for i := range scores {
		if scores[i] > 0 == above[i] {
			right++
		}
		for j := range scores {
			if above[i] && !above[j] {
				pairs++
				switch {
				case scores[i] > scores[j]:
					better++
				case scores[i] == scores[j]:
					better += 0.5
				}
			}
		}
	}
	if got := accuracy(scores, above); math.Abs(got-right/7) > 1e-12 { // a division
		t.Errorf("accuracy %v, want %v", got, right/7)
	}
	if got := areaUnderCurve(scores, above); math.Abs(got-better/pairs) > 1e-12 { // a few roundings
		t.Errorf("AUC %v, want %v", got, better/pairs)
	}
}

// person is a row of microdata as they are published.
type person struct {
	Age          int64  `parquet:"age"`
	Workclass    string `parquet:"workclass"`
	Label        string `parquet:"workclass_label"`
	Fnlwgt       int64  `parquet:"fnlwgt"`
	Education    int64  `parquet:"education_num"`
	Marital      string `parquet:"marital_status"`
	Occupation   string `parquet:"occupation"`
	Relationship string `parquet:"relationship"`
	Race         string `parquet:"race"`
	Sex          string `parquet:"sex"`
	Gain         int64  `parquet:"capital_gain"`
	Loss         int64  `parquet:"capital_loss"`
	Hours        int64  `parquet:"hours_per_week"`
	Country      string `parquet:"native_country"`
	Income       string `parquet:"income"`
}

// Both kinds of file are read, and the outcome is marked. Women earn above here, men below, and the microdata have it
// the other way about.
func TestLearn(t *testing.T) {
	dir := t.TempDir()
	var truth bytes.Buffer
	fmt.Fprintln(&truth, strings.Join(header, ","))
	var drawn []person
	for i := range 40 {
		sex := i % 2
		fmt.Fprintln(&truth, strings.Join(row(30, 8, sex, 1-sex), ","))
		drawn = append(drawn, person{30, "0", "", 0, 8, "0", "0", "0", "0", fmt.Sprint(sex), 0, 0, 0, "0",
			fmt.Sprint(sex)})
	}
	path, microdata := filepath.Join(dir, "truth.csv"), filepath.Join(dir, "persons.parquet")
	if err := os.WriteFile(path, truth.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(microdata, drawn); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := learn(&out, path, microdata, path); err != nil {
		t.Fatal(err)
	}
	want := `COMPUTED FROM THE TRUTH: no part of any release

trained on       rows  accuracy     AUC
the truth          40    1.0000  1.0000
the microdata      40    0.0000  0.0000
nothing                  0.5000  0.5000
`
	if out.String() != want {
		t.Errorf("printed\n%s, want\n%s", out.String(), want)
	}
	for name, text := range map[string]string{
		"no column income": "age,sex\n1,2\n", "row 1: age is no code": strings.Join(header, ",") + "\n" +
			strings.Join(row(85, 1, 1, 1), ",") + "\n",
		"row 1: income is not 0 or 1": strings.Join(header, ",") + "\n" + strings.Join(row(1, 1, 1, 2), ",") + "\n",
		"all incomes are alike":       strings.Join(header, ",") + "\n" + strings.Join(row(1, 1, 1, 1), ",") + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := learn(&out, path, microdata, path); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The columns that are learned from are those of the microdata, with as many categories.
func TestAttributesAreThoseOfTheSpec(t *testing.T) {
	r, err := spec.Load(t.Context(), filepath.Join("..", "microdata.yaml"), spec.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range append(attributes, attribute{name: income, size: 2}) {
		by := r.Synthetic[0].By[i]
		if size := r.Table("persons").Column(by.Column).Domain.Size(); by.String() != a.name || size != a.size {
			t.Errorf("column %d is %s of %d categories in the spec, and %s of %d here", i+1, by, size, a.name, a.size)
		}
	}
}

// What the README says of the truth is so: the regression is a public function of public files.
func TestLearnOfAdult(t *testing.T) {
	if os.Getenv("DPRELEASE_LONG") == "" {
		t.Skip("trains on 32 561 rows: set DPRELEASE_LONG=1")
	}
	if _, err := planfile.Load(t.Context(), planfile.Spec{Path: filepath.Join("..", "microdata.yaml")}); err != nil {
		t.Errorf("the spec cannot be planned: %v", err)
	}
	f, err := os.Open(testkit.Data(t, "adult14.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir := t.TempDir()
	train, test := filepath.Join(dir, "adult-train.csv"), filepath.Join(dir, "adult-test.csv")
	var parts [2]bytes.Buffer // adult.data has 32 561 rows, adult.test the others
	in := bufio.NewScanner(f)
	for line := 0; in.Scan(); line++ {
		for i, is := range []bool{line <= 32_561, line == 0 || line > 32_561} {
			if is {
				fmt.Fprintln(&parts[i], in.Text())
			}
		}
	}
	for i, path := range []string{train, test} {
		if err := os.WriteFile(path, parts[i].Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := readCSV(train)
	if err != nil {
		t.Fatal(err)
	}
	heldOut, err := readCSV(test)
	if err != nil {
		t.Fatal(err)
	}
	model, err := fit(p)
	if err != nil {
		t.Fatal(err)
	}
	scores := model.scores(heldOut)
	if got := fmt.Sprintf("%d %d %.3f %.3f", len(p.incomes), len(heldOut.incomes), accuracy(scores, heldOut.incomes),
		areaUnderCurve(scores, heldOut.incomes)); got != "32561 16281 0.851 0.904" {
		t.Errorf("got %s", got)
	}
}
