package compiled_test

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

const kindsText = `version: 1
release: kinds
privacy: {protects: person, neighbours: add-remove}
budget: {epsilon: 1, delta: 1e-9}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: who, max_rows: 3}
    columns:
      from: {values: {integers: [1, 20]}}
      to: {values: {integers: [1, 20]}}
      word: {values: {discover: {max_length: 20}}}
      pay: {type: integer, range: [0, 20], step: 1}
marginals:
  sparse: {by: [from, to], cells: {above: 40}}
  top: {by: [from, to], top: 10}
  words: {by: [word], stats: [units], per_unit: {groups: 2}}
  few: {by: [from], per_unit: {rows_per_group: 1}}
  figures: {by: [from], stats: [count, {sum: pay}, {median: pay}, {distinct: to, per_unit: 2}]}
  shared: {every: [0, 1, 2], by: [from, to]}
`

// TestForgedKindsAreRefused changes what a plan says of what is counted and of its selections: no such plan may be
// read, and each must fail with an error that says that the plan was edited.
func TestForgedKindsAreRefused(t *testing.T) {
	made, err := plantest.PlanOfText(t, kindsText)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compiled.Read(made.Bytes()); err != nil {
		t.Fatalf("the plan itself: %v", err)
	}
	measurement := func(id string, forge func(m *plan.Measurement)) func(p *plan.Plan) {
		return func(p *plan.Plan) {
			forge(&p.Measurements[slices.IndexFunc(p.Measurements,
				func(m plan.Measurement) bool { return m.ID == id })])
		}
	}
	table := func(path string, forge func(m *plan.Table)) func(p *plan.Plan) {
		return func(p *plan.Plan) {
			forge(&p.Tables[slices.IndexFunc(p.Tables, func(t plan.Table) bool { return t.Path == path })])
		}
	}
	top := func(forge func(s *selection.Top)) func(p *plan.Plan) {
		return measurement("top", func(m *plan.Measurement) {
			s := m.Selection.(selection.Top)
			forge(&s)
			m.Selection = s
		})
	}
	groups := func(forge func(s *selection.Groups)) func(p *plan.Plan) {
		return measurement("words", func(m *plan.Measurement) {
			s := m.Selection.(selection.Groups)
			s.Select = budget.Mechanism{Kind: budget.RandomizedResponse, Parameter: big.NewRat(1, 10)}
			forge(&s)
			m.Selection = s
		})
	}
	for name, forge := range map[string]func(p *plan.Plan){
		"a sparse table of choices": table("sparse", func(t *plan.Table) { t.Top = &selection.TopFacts{Of: 3} }),
		"a sparse table of groups":  table("sparse", func(t *plan.Table) { t.Discovered = &selection.GroupsFacts{} }),
		"choices of groups":         table("top", func(t *plan.Table) { t.Discovered = &selection.GroupsFacts{} }),
		"a table that is not sparse": table("shared/from", func(t *plan.Table) {
			t.Sparse = &selection.AboveFacts{}
		}),
		"sums above a threshold": measurement("values/figures/pay_sums", func(m *plan.Measurement) {
			m.Selection = selection.Above{Threshold: 4}
		}),
		"the largest sums": measurement("values/figures/pay_sums", func(m *plan.Measurement) {
			top, _ := made.Measurement("top")
			m.Selection = top.Selection
		}),
		"quantiles above a threshold": measurement("values/figures/pay_median_quantiles", func(m *plan.Measurement) {
			m.Selection = selection.Above{Threshold: 4}
		}),
		"shared counts above a threshold": measurement("shared/from_x_to", func(m *plan.Measurement) {
			m.Selection = selection.Above{Threshold: 4}
		}),
		"shared sums": measurement("shared/from_x_to", func(m *plan.Measurement) {
			m.Query.Counted = counted.Values{Column: "pay", Power: 1, Times: 1}
		}),
		"shared counts of a few rows": measurement("shared/from_x_to", func(m *plan.Measurement) {
			m.Query.PerUnit = spec.PerUnit{Total: 1}
		}),
		"less than no rows of a unit": measurement("few",
			func(m *plan.Measurement) { m.Query.PerUnit.RowsPerGroup = -1 }),
		"a threshold below 0": measurement("sparse", func(m *plan.Measurement) {
			m.Selection = selection.Above{Threshold: -4}
		}),
		"a shared threshold below 0": measurement("shared/from_x_to", func(m *plan.Measurement) {
			m.Selection = selection.Above{Threshold: -4}
		}),
		"quantiles of another table": measurement("values/figures/pay_median_quantiles", func(m *plan.Measurement) {
			m.Query.Table = "nothing"
		}),
		"values of less than none": measurement("values/figures/to_distinct", func(m *plan.Measurement) {
			m.Query.Counted = counted.Distinct{Column: "to", PerUnit: -1}
		}),
		"a diagnostic that is none": measurement("few", func(m *plan.Measurement) {
			m.Query.Counted = counted.Diagnostic("nothing")
		}),
		"no choices":             top(func(s *selection.Top) { s.Of = 0 }),
		"less than no choices":   top(func(s *selection.Top) { s.Of = -1 }),
		"too many choices":       top(func(s *selection.Top) { s.Of = 1 << 61 }),
		"choices that are moved": top(func(s *selection.Top) { s.Sensitivity = -1 }),
		"choices by noise": top(func(s *selection.Top) {
			few, _ := made.Measurement("few")
			s.Select = few.Mechanism
		}),
		"no groups":           groups(func(s *selection.Groups) { s.Groups = 0 }),
		"less than no groups": groups(func(s *selection.Groups) { s.Groups = -1 }),
		"too many groups":     groups(func(s *selection.Groups) { s.Groups = 1 << 61 }),
	} {
		p, err := plan.Read(made.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		forge(p)
		if read, err := compiled.Read(p.Bytes()); !errors.Is(err, plan.ErrEdited) {
			t.Errorf("%s: read as %v, with the error %v", name, read != nil, err)
		}
	}
}
