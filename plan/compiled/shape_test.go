package compiled_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/internal/plantest"
)

// TestForgedPlansAreRefused changes a plan in every way that its readers rely on: each must fail with an error that
// says that it was edited.
func TestForgedPlansAreRefused(t *testing.T) {
	plans := map[string][]byte{}
	for way, text := range map[string]string{
		"residuals": "{x: {every: [0, 1, 2], by: [sex, kind, age]}}",
		"alone":     "{x: {by: [sex]}, y: {by: [kind, age]}}",
	} {
		plans[way] = plantest.CrossedPlan(t, "add-remove", "{rho: 1/8}", 1, text).Bytes()
	}
	for name, forge := range map[string]func(p *plan.Plan){
		"a table left out":           func(p *plan.Plan) { p.Tables = p.Tables[1:] },
		"a δ of measurements":        func(p *plan.Plan) { p.Guarantee.DeltaMeasured = "1/100" },
		"a δ that is no number":      func(p *plan.Plan) { p.Guarantee.DeltaMeasured = "x" },
		"no tables":                  func(p *plan.Plan) { p.Tables = nil },
		"a table more":               func(p *plan.Plan) { p.Tables = append(p.Tables, p.Tables[0]) },
		"tables exchanged":           func(p *plan.Plan) { p.Tables[0], p.Tables[1] = p.Tables[1], p.Tables[0] },
		"another path":               func(p *plan.Plan) { p.Tables[0].Path = "other" },
		"other keys":                 func(p *plan.Plan) { p.Tables[0].By = []string{"nothing"} },
		"a key left out":             func(p *plan.Plan) { p.Tables[len(p.Tables)-1].By = nil },
		"other cells":                func(p *plan.Plan) { p.Tables[0].Cells++ },
		"another confidential table": func(p *plan.Plan) { p.Tables[0].From = "u" },
		"no statistic":               func(p *plan.Plan) { p.Tables[0].Statistics = nil },
		"two statistics": func(p *plan.Plan) {
			p.Tables[0].Statistics = append(p.Tables[0].Statistics,
				p.Tables[0].Statistics[0])
		},
		"a confidence of 2":               func(p *plan.Plan) { p.Tables[0].Statistics[0].Confidence = 2 },
		"a measurement that is not there": func(p *plan.Plan) { p.Tables[0].Statistics[0].Measurement = "nothing" },
		"another table's measurement": func(p *plan.Plan) {
			p.Tables[0].Statistics[0].Measurement = p.Measurements[len(p.Measurements)-1].ID
		},
		"no measurements":          func(p *plan.Plan) { p.Measurements = nil },
		"a measurement twice":      func(p *plan.Plan) { p.Measurements[1].ID = p.Measurements[0].ID },
		"a measurement left out":   func(p *plan.Plan) { p.Measurements = p.Measurements[1:] },
		"a query of nothing":       func(p *plan.Plan) { p.Measurements[1].Query.Factors[0].Attribute = "nothing" },
		"a query of another level": func(p *plan.Plan) { p.Measurements[1].Query.Factors[0].Level = "nothing" },
		"a query of another table": func(p *plan.Plan) { p.Measurements[1].Query.Table = "u" },
		"a query of no basis":      func(p *plan.Plan) { p.Measurements[1].Query.Factors[0].Basis = "nothing" },
		"a query of ranges":        func(p *plan.Plan) { p.Measurements[1].Query.Factors[0].Basis = plan.Ranges },
		"a column twice": func(p *plan.Plan) {
			f := &p.Measurements[1].Query.Factors
			*f = append(*f, (*f)[0])
		},
		"answers left out": func(p *plan.Plan) { p.Measurements[1].Cells-- },
		"no noise": func(p *plan.Plan) {
			p.Measurements[1].Mechanism = budget.Mechanism{Kind: budget.RandomizedResponse,
				Parameter: p.Measurements[1].Mechanism.Parameter}
		},
		"strategies of less":           func(p *plan.Plan) { p.Strategies[0].Measurements-- },
		"strategies of more":           func(p *plan.Plan) { p.Strategies[0].Measurements += 100 },
		"strategies of less than none": func(p *plan.Plan) { p.Strategies[0].Measurements = -1 },
		"no strategies":                func(p *plan.Plan) { p.Strategies = nil },
	} {
		for way, b := range plans {
			p, err := compiled.Read(b)
			if err != nil {
				t.Fatalf("%s: the plan itself: %v", way, err)
			}
			forge(p.Plan())
			if read, err := compiled.Read(p.Plan().Bytes()); !errors.Is(err, plan.ErrEdited) {
				t.Errorf("%s, %s: read as %v, with the error %v", way, name, read != nil, err)
			}
		}
	}
}

// TestForgedMicrodataAreRefused adds columns without measurements to microdata.
func TestForgedMicrodataAreRefused(t *testing.T) {
	for name, forge := range map[string]func(s *plan.Synthetic){
		"a column more":      func(s *plan.Synthetic) { s.By = append(s.By, s.By[0]) },
		"many columns more":  func(s *plan.Synthetic) { s.By = append(s.By, make([]plan.Factor, 100)...) },
		"columns exchanged":  func(s *plan.Synthetic) { s.By[0], s.By[1] = s.By[1], s.By[0] },
		"a column left out":  func(s *plan.Synthetic) { s.By = s.By[1:] },
		"of another's table": func(s *plan.Synthetic) { s.Table = "other" },
	} {
		p := plantest.MicrodataOf(t, "add-remove", "{rho: 1/10, split: {tables: 1/2, microdata: 1/2}}", "row",
			"{budget: microdata, method: mst}")
		if _, err := compiled.Read(p.Bytes()); err != nil {
			t.Fatalf("the plan itself: %v", err)
		}
		forge(&p.Synthetic[0])
		if _, err := compiled.Read(bytes.Clone(p.Bytes())); !errors.Is(err, plan.ErrEdited) {
			t.Errorf("%s: read with the error %v", name, err)
		}
	}
}
