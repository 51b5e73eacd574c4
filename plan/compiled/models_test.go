package compiled_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/template"
	"github.com/dprelease/dprelease/spec"
)

const modelText = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {age: {type: integer, range: [0, 9]}, ill: {values: [no, yes]}}}}
models: {risk: {predict: {ill: "yes"}, by: [age], test: 10%}}
`

// refuseForged forges a plan, which must be refused as edited.
func refuseForged(t *testing.T, name string, bytes []byte, forge func(p *plan.Plan)) {
	t.Helper()
	p, err := plan.Read(bytes)
	if err != nil {
		t.Fatal(err)
	}
	forge(p)
	if read, err := compiled.Read(p.Bytes()); !errors.Is(err, plan.ErrEdited) {
		t.Errorf("%s: read as %v, with the error %v", name, read != nil, err)
	}
}

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
		refuseForged(t, name, b, func(p *plan.Plan) { forge(&p.Models[0]) })
	}
}

// TestForgedDescentsAreRefused changes what is planned of regressions by gradient descent.
func TestForgedDescentsAreRefused(t *testing.T) {
	text := strings.Replace(modelText, "test: 10%", "test: 10%, method: gradient", 1)
	p, err := plantest.PlanOfText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	b := p.Bytes()
	if _, err := compiled.Read(b); err != nil {
		t.Fatalf("the plan itself: %v", err)
	}
	for name, forge := range map[string]func(m *plan.Model){
		"no descent":          func(m *plan.Model) { m.Descent = nil },
		"a longer descent":    func(m *plan.Model) { m.Descent.Rounds++ },
		"steps of holders":    func(m *plan.Model) { m.Descent.Steps, m.Rounds[1].Times = 2, 2*m.Rounds[1].Times },
		"too long a step":     func(m *plan.Model) { m.Descent.Rate = 2 },
		"no step":             func(m *plan.Model) { m.Descent.Rate = 0 },
		"a step of no number": func(m *plan.Model) { m.Descent.Rounds = -1 },
		"a schedule":          func(m *plan.Model) { m.Schedule = &boosting.Schedule{Epochs: 1, Groups: 2, Rate: 1} },
		"another method":      func(m *plan.Model) { m.Method = spec.FederatedModel },
		"a gradient more":     func(m *plan.Model) { m.Rounds[1].Times++ },
		"counts of all":       func(m *plan.Model) { m.Rounds[0].Asks = plan.CountsOfColumn },
		"residuals by group":  func(m *plan.Model) { m.Rounds[1].Asks = plan.ResidualSums },
		"a number":            func(m *plan.Model) { m.Class = -1 },
		"nothing held out":    func(m *plan.Model) { m.Test = "" },
	} {
		refuseForged(t, name, b, func(p *plan.Plan) { forge(&p.Models[0]) })
	}
}

// TestColumnsOfTooManyCategoriesAreRefused: before anything is spent, of what is predicted and of what it is predicted
// from, by the methods that ask in rounds.
func TestColumnsOfTooManyCategoriesAreRefused(t *testing.T) {
	wide := strings.Replace(modelText, "[0, 9]", "[0, 4096]", 1)
	method := func(text, method string) string { return strings.Replace(text, "test: 10%", "method: "+method, 1) }
	const by, predict = "models.risk.by: age has 4097 categories", "models.risk.predict: age has 4097 categories"
	for text, says := range map[string]string{
		wide:                     by,
		method(wide, "gradient"): by,
		strings.Replace(wide, `{ill: "yes"}, by: [age], test: 10%`, "age, by: [ill]", 1): predict,
		method(wide, "linear"): "",
		method(strings.Replace(wide, "4096", "4095", 1), "gradient"): "",
	} {
		_, err := plantest.PlanOfText(t, text)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s\nwant %q, got %v", text, says, err)
		}
	}
}

// severalModels has two models that are fitted to rows and, between them, a regression that is made of tables.
const severalModels = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1, split: {counts: 1/3, first: 1/3, second: 1/3}}
tables:
  t: {source: {csv: t.csv}, unit: {id: id, max_rows: 1}, columns: {age: {type: integer, range: [0, 9], levels: {band: {width: 5}}}, sex: {values: [f, m]}, ill: {values: [no, yes]}}}
  u: {source: {csv: u.csv}, unit: {id: id, max_rows: 1}, columns: {age: {type: integer, range: [0, 9]}, sex: {values: [f, m]}, ill: {values: [no, yes]}}}
marginals: {pairs: {table: t, every: [2], by: [age, sex, ill], budget: counts}}
models:
  risk: {table: t, predict: {ill: "yes"}, by: [age, sex], test: 10%, budget: first}
  effects: {table: t, predict: {ill: "yes"}, by: [age, sex], method: linear, from: tables}
  years: {table: t, predict: age, by: [sex, ill], link: log, budget: second}
`

// TestModelsAgreeWithTheSpec forges what the spec says of a model, and the order and the number of models. Each plan
// must be refused as edited, whatever else of it fits together.
func TestModelsAgreeWithTheSpec(t *testing.T) {
	p, err := plantest.PlanOfText(t, severalModels)
	if err != nil {
		t.Fatal(err)
	}
	b := p.Bytes()
	if _, err := compiled.Read(b); err != nil || len(p.Models) != 2 || len(p.TableModels) != 1 {
		t.Fatalf("the plan itself: %v", err)
	}
	forged := func(name string, forge func(p *plan.Plan)) { refuseForged(t, name, b, forge) }
	for name, forge := range map[string]func(m *plan.Model){
		"another name":     func(m *plan.Model) { m.Name = "other" },
		"another table":    func(m *plan.Model) { m.Table = "u" },
		"another leaf":     func(m *plan.Model) { m.Leaf = "counts" },
		"another method":   func(m *plan.Model) { m.Method = spec.AdditiveModel + spec.LinearModel },
		"another target":   func(m *plan.Model) { m.Target.Attribute = "sex" },
		"another level":    func(m *plan.Model) { m.Target.Level = "band" },
		"another basis":    func(m *plan.Model) { m.Target.Basis = plan.Residual },
		"another class":    func(m *plan.Model) { m.Class = 1 - max(m.Class, 0) },
		"no class":         func(m *plan.Model) { m.Class -= 2 },
		"another column":   func(m *plan.Model) { m.By[0].Level = "band" },
		"another order":    func(m *plan.Model) { m.By[0], m.By[1] = m.By[1], m.By[0] },
		"one column twice": func(m *plan.Model) { m.By[1] = m.By[0] },
		"a column less":    func(m *plan.Model) { m.By = m.By[:1] },
		"another link":     func(m *plan.Model) { m.Link = map[boosting.Link]boosting.Link{"": "log"}[m.Link] },
		"another test":     func(m *plan.Model) { m.Test = "1/5" },
		"another source":   func(m *plan.Model) { m.From = append(m.From, "pairs/age_x_sex") },
	} {
		forged(name+" of the first model", func(p *plan.Plan) { forge(&p.Models[0]) })
		forged(name+" of the second model", func(p *plan.Plan) { forge(&p.Models[1]) })
		forged(name+" of the model of tables", func(p *plan.Plan) { forge(&p.TableModels[0]) })
	}
	for name, forge := range map[string]func(p *plan.Plan){
		"rows in place of tables": func(p *plan.Plan) { p.TableModels[0].From = nil },
		"no leaf":                 func(p *plan.Plan) { p.Models[1].Leaf = "" },
		"nothing held out":        func(p *plan.Plan) { p.Models[0].Test = "" },
		"another order of models": func(p *plan.Plan) { slices.Reverse(p.Models) },
		"a model less":            func(p *plan.Plan) { p.Models = p.Models[:1] },
		"no model of tables":      func(p *plan.Plan) { p.TableModels = nil },
		"a model twice":           func(p *plan.Plan) { p.Models = append(p.Models, p.Models[1]) },
		"a model in both lists":   func(p *plan.Plan) { p.TableModels = append(p.TableModels, p.Models[0]) },
		"rounds of a model of tables": func(p *plan.Plan) {
			p.TableModels[0].Rounds = p.Models[0].Rounds
		},
		"a schedule of a model of tables": func(p *plan.Plan) { p.TableModels[0].Schedule = p.Models[0].Schedule },
	} {
		forged(name, forge)
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
		refuseForged(t, name, p.Bytes(), func(p *plan.Plan) { forge(&p.Models[0]) })
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
	if _, err = plantest.PlanOfText(t, derived); err == nil ||
		!strings.Contains(err.Error(), "are made of one column") {
		t.Errorf("a column and what is made of it: %v", err)
	}
	large := strings.NewReplacer("range: [0, 9]", "range: [0, 99]", "width: 5", "width: 2", "sex: {values: [f, m]}",
		"sex: {type: date, range: [2026-01-01, 2026-02-19]}").Replace(fromTables)
	if _, err = plantest.PlanOfText(t, large); err == nil ||
		!strings.Contains(err.Error(), "too large to make a regression") {
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
