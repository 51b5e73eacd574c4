package predict_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/predict"
)

// This file holds the small readers of examples/read/models to the program: the same predictions, and the same rows
// refused.

// dates is a model of a count by dates, timestamps and decimals, which are open and closed in other ways.
const dates = `{"target": "calls", "link": "log", "least": 0, "most": 40, "intercept": 0.5, "columns": [
  {"name": "day", "values": {"column": "day", "type": "date", "least": ["2026-01-01", "2026-02-01"], "most": "2026-12-31"},
   "categories": ["2026-01", "2026-02–2026-12"], "scores": [-2, 0.5], "errors": [0, 0], "importance": 1},
  {"name": "at.hour", "values": {"column": "at", "type": "timestamp", "least": ["2026-01-01T00:00", "2026-01-01T12:30"],
   "most": "2026-01-01T23:59:59"}, "categories": ["am", "pm"], "scores": [0.25, 1], "errors": [0, 0], "importance": 1},
  {"name": "dose", "values": {"column": "dose", "type": "decimal", "least": ["0", "0.1", "2.5"], "most": "5"},
   "categories": ["0–<0.1", "0.1–<2.5", "2.5–5"], "scores": [0, 1, 2], "errors": [0, 0, 0], "importance": 1}]}`

// readers are the small readers: how each is run on the files of a model and of rows, and which interpreter it needs.
var readers = []struct{ name, needs, check, script string }{
	{"Python", "python3", "", "score.py"},
	{"DuckDB", "python3", "import duckdb", "score.sql"},
	{"R", "Rscript", "library(jsonlite)", "score.R"},
}

// duckdb runs a script of DuckDB with two variables, and prints its answer as CSV.
const duckdb = `import csv, duckdb, sys
c = duckdb.connect()
for name, value in (("model", sys.argv[2]), ("rows", sys.argv[3])):
    c.execute(f"SET VARIABLE {name} = '{value}'")
out = csv.writer(sys.stdout)
out.writerows([["row", "prediction"], *c.execute(open(sys.argv[1], encoding="utf-8").read()).fetchall()])
`

// reader returns a function that runs a reader. It skips the test if there is no interpreter.
func reader(t *testing.T, needs, check, script string) func(model, rows string) (string, error) {
	t.Helper()
	program, err := exec.LookPath(needs)
	if err != nil {
		t.Skipf("no %s to run %s with", needs, script)
	}
	flag := "-c"
	if needs == "Rscript" {
		flag = "-e"
	}
	if out, err := exec.Command(program, flag, check).CombinedOutput(); err != nil {
		t.Skipf("%s of %s cannot %s: %s", program, script, check, out)
	}
	path := filepath.Join("..", "..", "examples", "read", "models", script)
	return func(model, rows string) (string, error) {
		args := []string{path, model, rows}
		if strings.HasSuffix(script, ".sql") {
			args = append([]string{"-c", duckdb}, args...)
		}
		var out, wrong bytes.Buffer
		c := exec.Command(program, args...)
		c.Stdout, c.Stderr = &out, &wrong
		if err := c.Run(); err != nil {
			return "", fmt.Errorf("%w: %s", err, &wrong)
		}
		return out.String(), nil
	}
}

// lastColumn returns the numbers in the last column of CSV.
func lastColumn(t *testing.T, text string) (all []float64) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		x, err := strconv.ParseFloat(line[len(line)-1], 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	return all
}

func TestReadersPredictTheSame(t *testing.T) {
	for _, r := range readers {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			run := reader(t, r.needs, r.check, r.script)
			for _, c := range []struct{ model, rows string }{
				{risk, "id,age,sex,ward,cell\n1,18,f,1,00\n2,39,m,3,00\n3,40,f,2,01\n4,99,m,1,00\n5,,f,3,01\n"},
				{risk, "cell,ward.kind,sex,age.band\n00,closed,f,40+\n01,open,m,none\n00,open,f,18–39\n"},
				{together, "id,age,sex,ward,cell\n1,18,f,1,00\n2,39,m,3,00\n3,40,f,2,01\n4,99,m,1,01\n5,,f,3,01\n"},
				{together, "cell,ward.kind,sex,age.band\n00,closed,f,40+\n01,open,m,none\n00,open,f,18–39\n"},
				{wage, "sex,schooling,ward\nf,10,1\nm,-4,3\nf,20,2\nm,4.0,1\n"},
				{chance, "id,schooling,ward.kind,sex\n1,-4,open,f\n2,20,none,m\n3,3,open,m\n"},
				{spent, "day\n2026-01-31\n2026-02-01\n2026-12-31\n"},
				{dates, "day,at,dose\n2026-01-31,2026-01-01T12:29:59,0.1\n2026-02-01,2026-01-01 12:30,2.5\n" +
					"2026-12-31,2026-01-01T23:59:59,5\n2026-01-01,2026-01-01T00:00,0.0999\n"},
			} {
				path := write(t, "m.json", c.model, "rows.csv", c.rows)
				m := filepath.Join(filepath.Dir(path), "m.json")
				var out bytes.Buffer
				if _, err := predict.Write(t.Context(), read(t, c.model), path, &out); err != nil {
					t.Fatal(err)
				}
				text, err := run(m, path)
				if err != nil {
					t.Fatal(err)
				}
				got, want := lastColumn(t, text), lastColumn(t, out.String())
				for i := range want {
					if len(got) != len(want) || !(math.Abs(got[i]-want[i]) <= 1e-9) {
						t.Fatalf("%s predicts %v, and dprelease %v", r.script, got, want)
					}
				}
			}
		})
	}
}

func TestReadersRefuseTheSame(t *testing.T) {
	for _, r := range readers {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			run := reader(t, r.needs, r.check, r.script)
			for model, refused := range map[string][]string{
				risk: {"age,sex,ward,cell\n18,f,1,00\n17,f,1,00\n", "age,sex,ward,cell\n100,f,1,00\n",
					"age,sex,ward,cell\n18.5,f,1,00\n", "age,sex,ward,cell\nold,f,1,00\n",
					"age,sex,ward,cell\n18,F,1,00\n",
					"age,sex,ward,cell\n18,,1,00\n", "age,sex,ward,cell\n18,f,4,00\n", "age,sex,cell\n18,f,00\n"},
				wage: {"schooling,sex,ward\n1,f,1\n21,f,1\n", "schooling,sex,ward\n-5,f,1\n",
					"schooling,sex,ward\n1.5,f,1\n",
					"schooling,sex,ward\n,f,1\n", "schooling,sex,ward\nten,f,1\n", "sex,ward\nf,1\n"},
			} {
				for _, rows := range refused {
					path := write(t, "m.json", model, "rows.csv", rows)
					if text, err := run(filepath.Join(filepath.Dir(path), "m.json"), path); err == nil {
						t.Errorf("%s predicts %q of %q", r.script, text, rows)
					}
				}
			}
		})
	}
}
