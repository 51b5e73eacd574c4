package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/engine"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth/model"
	"github.com/parquet-go/parquet-go"
)

// This file tests that models are fitted to the same rows wherever these are: under one key all rounds have the same
// noisy integers, bit for bit.

// fitted is a release of an additive model with held-out rows, of a mean and of a regression, in whose place of a
// source a test puts its own.
const fitted = `version: 1
release: fitted
privacy: {protects: person, neighbours: add-remove, account: fitted}
budget: {rho: 1, split: {risk: 1/2, pays: 1/4, line: 1/4}}
tables:
  people:
    source: SOURCE
    unit: {id: id, max_rows: 2}
    expect: {rows: [1000, 3000]}
    columns:
      kind: {values: [a, A, b], unknown: drop, null: {as: b}}
      age: {type: integer, range: [0, 99], levels: {band: {width: 20}}, unknown: drop, null: drop}
      pay: {type: integer, range: [-20, 20], unknown: drop, null: drop}
      ill: {values: ["no", "yes"], null: drop}
models:
  risk: {predict: {ill: "yes"}, by: [kind, age.band, pay], test: 25%}
  pays: {predict: pay, by: [kind, age]}
  line: {predict: pay, by: [kind, age, ill], method: linear}
`

// patient is a row.
type patient struct {
	ID string `parquet:"id"` // a text, as in CSV: which rows of a unit stay depends on it

	Kind *string `parquet:"kind,optional"`
	Age  int64   `parquet:"age"`
	Pay  int64   `parquet:"pay"`
	Ill  string  `parquet:"ill"`
}

// drawPatients returns rows of which some are equal, some out of range, and some of units with more than two.
func drawPatients(rows int) (all []patient) {
	r := rand.New(rand.NewPCG(5, 7))
	for range rows {
		p := patient{ID: fmt.Sprint("p", r.IntN(rows/2)), Age: r.Int64N(104) - 2, Pay: r.Int64N(44) - 22, Ill: "no"}
		if r.Int64N(140) < p.Age {
			p.Ill = "yes"
		}
		if kind := []string{"a", "A", "b", "c", ""}[r.IntN(5)]; kind != "" {
			p.Kind = &kind
		}
		all = append(all, p)
	}
	return all
}

// texts returns the values of a row, with what stands for a missing one.
func (p patient) texts(missing, quote string) []string {
	kind := missing
	if p.Kind != nil {
		kind = quote + *p.Kind + quote
	}
	return []string{quote + p.ID + quote, kind, fmt.Sprint(p.Age), fmt.Sprint(p.Pay), quote + p.Ill + quote}
}

// statementsOf returns what makes a table of the rows in a database.
func statementsOf(rows []patient) []string {
	var values []string
	for _, p := range rows {
		values = append(values, "("+strings.Join(p.texts("NULL", "'"), ", ")+")")
	}
	return []string{`CREATE TABLE people (id text, kind text, age integer, pay integer, ill text)`,
		`INSERT INTO people VALUES ` + strings.Join(values, ",\n")}
}

// trainingOf returns the noisy answers to all rounds of all models of a plan, whose rows a counter counts, as JSON.
func trainingOf(t *testing.T, p *plan.Plan, by histogram.Counter) string {
	t.Helper()
	ctx := t.Context()
	// The key is the same for all sources, although their plans have other hashes.
	streams := noise.NewStreams(noise.Key{9}, "fitted")
	exact, err := histogram.Count(ctx, compiled.Of(p), by, streams)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(ctx, filepath.Join(t.TempDir(), "ledger.sqlite"), ledger.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	terms := ledger.Terms{Protects: "person", Neighbours: "add-remove", Definition: "rho"}
	if err := l.Init(ctx, ledger.Policy{Account: "fitted", Terms: terms, Cap: p.Cost}); err != nil {
		t.Fatal(err)
	}
	receipt, err := l.Debit(ctx, ledger.Charge{Account: "fitted", Release: p.Name, PlanHash: p.Hash(), Terms: terms,
		Cost: p.Cost, Commitment: exact.Commitment(streams)})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := exact.Open(receipt, streams)
	if err != nil {
		t.Fatal(err)
	}
	var all []measured.Training
	for i, m := range p.Models {
		one, err := train(ctx, p, m, opened, i)
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		all = append(all, one)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// train asks the rounds of a model.
func train(ctx context.Context, p *plan.Plan, m plan.Model, opened *histogram.Opened, i int) (of measured.Training,
	err error) {
	x, err := opened.Trainer(ctx, i, nil)
	if err != nil {
		return of, err
	}
	if !m.Additive() {
		for round := range 2 {
			answer, err := x.Moments(round)
			if err != nil {
				return of, err
			}
			of.Rounds = append(of.Rounds, answer)
		}
		return of, nil
	}
	shape, err := p.Shape(m)
	if err != nil {
		return of, err
	}
	fit, err := model.Train(ctx, shape, asked(func(round int, q boosting.Question) ([]int64, error) {
		answer, err := x.Answer(ctx, round, q)
		of.Rounds = append(of.Rounds, answer)
		return answer, err
	}))
	if err == nil && m.Test != "" {
		of.HeldOut, err = x.HeldOut(ctx, &fit.Scores)
	}
	return of, err
}

// asked answers rounds by a function.
type asked func(round int, q boosting.Question) ([]int64, error)

func (a asked) Answer(_ context.Context, round int, q boosting.Question) ([]int64, error) {
	return a(round, q)
}

// inShards counts a plan in two shards, writes and reads both, and puts them together.
type inShards struct{ dir string }

func (s inShards) Count(ctx context.Context, q histogram.Questions, streams *noise.RowStreams) (counted answer.Answers,
	err error) {
	var parts []scan.Part
	for number := range 2 {
		f := scan.Files{Dir: s.dir, Shard: scan.Shard{Number: number + 1, Of: 2}}
		p, err := f.CountPart(ctx, q, streams)
		if err != nil {
			return counted, err
		}
		var stored bytes.Buffer
		if err := errors.Join(scan.WritePart(&stored, p), p.Close()); err != nil {
			return counted, err
		}
		if p, err = scan.ReadPart(&stored); err != nil {
			return counted, err
		}
		parts = append(parts, p)
	}
	return scan.Parts{All: parts}.Count(ctx, q, streams)
}

// Rows in a CSV or Parquet file, in PostgreSQL, in DuckDB or in two shards lead to the same rounds. One row less does
// not.
func TestModelsAreFittedToTheSameRows(t *testing.T) {
	rows := drawPatients(2000)
	lines := []string{"id,kind,age,pay,ill"}
	for _, p := range rows {
		lines = append(lines, strings.Join(p.texts("", ""), ","))
	}
	dir := histogramtest.Folder(t, "people.csv", strings.Join(lines, "\n")+"\n", "fewer.csv",
		strings.Join(lines[:len(lines)-1], "\n")+"\n")
	if err := parquet.WriteFile(filepath.Join(dir, "people.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	planOf := func(source string) *plan.Plan {
		return histogramtest.PlanOf(t, strings.Replace(fitted, "SOURCE", source, 1))
	}
	here := engine.Tables{Dir: dir}
	want := trainingOf(t, planOf("{csv: people.csv}"), here)
	same := func(t *testing.T, source string, by histogram.Counter) {
		t.Helper()
		if got := trainingOf(t, planOf(source), by); got != want {
			t.Errorf("%s: the rounds are not those of the CSV file", source)
		}
	}
	if trainingOf(t, planOf("{csv: fewer.csv}"), here) == want {
		t.Error("a row less, and the rounds are the same")
	}
	t.Run("parquet", func(t *testing.T) { same(t, "{parquet: people.parquet}", here) })
	t.Run("shards", func(t *testing.T) {
		same(t, "{csv: people.csv}", inShards{dir})
		same(t, "{parquet: people.parquet}", inShards{dir})
	})
	t.Run("postgres", func(t *testing.T) {
		database(t, statementsOf(rows)...)
		same(t, "{postgres: {url: 'env:PEOPLE_URL', table: people}}", here)
	})
	t.Run("duckdb", func(t *testing.T) {
		if _, err := exec.LookPath("duckdb"); err != nil {
			t.Skip("needs the program duckdb on the PATH (PyPI: duckdb-cli)")
		}
		c := exec.Command("duckdb", "-bail", "-init", os.DevNull, filepath.Join(dir, "people.duckdb"))
		c.Stdin = strings.NewReader(strings.Join(statementsOf(rows), ";\n") + ";\n")
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		same(t, "{duckdb: {file: people.duckdb, table: people}}", here)
	})
}
