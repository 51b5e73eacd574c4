package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// What no planner writes is refused, and does not panic.
func TestForgedFactorsAreRefused(t *testing.T) {
	r := plantest.CrossedRelease(t, "add-remove", "{rho: 1}", 1, "{x: {by: [age]}}")
	wide, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 1}, columns: {age: {type: integer, range: [0, 65536], levels: {most: {edges: [0, 513]}}}}}}
marginals: {x: {by: [age]}}
`})
	if err != nil {
		t.Fatal(err)
	}
	good := plan.Factor{Attribute: "age", Basis: plan.Ranges, Sums: "prefixes", Kappa: "4"}
	for want, change := range map[string]func(f *plan.Factor){
		"":                        func(*plan.Factor) {},
		"no such sums, method or": func(f *plan.Factor) { f.Sums = "" },
		"\"4.0\"":                 func(f *plan.Factor) { f.Kappa = "4.0" },
		"κ = NaN":                 func(f *plan.Factor) { f.Kappa = "NaN" },
		"\"-0\"":                  func(f *plan.Factor) { f.Kappa = "-0" },
		"κ is not a number":       func(f *plan.Factor) { f.Kappa = "1e999" },
		"no strategy":             func(f *plan.Factor) { f.Kappa = "3" },
		"\"haar\", \"4\"":         func(f *plan.Factor) { f.Method = "haar" },
		"no strategy \"best\"":    func(f *plan.Factor) { f.Method, f.Kappa = "best", "" },
		"no such sums, method":    func(f *plan.Factor) { f.Within = "half" },
		"2 to 65536 categories":   func(f *plan.Factor) { f.Level = "whole" },
		"not of 12 bits":          func(f *plan.Factor) { f.Bits = 12 },
		"not of -3 bits":          func(f *plan.Factor) { f.Bits = -3 },
		"no basis \"ranged\"":     func(f *plan.Factor) { f.Basis = "ranged" },
		"no such level":           func(f *plan.Factor) { f.Level = "quarter" },
	} {
		f := good
		change(&f)
		_, _, _, err := plan.Query{Table: "t", Factors: []plan.Factor{f}}.Residual(r)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %v, expected %q", f, err, want)
		}
	}
	for _, f := range []plan.Factor{good, {Attribute: "age", Basis: plan.Ranges, Sums: "ranges", Method: "haar"}} {
		if _, _, _, err := (plan.Query{Table: "t", Factors: []plan.Factor{f}}).Residual(wide); err == nil ||
			!strings.Contains(err.Error(), "2 to 65536") {
			t.Errorf("65537 categories: %v", err)
		}
	}
}

// Four columns with ranges in one table have integers of 7 bits, whose products stay within 2³⁰; three of them all
// digits, and beside a column of four categories two less in the product.
func TestColumnsOfRangesTogetherHaveSmallerIntegers(t *testing.T) {
	for by, want := range map[string]int{"a, b, c, d": 7, "a, b, c": 0, "a, b, c, e": 9} {
		sums := strings.TrimSuffix(by, ", e")
		r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(`version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 1}, columns: {a: {type: integer, range: [0, 2]}, b: {type: integer, range: [0, 2]}, c: {type: integer, range: [0, 2]}, d: {type: integer, range: [0, 2]}, e: {type: integer, range: [0, 3]}}}}
marginals: {x: {by: [%s], cumulative: [%s]}}
`, by, sums)})
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.New(r)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, m := range p.Measurements {
			for _, f := range m.Query.Factors {
				if f.Basis == plan.Ranges {
					found++
					if f.Bits != want {
						t.Errorf("%s: %+v, expected %d bits", by, f, want)
					}
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: no factor of ranges", by)
		}
	}
}
