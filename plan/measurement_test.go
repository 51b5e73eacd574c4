package plan

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/ranges"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// A factor of ranges says all of its column's strategy, and others are written as before there were any.
func TestFactorsOfRangesSayTheirStrategy(t *testing.T) {
	all := []residual.Ranging{{Sums: residual.Prefixes, Method: residual.Haar}, {Sums: residual.Ranges, Method: residual.HaarLaplace, Bits: 6}}
	for _, kappa := range ranges.Kappas {
		all = append(all, residual.Ranging{Sums: residual.Prefixes, Kappa: kappa}, residual.Ranging{Sums: residual.Ranges, Kappa: kappa})
	}
	for _, want := range all {
		b, err := json.Marshal(Factor{Attribute: "age", Level: "half"}.ranged(want))
		if err != nil {
			t.Fatal(err)
		}
		var f Factor
		if err := json.Unmarshal(b, &f); err != nil {
			t.Fatal(err)
		}
		if got, err := f.ranging(); err != nil || got != want {
			t.Errorf("%s: %+v, %v, written of %+v", b, got, err, want)
		}
	}
	b, err := json.Marshal(Factor{Attribute: "age", Basis: Identity})
	if want := `{"attribute":"age","basis":"identity"}`; err != nil || string(b) != want {
		t.Errorf("%s, expected %s", b, want)
	}
}

// What no planner writes is refused, and does not panic.
func TestForgedFactorsAreRefused(t *testing.T) {
	r := crossedRelease(t, "add-remove", "{rho: 1}", 1, "{x: {by: [age]}}")
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
	good := Factor{Attribute: "age", Basis: Ranges, Sums: "prefixes", Kappa: "4"}
	for want, change := range map[string]func(f *Factor){
		"":                        func(*Factor) {},
		"no such sums, method or": func(f *Factor) { f.Sums = "" },
		"\"4.0\"":                 func(f *Factor) { f.Kappa = "4.0" },
		"κ = NaN":                 func(f *Factor) { f.Kappa = "NaN" },
		"\"-0\"":                  func(f *Factor) { f.Kappa = "-0" },
		"κ is not a number":       func(f *Factor) { f.Kappa = "1e999" },
		"no strategy":             func(f *Factor) { f.Kappa = "3" },
		"\"haar\", \"4\"":         func(f *Factor) { f.Method = "haar" },
		"no strategy \"best\"":    func(f *Factor) { f.Method, f.Kappa = "best", "" },
		"no such sums, method":    func(f *Factor) { f.Within = "half" },
		"2 to 65536 categories":   func(f *Factor) { f.Level = "whole" },
		"not of 12 bits":          func(f *Factor) { f.Bits = 12 },
		"not of -3 bits":          func(f *Factor) { f.Bits = -3 },
		"no basis \"ranged\"":     func(f *Factor) { f.Basis = "ranged" },
		"no such level":           func(f *Factor) { f.Level = "quarter" },
	} {
		f := good
		change(&f)
		_, _, _, err := Query{Table: "t", Factors: []Factor{f}}.Residual(r)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %v, expected %q", f, err, want)
		}
	}
	for _, f := range []Factor{good, {Attribute: "age", Basis: Ranges, Sums: "ranges", Method: "haar"}} {
		if _, _, _, err := (Query{Table: "t", Factors: []Factor{f}}).Residual(wide); err == nil || !strings.Contains(err.Error(), "2 to 65536") {
			t.Errorf("65537 categories: %v", err)
		}
	}
}

// Reading a plan whose factors were changed, and all that is asked of one, ends in an error or in a figure.
func TestForgedPlansDoNotPanic(t *testing.T) {
	p := crossedPlan(t, "add-remove", "{rho: 1}", 1, "{x: {every: [1, 2], by: [age, sex]}, y: {by: [age.half]}}")
	text := string(p.Bytes())
	for _, basis := range []string{"identity", "ranges", "other", `ranges","sums":"prefixes","kappa":"4`, `ranges","sums":"ranges","method":"haar`} {
		forged := strings.ReplaceAll(text, `"basis":"residual"`, `"basis":"`+basis+`"`)
		if forged == text {
			forged = strings.ReplaceAll(text, `"basis": "residual"`, `"basis": "`+strings.ReplaceAll(basis, `":"`, `": "`)+`"`)
		}
		if forged == text {
			t.Fatal("the plan has no residual")
		}
		q, err := Read([]byte(forged))
		if err != nil {
			continue
		}
		if q.Verify() == nil {
			t.Errorf("%s: the plan is what its spec leads to", basis)
		}
		_, _ = q.Estimates()
		for _, m := range q.Measurements {
			_, _ = q.changed(m, "age")
		}
	}
}

// TestChangedBoundsWhatOneColumnMoves: of a query with counts of sex beside ranges of age, by enumeration of all pairs of
// rows that differ in one of them.
func TestChangedBoundsWhatOneColumnMoves(t *testing.T) {
	p := crossedPlan(t, "add-remove", "{rho: 1}", 1, "{x: {by: [sex, age]}}")
	q := Query{Table: "t", Factors: []Factor{
		{Attribute: "sex", Basis: Identity},
		Factor{Attribute: "age"}.ranged(residual.Ranging{Sums: residual.Prefixes, Kappa: 2}),
		{Attribute: "kind", Basis: Residual},
	}}
	columns, axes, plain, err := q.Residual(p.Release())
	if err != nil || !slices.Equal(plain, []bool{true, false, false}) {
		t.Fatal(plain, err)
	}
	row := func(sex, age, kind int) []int64 {
		counts := make([]int64, 2*6*3)
		counts[(sex*6+age)*3+kind] = 1
		integers, err := residual.Exact(columns, axes, plain, counts)
		if err != nil || len(integers) != 2*5*3 {
			t.Fatal(len(integers), err)
		}
		return integers
	}
	apart := map[string]int64{}
	for _, from := range places(2, 6, 3) {
		for _, to := range places(2, 6, 3) {
			column, differ := "", 0
			for i, name := range []string{"sex", "age", "kind"} {
				if from[i] != to[i] {
					column, differ = name, differ+1
				}
			}
			if differ != 1 {
				continue
			}
			var squares int64
			a, b := row(from[0], from[1], from[2]), row(to[0], to[1], to[2])
			for i := range a {
				squares += (a[i] - b[i]) * (a[i] - b[i])
			}
			apart[column] = max(apart[column], squares)
		}
	}
	for column, want := range apart {
		m := Measurement{Query: q, Mechanism: budget.Mechanism{Parameter: big.NewRat(1, 1)}}
		changed, err := p.changed(m, column)
		if err != nil || changed.L2Squared.Cmp(big.NewInt(want)) != 0 {
			t.Errorf("%s: %v, %v; by enumeration %d", column, changed.L2Squared, err, want)
		}
	}
	if len(apart) != 3 {
		t.Error(fmt.Sprint(apart))
	}
}

// places are all of some sizes.
func places(sizes ...int) [][]int {
	out := [][]int{{}}
	for _, n := range sizes {
		var next [][]int
		for _, p := range out {
			for i := range n {
				next = append(next, append(slices.Clone(p), i))
			}
		}
		out = next
	}
	return out
}

// Four columns with ranges in one table have integers of 7 bits, whose products stay within 2³⁰; three of them all digits,
// and beside a column of four categories two less in the product.
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
		p, err := New(r)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, m := range p.Measurements {
			for _, f := range m.Query.Factors {
				if f.Basis == Ranges {
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
