package compiled_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/template"
)

const modelText = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {age: {type: integer, range: [0, 9]}, ill: {values: [no, yes]}}}}
models: {risk: {predict: {ill: "yes"}, by: [age], test: 10%}}
`

// TestForgedModelsAreRefused changes the rounds of a model: each plan must be refused as edited, however many rounds it
// names, and none may be read at length or stop the reader.
func TestForgedModelsAreRefused(t *testing.T) {
	p, err := plantest.PlanOfText(t, modelText)
	if err != nil {
		t.Fatal(err)
	}
	b := p.Bytes()
	for name, forge := range map[string]func(m *plan.Model){
		"one round more":        func(m *plan.Model) { m.Rounds[1].Times++ },
		"one round less":        func(m *plan.Model) { m.Rounds[0].Times-- },
		"less than no rounds":   func(m *plan.Model) { m.Rounds[1].Times = -1 },
		"very many rounds":      func(m *plan.Model) { m.Rounds[1].Times = math.MaxInt },
		"many rounds":           func(m *plan.Model) { m.Rounds[0].Times = 1 << 32 },
		"many kinds of rounds":  func(m *plan.Model) { m.Rounds = append(m.Rounds, append(m.Rounds, m.Rounds...)...) },
		"no rounds":             func(m *plan.Model) { m.Rounds = nil },
		"other rounds":          func(m *plan.Model) { m.Rounds[0].Asks = plan.ResidualSums },
		"no schedule":           func(m *plan.Model) { m.Schedule = nil },
		"a longer schedule":     func(m *plan.Model) { m.Schedule.Epochs++ },
		"everything held out":   func(m *plan.Model) { m.Test = "1" },
		"a share of no number":  func(m *plan.Model) { m.Test = "x" },
		"no columns":            func(m *plan.Model) { m.By = nil },
		"another method":        func(m *plan.Model) { m.Method = "other" },
		"another link":          func(m *plan.Model) { m.Link = "identity" },
		"the link of counts":    func(m *plan.Model) { m.Link = "log" },
		"noise of another kind": func(m *plan.Model) { m.Rounds[1].Noise.Kind = "discrete-laplace" },
	} {
		q, err := plan.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		forge(&q.Models[0])
		if read, err := compiled.Read(q.Bytes()); !errors.Is(err, plan.ErrEdited) {
			t.Errorf("%s: read as %v, with the error %v", name, read != nil, err)
		}
	}
}

// TestForgedPairsAreRefused changes the pairs of a model: each plan must be refused as edited.
func TestForgedPairsAreRefused(t *testing.T) {
	text := strings.NewReplacer("ill: {values", "sex: {values: [f, m]}, ill: {values", "by: [age]",
		"by: [age, sex], pairs: [[sex, age]]").Replace(modelText)
	p, err := plantest.PlanOfText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if m := p.Models[0]; !slices.Equal(m.Pairs, [][2]int{{1, 0}}) || m.Rounds[0].Times != 3 ||
		m.Rounds[1].Times != 3*m.Schedule.Epochs {
		t.Errorf("planned: %+v", m)
	}
	for name, forge := range map[string]func(m *plan.Model){
		"no pairs":             func(m *plan.Model) { m.Pairs = nil },
		"a pair twice":         func(m *plan.Model) { m.Pairs = [][2]int{{1, 0}, {0, 1}} },
		"a pair of one column": func(m *plan.Model) { m.Pairs[0] = [2]int{1, 1} },
		"another column":       func(m *plan.Model) { m.Pairs[0] = [2]int{1, 2} },
		"a negative column":    func(m *plan.Model) { m.Pairs[0] = [2]int{-1, 0} },
		"of a regression":      func(m *plan.Model) { m.Method = "linear" },
	} {
		q, err := plan.Read(p.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		forge(&q.Models[0])
		if read, err := compiled.Read(q.Bytes()); !errors.Is(err, plan.ErrEdited) {
			t.Errorf("%s: read as %v, with the error %v", name, read != nil, err)
		}
	}
	large := strings.NewReplacer("range: [0, 9]", "range: [0, 2048]").Replace(text)
	const want = "models.risk.pairs: the pair of sex and age has 4098 combinations of categories"
	if _, err := plantest.PlanOfText(t, large); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a pair of 4098 categories: %v", err)
	}
}

// fromTables is a release of tables of three columns, and of a regression that is made of them. It has a pair at a
// finer level, in another order and in a larger table.
const fromTables = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {epsilon: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {age: {type: integer, range: [0, 9], levels: {band: {width: 5}}}, sex: {values: [f, m]}, ill: {values: [no, yes]}}}}
marginals: {a: {by: [sex, age]}, b: {by: [ill, sex, age.band]}}
models: {effects: {predict: {ill: "yes"}, by: [age.band, sex], method: linear, from: tables}}
`

// TestModelsOfTables: the tables are the first that have both columns of a pair. A pair without a table is named, and a
// plan with other tables is refused as edited.
func TestModelsOfTables(t *testing.T) {
	p, err := plantest.PlanOfText(t, fromTables)
	if err != nil {
		t.Fatal(err)
	}
	if m := p.TableModels[0]; !slices.Equal(m.From, []string{"a", "b", "b"}) || m.Rounds != nil || p.Models != nil {
		t.Errorf("it is made of %v", m.From)
	}
	_, err = plantest.PlanOfText(t,
		strings.Replace(fromTables, "b: {by: [ill, sex, age.band]}", "b: {by: [ill, age]}", 1))
	if err == nil || !strings.Contains(err.Error(), "no table has these pairs of its columns: sex × ill") {
		t.Errorf("a missing pair: %v", err)
	}
	sums := strings.Replace(fromTables, "[ill, sex, age.band]}", "[ill, sex, age.band], cells: {above: 40}}", 1)
	if _, err = plantest.PlanOfText(t, sums); err == nil ||
		!strings.Contains(err.Error(), "age.band × ill, sex × ill") {
		t.Errorf("tables of some cells: %v", err)
	}
	derived := strings.NewReplacer("sex: {values: [f, m]}", "old: {derived_from: age.band}, sex: {values: [f, m]}",
		"[age.band, sex]", "[age, old, sex]").Replace(fromTables)
	if _, err = plantest.PlanOfText(t, derived); err == nil || !strings.Contains(err.Error(), "are made of one column") {
		t.Errorf("a column and what is made of it: %v", err)
	}
	large := strings.NewReplacer("range: [0, 9]", "range: [0, 99]", "width: 5", "width: 2", "sex: {values: [f, m]}",
		"sex: {type: date, range: [2026-01-01, 2026-02-19]}").Replace(fromTables)
	if _, err = plantest.PlanOfText(t, large); err == nil || !strings.Contains(err.Error(), "too large to make a regression") {
		t.Errorf("tables of 2500 cells: %v", err)
	}
	for name, forge := range map[string]func(m *plan.Model){
		"another table":  func(m *plan.Model) { m.From[1] = "a" },
		"no tables":      func(m *plan.Model) { m.From = nil },
		"another method": func(m *plan.Model) { m.Method = "additive" },
		"no columns":     func(m *plan.Model) { m.By, m.From = nil, nil },
		"a column of no table": func(m *plan.Model) {
			m.By[0].Level = ""
		},
		"a test": func(m *plan.Model) { m.Test = "1/2" },
	} {
		q, err := plan.Read(p.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		forge(&q.TableModels[0])
		if read, err := compiled.Read(q.Bytes()); !errors.Is(err, plan.ErrEdited) {
			t.Errorf("%s: read as %v, with the error %v", name, read != nil, err)
		}
	}
}

// TestTemplatesHoldModels: who approved the rounds of a model has approved no others.
func TestTemplatesHoldModels(t *testing.T) {
	p, err := plantest.PlanOfText(t, modelText)
	if err != nil {
		t.Fatal(err)
	}
	before := template.Hash(p)
	p.Models[0].Rounds[1].Times++
	if template.Hash(p) == before {
		t.Error("a plan with another round has the same template")
	}
}
