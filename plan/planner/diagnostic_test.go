package planner_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// What a release pays to know of its rows is planned without weights as well, each count with what a unit can move of
// it.
func TestDiagnosticsArePlanned(t *testing.T) {
	r := plantest.Must(spec.Parse(spec.Source{Name: "r.yaml", Text: `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1}
diagnostics: {share: 10%}
tables:
  jobs:
    source: {csv: t.csv}
    unit: {id: who, max_rows: 3}
    columns:
      sex: {values: [f, m], unknown: drop}
      pay: {type: integer, range: [0, 100]}
marginals:
  pay: {by: [sex], stats: [count, {mean: pay}]}
`}))(t)
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"units_over_bound": 1, "rows_over_bound": 3, "rows_left_out": 3, "pay_clamped": 3}
	for name, moves := range want {
		m, ok := p.Measurement("diagnostics/jobs/" + name)
		if !ok || m.Leaf != "diagnostics" || m.Cells != 1 || m.Mechanism.L1.Int64() != moves ||
			m.Mechanism.L2Squared.Int64() != moves*moves {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if p.Leaves[len(p.Leaves)-1].Share != "1/10" {
		t.Errorf("the leaf has %s", p.Leaves[len(p.Leaves)-1].Share)
	}
	if err := plantest.Verify(p.Plan()); err != nil {
		t.Error(err)
	}
}

// Where every row counts as it is there is nothing to diagnose, and the spec's line is named.
func TestNothingToDiagnose(t *testing.T) {
	r := plantest.Must(spec.Parse(spec.Source{Name: "r.yaml", Text: `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1}
diagnostics: {share: 10%}
tables: {jobs: {source: {csv: t.csv}, unit: row, columns: {sex: {values: [f, m]}}}}
marginals: {sex: {by: [sex]}}
`}))(t)
	_, err := planner.New(r)
	var problems *document.Errors
	if !errors.As(err, &problems) || len(problems.Problems) != 1 || problems.Problems[0].Line != 5 ||
		!strings.Contains(err.Error(), "nothing to diagnose") {
		t.Errorf("%v", err)
	}
}
