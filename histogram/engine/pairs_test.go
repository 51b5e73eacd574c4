package engine_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/engine"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// This file asks databases everything that a plan may ask: every pair of what is counted and which answers are given
// out, in every form (histogramtest.PairForm), of three tables of the same rows, of which one, two and five of a unit
// count. It compares the answers with those for files, bit for bit; other questions are refused by name.

// pairBounds are how many rows of a unit count, in a table each.
var pairBounds = []int64{1, 2, 5}

// pairTable returns the name of the table with a bound.
func pairTable(most int64) string { return fmt.Sprint("k", most) }

// pairsPlan returns the plan of three tables with the rows of [drawSpots], from a source. It reads all
// of their columns, but the one with discovered categories only where rows are read.
func pairsPlan(t *testing.T, from string, read bool) *plan.Plan {
	t.Helper()
	text := `version: 1
release: pairs
privacy: {protects: person, neighbours: add-remove, account: pairs}
budget: {epsilon: 4, delta: 1e-6}
tables:
`
	for _, most := range pairBounds {
		text += fmt.Sprintf(`  %s:
    source: %s
    unit: {id: id, max_rows: %d, null: drop}
    weight: {from: w, range: [0, 4], step: 0.5, kind: design, null: drop}
    columns:
      s: {values: [a, A, "a ", " a", "é", "e\u0301", "ß", ss, "", "null"], unknown: drop, null: drop}
      flag: {type: boolean, values: ["true", "false"], null: drop}
      n: {type: integer, range: [-5, 5], unknown: drop, null: drop}
      pay: {from: d, type: decimal, range: {by: flag, "true": [0, 6], "false": [2, 10]}, step: 0.5, null: drop}
      word: {values: {discover: {max_length: 8}}, unknown: drop, null: drop}
`, pairTable(most), from, most)
	}
	text += "marginals:\n"
	for _, most := range pairBounds {
		text += fmt.Sprintf("  all-%[1]s: {table: %[1]s, by: [s, flag, n], stats: [count, {sum: pay}]}\n",
			pairTable(most))
		if read {
			text += fmt.Sprintf("  words-%[1]s: {table: %[1]s, by: [word], stats: [units], per_unit: {groups: 1}}\n",
				pairTable(most))
		}
	}
	return histogramtest.PlanOf(t, text)
}

// pairForms returns all legal questions to the tables of a plan.
func pairForms(p *plan.Plan) (legal []histogramtest.PairForm) {
	for _, most := range pairBounds {
		columns := histogramtest.PairColumns{Table: pairTable(most), Category: "s", Stratum: "flag", Number: "n",
			Strata: "pay",
			Found:  "word"}
		for _, f := range columns.Forms(p.Release()) {
			if f.Legal {
				f.ID = fmt.Sprintf("%s of %s, number %d", f.Pair, f.Query.Table, len(legal))
				legal = append(legal, f)
			}
		}
	}
	return legal
}

// needsRows returns why a question needs rows, as its refusal says, "" if it does not: what docs/howto/engines.md says.
func needsRows(f histogramtest.PairForm) string {
	most := pairBounds[slices.IndexFunc(pairBounds, func(most int64) bool { return pairTable(most) == f.Query.Table })]
	u := f.Query.PerUnit
	tighter := func(bound int64) bool { return bound != 0 && bound < most }
	distinct, _ := f.Query.Counted.(counted.Distinct)
	switch {
	case f.Query.Counted.Kind() == counted.KindDiagnostic:
		return "diagnostics count what is left out"
	case tighter(u.Groups), tighter(u.RowsPerGroup), tighter(u.Total), tighter(distinct.PerUnit):
		return "a marginal counts fewer rows of a unit than max_rows (per_unit, or distinct values)"
	case f.Selection.Kind() == selection.KindGroups:
		return "nobody lists the categories of word"
	}
	return ""
}

// divided returns the questions that databases answer, and those that need rows.
func divided(forms []histogramtest.PairForm) (answered, refused []histogramtest.PairForm) {
	for _, f := range forms {
		if needsRows(f) == "" {
			answered = append(answered, f)
		} else {
			refused = append(refused, f)
		}
	}
	return answered, refused
}

// questionsOf returns forms as questions to the tables of a plan.
func questionsOf(p *plan.Plan, forms ...histogramtest.PairForm) histogram.Questions {
	q := histogram.Questions{Plan: p}
	for _, f := range forms {
		q.Measurements = append(q.Measurements, f.Measurement)
	}
	return q
}

// ask returns the hashes of the answers to questions, and what they count together.
func ask(t *testing.T, tables engine.Tables, q histogram.Questions) (hashes []string, totals []int64) {
	t.Helper()
	tables.Options = scan.Options{MemoryLimit: 1 << 30}
	answers, err := tables.Count(t.Context(), q, streamsOf(3))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answer.All(answers) {
		hashes = append(hashes, hex.EncodeToString(a.Hash()))
		totals = append(totals, histogramtest.Total(a.Counts))
	}
	return hashes, totals
}

// assertAnswers compares the hash of the answer to each question with that for files.
func assertAnswers(t *testing.T, forms []histogramtest.PairForm, got, want []string) {
	t.Helper()
	if len(got) != len(want) || len(got) != len(forms) {
		t.Fatalf("%d answers to %d questions, and %d of files", len(got), len(forms), len(want))
	}
	pairs := map[string]int{}
	for i, f := range forms {
		if pairs[f.Pair]++; got[i] != want[i] {
			t.Errorf("%s by %v of %+v, %+v: another answer than that of files", f.ID, f.Query.Factors, f.Query.Counted,
				f.Query.PerUnit)
		}
	}
	t.Logf("%d questions are answered as files answer them: %v", len(forms), pairs)
}

// assertRefused asserts that each question is refused by name.
func assertRefused(t *testing.T, forms []histogramtest.PairForm, refusal func(f histogramtest.PairForm) error) {
	t.Helper()
	reasons := map[string]int{}
	for _, f := range forms {
		why := needsRows(f)
		var fault *source.Error
		if err := refusal(f); !errors.As(err, &fault) ||
			!strings.Contains(err.Error(), "table "+f.Query.Table+": cannot be counted") ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("%s by %v, %+v: %v, without %q", f.ID, f.Query.Factors, f.Query.PerUnit, err, why)
		}
		reasons[why]++
	}
	t.Logf("%d questions are refused: %v", len(forms), reasons)
}

// Every question that a plan may ask has in PostgreSQL and in DuckDB the answer that it has in files, and in PostgreSQL
// also where the rows stay there, but for those that need rows, which are refused.
func TestPairsInDatabases(t *testing.T) {
	dir := t.TempDir()
	sources := places(t, dir, "texts", drawSpots(rand.New(rand.NewPCG(3, 4)), "texts", 3000))
	files := pairsPlan(t, sources["files"], true)
	// Of groups that nobody lists no planner asks residuals or sums along ranges.
	forms := slices.DeleteFunc(pairForms(files), func(f histogramtest.PairForm) bool {
		return f.Selection.Kind() == selection.KindGroups && slices.ContainsFunc(f.Query.Factors,
			func(of plan.Factor) bool { return of.Basis != plan.Identity })
	})
	want, totals := ask(t, engine.Tables{Dir: dir}, questionsOf(files, forms...))
	counts := map[string]int64{}
	for i, f := range forms {
		counts[f.Pair] += totals[i]
	}
	for _, pair := range histogramtest.LegalPairs {
		if counts[pair] == 0 {
			t.Errorf("%s counts nothing", pair)
		}
	}
	for _, name := range []string{"postgres", "duckdb"} {
		if sources[name] != "" {
			p := pairsPlan(t, sources[name], true)
			got, _ := ask(t, engine.Tables{Dir: dir}, questionsOf(p, forms...))
			assertAnswers(t, forms, got, want)
		}
	}
	if sources["postgres that counts"] == "" {
		return
	}
	p := pairsPlan(t, sources["postgres that counts"], false)
	answered, refused := divided(pairForms(p))
	wanted, _ := ask(t, engine.Tables{Dir: dir}, questionsOf(pairsPlan(t, sources["files"], false), answered...))
	got, _ := ask(t, engine.Tables{Dir: dir}, questionsOf(p, answered...))
	assertAnswers(t, answered, got, wanted)
	opened, err := engine.Open(t.Context(), p, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	assertRefused(t, refused, func(f histogramtest.PairForm) error {
		return scan.CheckRemotes(questionsOf(p, f), func(*spec.Table) bool { return true })
	})
	// What was not refused before is not counted wrongly either.
	counting := opened.Files(dir, scan.Options{MemoryLimit: 1 << 30})
	for _, f := range refused {
		if f.Query.Table != "k5" { // where all is refused that is refused of another table
			continue
		}
		if _, err := counting.Count(t.Context(), questionsOf(p, f), streamsOf(3)); err == nil ||
			f.Selection.Kind() != selection.KindGroups && !strings.Contains(err.Error(), needsRows(f)) {
			t.Errorf("%s by %v, %+v is counted: %v", f.ID, f.Query.Factors, f.Query.PerUnit, err)
		}
	}
}

// Every question that a plan may ask has in Spark the answer that it has in files, or needs rows and is refused. One
// job has all questions.
func TestPairsInSpark(t *testing.T) {
	spark := newSparkForAll(t)
	dir := t.TempDir()
	rows := drawSpots(rand.New(rand.NewPCG(3, 4)), "texts", 3000)
	writeArrow(t, filepath.Join(dir, "spots.arrow"), "texts", rows)
	spark.makeTable(t, "spots", sparkTextSchema, sparkTexts(rows), sparkColumns("texts")...)
	files, p := pairsPlan(t, "{arrow: spots.arrow}", false), pairsPlan(t, "{spark: {table: spots}}", false)
	answered, refused := divided(pairForms(p))
	want, _ := ask(t, engine.Tables{Dir: dir}, questionsOf(files, answered...))
	folder, q := filepath.Join(dir, "exchange"), questionsOf(p, answered...)
	for round := 1; ; round++ {
		emitted, err := engine.EmitSpark(t.Context(), q, streamsOf(3), folder)
		if err != nil || emitted != round%3 {
			t.Fatalf("round %d in place of %d: %v", emitted, round%3, err)
		}
		if emitted == 0 {
			break
		}
		spark.do(t, map[string]any{"run": folder})
	}
	got, _ := ask(t, engine.Tables{Dir: dir, FromSpark: folder}, q)
	assertAnswers(t, answered, got, want)
	assertRefused(t, refused, func(f histogramtest.PairForm) error { return engine.CheckSpark(questionsOf(p, f)) })
	if slices.ContainsFunc(refused, func(f histogramtest.PairForm) bool { return needsRows(f) == "" }) {
		t.Error("a question is refused that needs no rows")
	}
}
