package evaluate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// survey is a release of one table whose unit and columns a test fills in.
const survey = `version: 1
release: survey
privacy: {protects: person, neighbours: add-remove, account: survey}
budget: {rho: 1/2}
tables:
  persons:
    source: {csv: "*.csv"}
    unit: UNIT
    columns:
      kind: {values: [a, b, c], unknown: UNKNOWN, null: error}
      age: {type: integer, range: [0, 9], levels: {band: {width: 5}}, unknown: UNKNOWN, null: error}
marginals:
  all: {by: [kind, age]}
  bands: {by: [age.band, kind]}
`

// planOf plans the survey with replacements of its capitals.
func planOf(t testing.TB, replacements ...string) *plan.Plan {
	t.Helper()
	text := strings.NewReplacer(append(replacements, "UNIT", "row", "UNKNOWN", "error")...).Replace(survey)
	r, err := spec.Parse(spec.Source{Name: "survey.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p.Plan()
}

// folder writes files given as name, content, name, content … and returns their folder.
func folder(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func streams(p *plan.Plan, key byte) *noise.RowStreams {
	return noise.NewStreams(noise.Key{key}, p.Hash()).Rows()
}

// countsOf are the exact counts of a table of a plan.
func countsOf(t testing.TB, p *plan.Plan, dir string, key byte, path string) []int64 {
	t.Helper()
	table := p.Tables[slices.IndexFunc(p.Tables, func(t plan.Table) bool { return t.Path == path })]
	counted, err := scan.Files{Dir: dir}.Count(t.Context(), histogram.Questions{
		Plan: p, Measurements: []plan.Measurement{{ID: path, Query: p.Query(table), Cells: table.Cells,
			Selection: selection.All{}}}}, streams(p, key))
	if err != nil {
		t.Fatal(err)
	}
	return answer.All(counted)[0].Expanded().Counts
}
