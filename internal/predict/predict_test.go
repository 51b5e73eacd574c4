package predict_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/predict"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/synth/model"
	"github.com/parquet-go/parquet-go"
)

// risk is a model of four columns: a range with a category for missing values, one of listed categories, groups of
// listed values, and cells that no single column gives.
const risk = `{"target": "returned", "link": "logit", "classes": ["no", "yes"], "least": 0, "most": 1, "intercept": -1,
 "columns": [
  {"name": "age.band", "values": {"column": "age", "type": "integer", "least": ["18", "40"], "most": "99",
    "missing": "none"}, "categories": ["18–39", "40+", "none"], "scores": [-0.5, 0.25, 1], "errors": [0, 0, 0],
    "importance": 0.3},
  {"name": "sex", "values": {"column": "sex"}, "categories": ["f", "m"], "scores": [0, 0.125], "errors": [0, 0],
    "importance": 0.1},
  {"name": "ward.kind", "values": {"column": "ward", "of": [["1", "2"], ["3"]]}, "categories": ["open", "closed"],
    "scores": [0, 2], "errors": [0, 0], "importance": 1},
  {"name": "cell", "categories": ["00", "01"], "scores": [0, 4], "errors": [0, 0], "importance": 2}]}`

// together is the same model with tables of pairs, the columns of one in another order than in the model.
var together = strings.Replace(risk, `"importance": 2}]}`, `"importance": 2}],
 "pairs": [
  {"columns": ["sex", "cell"], "scores": [[0, 8], [16, 32]], "errors": [[0, 0], [0, 0]], "importance": 1},
  {"columns": ["ward.kind", "age.band"], "scores": [[0.5, 0, -0.5], [64, 128, 256]], "errors": [[0, 0, 0], [0, 0, 0]],
   "importance": 1}]}`, 1)

// spent is a model of a number.
const spent = `{"target": "cost", "link": "identity", "least": 0, "most": 50, "intercept": 10, "columns": [
  {"name": "day", "values": {"column": "day", "type": "date", "least": ["2026-01-01", "2026-02-01"], "most": "2026-12-31"},
   "categories": ["2026-01", "2026-02–2026-12"], "scores": [-20, 5], "errors": [0, 0], "importance": 1}]}`

// wage is a linear regression by a number, two categories and groups of values.
const wage = `{"method": "linear", "target": "wage", "rows": 99.5, "confidence": 0.95, "columns": [
  {"name": "schooling", "values": {"column": "schooling", "type": "integer", "least": ["-4"], "most": "20"}},
  {"name": "sex", "values": {"column": "sex"}, "categories": ["f", "m"]},
  {"name": "ward.kind", "values": {"column": "ward", "of": [["1", "2"], ["3"]], "missing": "none"}, "categories": ["open", "none"]}],
 "terms": [{"coefficient": 3, "noise_error": 1, "standard_error": 2, "low": -1, "high": 7, "noise_share": 0.25, "weight": 2},
  {"column": "schooling", "weight": 0.5}, {"column": "sex", "category": "f", "weight": -0.25, "flags": ["reference"]},
  {"column": "sex", "category": "m", "coefficient": 0.5, "weight": 0.25},
  {"column": "ward.kind", "category": "open", "weight": 1}, {"column": "ward.kind", "category": "none", "weight": -8}],
 "residual_variance": 2, "r_squared": 0.5, "flags": ["few rows"]}`

// chance is the logistic regression of the same columns.
var chance = strings.NewReplacer(`"linear"`, `"logistic"`, `"rows"`, `"positive": "high", "rows"`).Replace(wage)

// write writes files into a folder, and returns the path of the last.
func write(t *testing.T, files ...string) string {
	t.Helper()
	path, dir := "", t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path = filepath.Join(dir, files[i])
		if err := os.WriteFile(path, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// read reads a model.
func read(t *testing.T, text string) *model.Predictor {
	t.Helper()
	m, err := predict.ReadModel(write(t, "m.json", text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// scores returns the predictions of the rows of a file, as log-odds.
func scores(t *testing.T, m *model.Predictor, path string) (all []float64) {
	t.Helper()
	var out bytes.Buffer
	rows, err := predict.Write(t.Context(), m, path, &out)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil || int64(len(lines)) != rows+1 {
		t.Fatalf("%d lines, %d rows: %v", len(lines), rows, err)
	}
	for _, line := range lines[1:] {
		p, err := strconv.ParseFloat(line[len(line)-1], 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, math.Log(p/(1-p)))
	}
	return all
}

func same(got, want []float64) bool {
	for i := range got {
		if len(got) != len(want) || !(math.Abs(got[i]-want[i]) < 1e-9) {
			return false
		}
	}
	return true
}

// TestPairsArePredicted: the entry of both categories is added to those of the columns.
func TestPairsArePredicted(t *testing.T) {
	m := read(t, together)
	path := write(t, "rows.csv", "age,sex,ward,cell\n18,f,1,00\n40,f,2,00\n,f,1,00\n18,f,1,01\n")
	if got, want := scores(t, m, path), []float64{-1, -.75, -.5, 11}; !same(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, c := range []struct{ old, wrong string }{
		{`["sex", "cell"]`, `["sex", "age"]`},
		{`["sex", "cell"]`, `["sex", "sex"]`},
		{`[[0, 8], [16, 32]]`, `[[0, 8]]`},
		{`[[0, 8], [16, 32]]`, `[[0, 8], [16]]`},
		{`[16, 32]]`, `[16, 1e300]]`},
	} {
		path := write(t, "m.json", strings.Replace(together, c.old, c.wrong, 1))
		if _, err := predict.ReadModel(path); err == nil {
			t.Errorf("%s in place of %s is read", c.wrong, c.old)
		}
	}
}

func TestRowsArePredicted(t *testing.T) {
	m := read(t, risk)
	for name, c := range map[string]struct {
		text string
		want []float64
	}{
		"values":     {"id,age,sex,ward,cell\n1,18,f,1,00\n2,39,m,3,00\n3,40,f,2,01\n", []float64{-1.5, .625, 3.25}},
		"categories": {"cell;ward.kind;sex;age.band\n00;closed;f;40+\n00;open;f;none\n", []float64{1.25, 0}},
		"missing":    {"age,sex,ward,cell\n,f,1,00\n", []float64{0}},
		"decimals":   {"age,sex,ward,cell\n40.0,f,1,00\n", []float64{-.75}},
		"no rows":    {"age,sex,ward,cell\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := scores(t, m, write(t, "rows [1].csv", c.text)); !same(got, c.want) {
				t.Errorf("scores %v, want %v", got, c.want)
			}
		})
	}
	var out bytes.Buffer
	if _, err := predict.Write(t.Context(), read(t, spent), write(t, "r.csv", "day\n2026-01-31\n2026-02-01\n"),
		&out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "day,prediction\n2026-01-31,0\n2026-02-01,15\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRowsOfParquet(t *testing.T) {
	type row struct {
		Age  *int32  `parquet:"age"`
		Sex  string  `parquet:"sex"`
		Ward int64   `parquet:"ward"`
		Cell string  `parquet:"cell"`
		Pay  float64 `parquet:"pay"`
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	age := int32(50)
	if err := parquet.WriteFile(path, []row{{&age, "m", 3, "01", 1.5}, {nil, "f", 1, "00", math.NaN()}}); err != nil {
		t.Fatal(err)
	}
	if got := scores(t, read(t, risk), path); !same(got, []float64{5.375, 0}) {
		t.Errorf("scores %v", got)
	}
	var out bytes.Buffer
	if _, err := predict.Write(t.Context(), read(t, risk), path, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"age,sex,ward,cell,pay,prediction\n50,m,3,01,1.5,0.", "\n,f,1,00,,0.5\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q lacks %q", out.String(), want)
		}
	}
}

// TestRegressionsPredict: a number adds its weight times itself, and a category its weight. The sum of a linear
// regression is bounded by nothing.
func TestRegressionsPredict(t *testing.T) {
	rows := write(t, "r.csv", "ward,schooling,sex\n1,10,f\n3,20,m\n,-4,f\n2,4.0,m\n")
	sums := []float64{2 + 5 - .25 + 1, 2 + 10 + .25 - 8, -.25 - 8, 2 + 2 + .25 + 1}
	if got := scores(t, read(t, chance), rows); !same(got, sums) {
		t.Errorf("log-odds %v, want %v", got, sums)
	}
	var out bytes.Buffer
	if _, err := predict.Write(t.Context(), read(t, wage), rows, &out); err != nil {
		t.Fatal(err)
	}
	if got := lastColumn(t, out.String()); !same(got, sums) {
		t.Errorf("predictions %v, want %v", got, sums)
	}
	type row struct {
		Schooling float64 `parquet:"schooling"`
		Sex       string  `parquet:"sex"`
		Kind      string  `parquet:"ward.kind"`
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquet.WriteFile(path, []row{{10, "f", "open"}, {20, "m", "none"}}); err != nil {
		t.Fatal(err)
	}
	if got := scores(t, read(t, chance), path); !same(got, sums[:2]) {
		t.Errorf("log-odds %v of Parquet, want %v", got, sums[:2])
	}
}

// TestNumbersThatAreRefused: a number must lie in the range in which rows were counted.
func TestNumbersThatAreRefused(t *testing.T) {
	m := read(t, wage)
	for value, want := range map[string]string{
		"21": "the value is no whole number in the range", "-5": "the value is no whole number in the range",
		"1.5": "the value is no whole number in the range", "NaN": "the value is not a number, and no whole number",
		"ten": "the value is not a number, and no whole number", "": "the value is missing, and the model has no " +
			"category for that",
		"1_0": "the value is not a number", "0x5": "the value is not a number",
	} {
		_, err := predict.Write(t.Context(), m, write(t, "r.csv", "schooling,sex,ward\n1,f,1\n"+value+",f,1\n"),
			io.Discard)
		const allowed = "; expected a value from -4 to 20: correct it, or leave the row out"
		if !verdict.Has[*predict.Unfit](err) || !strings.HasSuffix(err.Error(), allowed) ||
			!strings.Contains(err.Error(), "line 3, column schooling: "+want) {
			t.Errorf("%q: %v, want %s", value, err, want)
		}
	}
}

// TestRegressionsThatAreRefused: a regression may come from anybody, too.
func TestRegressionsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`"linear"`, `"cubic"`, `"cubic" is no method of a regression`},
		{`"rows"`, `"row"`, `unknown field "row"`},
		{wage, wage + "1", "there is more after it"},
		{`"columns"`, `"flags"`, "reading a model"},
		{`"weight": 2}`, `"weight": 2e201}`, "within ±1e+200"},
		{`{"coefficient": 3`, `{"column": "sex", "coefficient": 3`, "begin with its intercept"},
		{`"name": "ward.kind"`, `"name": "sex"`, `column "sex" of a model appears twice`},
		{`"name": "ward.kind"`, `"name": "ward"`, `column "ward" of a model: it has one term`},
		{`["f", "m"]`, `["m", "f"]`, `column "sex" of a model: it has one term`},
		{`["f", "m"]`, `["f"]`, `column "ward.kind" of a model: it has one term`},
		{`["open", "none"]`, `["open", "none", "shut"]`,
			`column "ward.kind" of a model: it has lists of values for 2 of 3 categories`},
		{`["-4"]`, `["-4", "0"]`, `column "schooling" of a model: a number has a range of integers`},
		{`"integer"`, `"decimal"`, "a number has a range of integers"},
		{`["-4"]`, `["40"]`, "the edges of a range ascend"},
		{`, "values": {"column": "schooling", "type": "integer", "least": ["-4"], "most": "20"}`, ``,
			"a number has a range of integers"},
		{`"weight": -8}`, `"weight": -8}, {"column": "age", "weight": 1}`, `a term of a regression is of "age"`},
	} {
		text := strings.Replace(wage, c.from, c.to, 1)
		_, err := predict.ReadModel(write(t, "m.json", text))
		if !verdict.Has[*verdict.Unusable](err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in place of %s: %v", c.to, c.from, err)
		}
	}
}

// TestRowsThatAreRefused: nothing is guessed. A message has the line, the column and what is allowed, and no value.
func TestRowsThatAreRefused(t *testing.T) {
	m := read(t, risk)
	for _, c := range []struct{ text, want string }{
		{"age,sex,ward,cell\n18,f,1,00\n17,f,1,00\n", "line 3, column age: the value is in no category of the model"},
		{"age,sex,ward,cell\n100,f,1,00\n", "line 2, column age: the value is in no category"},
		{"age,sex,ward,cell\n18.5,f,1,00\n", "line 2, column age: the value is in no category"},
		{"age,sex,ward,cell\nold,f,1,00\n", "line 2, column age: the value is not a number, and in no category"},
		{"age,sex,ward,cell\n18,F,1,00\n", "line 2, column sex: the value is in no category"},
		{"age,sex,ward,cell\n18,,1,00\n",
			"line 2, column sex: the value is missing, and the model has no category for that"},
		{"age,sex,ward,cell\n18,f,4,00\n", "line 2, column ward: the value is in no category"},
		{"age,sex,ward,cell\n18,f,open,00\n", "line 2, column ward: the value is in no category"},
		{"age.band,sex,ward,cell\n18,f,1,00\n", "line 2, column age.band: the value is in no category"},
		{"age,sex,ward,cell\n18–39,f,1,00\n", "line 2, column age: the value is not a number"},
		{"age,age.band,sex,ward,cell\n18,40+,f,1,00\n", "column age.band: the file also has age, which says the same"},
		{"age,sex,cell\n18,f,00\n", "column ward.kind: the file does not have it, nor ward, and the model predicts by it"},
		{"age,sex,ward\n18,f,1\n", "column cell: the file does not have it, and the model predicts by it"},
		{"age,sex,ward,cell,prediction\n18,f,1,00,1\n",
			"column prediction: this is the name of the column that is added"},
	} {
		path := write(t, "rows.csv", c.text)
		_, err := predict.Write(t.Context(), m, path, &bytes.Buffer{})
		unfit, ok := errors.AsType[*predict.Unfit](err)
		if !ok || !strings.HasPrefix(err.Error(), path+": "+c.want) {
			t.Errorf("%q: %v", c.text, err)
		} else if v := unfit.Verdict(); v.Exit != verdict.ExitData || v.Retry != verdict.Never {
			t.Errorf("%q: %+v", c.text, v)
		}
	}
}

// TestRowsThatAreFound: a message names the line on which the row begins, wherever fields and blank lines end it, and
// lists what the model allows. Parquet has rows only.
func TestRowsThatAreFound(t *testing.T) {
	m := read(t, risk)
	many := strings.Replace(risk, `["00", "01"], "scores": [0, 4], "errors": [0, 0]`,
		`["a", "b", "c", "d", "e", "f", "g", "h", "i\u001b", "j"], "scores": [0, 4, 0, 0, 0, 0, 0, 0, 0, 0], "errors": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]`, 1)
	blocks := "age,sex,ward,cell\n" + strings.Repeat("18,f,1,00\n", 300_000) + "1,f,1,00\n"
	for _, c := range []struct {
		m          *model.Predictor
		text, want string
	}{
		{m, "age,sex,ward,cell,\"no\nte\"\n18,f,1,00,\"a\n\nb\"\n\r\n\n17,f,1,00,x\n", "line 8, column age: the " +
			"value is in no category of the model; expected a value from 18 to 99: correct it, or leave the row out"},
		{m, "age,sex,ward,cell\r\n18,x,1,00\r\n", "line 2, column sex: the value is in no category of the model; " +
			"expected one of f, m: correct it, or leave the row out"},
		{m, "age,sex,ward,cell\n18,f,,00\n", "line 2, column ward: the value is missing, and the model has no " +
			"category for that; expected one of 1, 2, 3: correct it, or leave the row out"},
		{m, "age.band,sex,ward,cell\n18,f,1,00\n", "line 2, column age.band: the value is in no category of the " +
			"model; expected one of 18–39, 40+, none: correct it, or leave the row out"},
		{read(t, many), "age,sex,ward,cell\n18,f,1,x\n", "line 2, column cell: the value is in no category of the " +
			"model; expected one of a, b, c, d, e, f, g, h and 2 more: correct it, or leave the row out"},
		{m, blocks, "line 300002, column age: the value"},
	} {
		path := write(t, "rows.csv", c.text)
		if _, err := predict.Write(t.Context(), c.m, path, io.Discard); err == nil ||
			!strings.HasPrefix(err.Error(), path+": "+c.want) {
			t.Errorf("%.100q: %v", c.text, err)
		}
	}
	type row struct {
		Age  int32  `parquet:"age"`
		Sex  string `parquet:"sex"`
		Ward int64  `parquet:"ward"`
		Cell string `parquet:"cell"`
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquet.WriteFile(path, []row{{50, "m", 3, "01"}, {50, "m", 9, "01"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := predict.Write(t.Context(), m, path, io.Discard); err == nil ||
		!strings.HasPrefix(err.Error(), path+": row 2, column ward: the value is in no category of the model; "+
			"expected one of 1, 2, 3") {
		t.Error(err)
	}
}

// TestModelsThatAreRefused: a model may come from anybody.
func TestModelsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{risk, "", "reading a model: EOF"},
		{risk, "null", "is no link of a model"},
		{risk, risk + risk, "there is more after it"},
		{`"logit"`, `"probit"`, "is no link"},
		{`["no", "yes"]`, `["yes"]`, "two classes"},
		{`"scores": [0, 0.125]`, `"scores": [0]`, `column "sex" of a model: it has a score and an error for each`},
		{`"scores": [0, 0.125]`, `"scores": [0, 1e19]`, `column "sex" of a model: the numbers of a model are within`},
		{`"intercept": -1`, `"intercept": 1e300`, "the numbers of a model are within"},
		{`["f", "m"]`, `["f", "f"]`, `it has "f" twice`},
		{`[["1", "2"], ["3"]]`, `[["1", "2"], ["1"]]`, `it has "1" twice`},
		{`[["1", "2"], ["3"]]`, `[["1", "2"]]`, "lists of values for 1 of 2 categories"},
		{`["18", "40"]`, `["18", "18"]`, "the edges of a range ascend"},
		{`["18", "40"]`, `["18", "x"]`, "an edge of a range is no integer"},
		{`["18", "40"]`, `["1", "2", "3", "4"]`, "its range has more parts than it has categories"},
		{`"type": "integer"`, `"type": "cube"`, "a range is of integers"},
		{`"missing": "none"`, `"missing": "lost"`, "missing values have no category of it"},
		{`"column": "ward", `, ``, "its categories are made of no column"},
		{`"sex", "values"`, `"age.band", "values"`, `column "age.band" of a model appears twice`},
		{`"importance": 1`, `"importance": 1, "code": "x"`, `unknown field "code"`},
		{`"most": "99"`, `"most": "99", "of": []`, "it has both a range and lists of values"},
	} {
		_, err := predict.ReadModel(write(t, "m.json", strings.Replace(risk, c.from, c.to, 1)))
		if !verdict.Has[*verdict.Unusable](err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in place of %s: %v", c.to, c.from, err)
		}
	}
	if _, err := predict.ReadModel(t.TempDir()); !verdict.Has[*verdict.Unusable](err) {
		t.Errorf("a folder: %v", err)
	}
}

// FuzzModel: no model makes prediction panic, or predicts what is no number in its range.
func FuzzModel(f *testing.F) {
	f.Add(risk, "age,sex,ward,cell\n18,f,1,00\n")
	f.Add(wage, "schooling,sex,ward\n1,f,1\n")
	f.Add(chance, "schooling,sex,ward\n-4,m,3\n")
	f.Add(spent, "day\n2026-01-31\n")
	f.Add(strings.Replace(spent, `"identity"`, `"log"`, 1), "day\n2026-02-01\n")
	f.Fuzz(func(t *testing.T, text, rows string) {
		m, err := model.Read([]byte(text))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if _, err := predict.Write(context.Background(), m, write(t, "rows.csv", rows), &out); err != nil {
			return
		}
		lines, err := csv.NewReader(&out).ReadAll()
		if err != nil {
			return // a row of the file that CSV cannot hold
		}
		for _, line := range lines[1:] {
			p, err := strconv.ParseFloat(line[len(line)-1], 64)
			if err != nil || !(p >= m.Least && p <= m.Most) {
				t.Errorf("prediction %v of %v to %v", line[len(line)-1], m.Least, m.Most)
			}
		}
	})
}
