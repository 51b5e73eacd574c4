package optimise_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// waysOf returns a release of all tables of up to two of some columns, given by the sizes of their domains.
func waysOf(t testing.TB, sizes []int, budget string) *spec.Release {
	t.Helper()
	var columns, names []string
	for i, n := range sizes {
		columns = append(columns, fmt.Sprintf("c%d: {type: integer, range: [0, %d]}", i, n-1))
		names = append(names, fmt.Sprintf("c%d", i))
	}
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(`version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: %s
tables: {t: {source: {csv: t.csv}, unit: row, columns: {%s}}}
marginals: {m: {every: [0, 1, 2], by: [%s]}}
`, budget, strings.Join(columns, ", "), strings.Join(names, ", "))})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// BenchmarkChoose designs the strategies of all tables of up to three columns and takes the best, starting from the
// list of the tables. For Adult the bar is 10 ms; for a hundred columns of ten categories, 166 751 tables, it is 1 s.
func BenchmarkChoose(b *testing.B) {
	ten := make([]int, 100)
	for i := range ten {
		ten[i] = 10
	}
	for _, c := range []struct {
		name  string
		sizes []int
	}{{"adult14", plantest.Adult14}, {"10^100", ten}} {
		b.Run(c.name, func(b *testing.B) {
			r := waysOf(b, c.sizes, "{rho: 1/2}")
			tables, err := workload.Expand(r)
			if err != nil {
				b.Fatal(err)
			}
			m := &r.Marginals[0]
			for _, by := range workload.Choose(m.By, 3) { // a marginal of a release may not ask for so many
				t := &workload.Table{Index: len(tables), Path: workload.TablePath(m.Name, true, by), Marginal: m,
					By:        by,
					CountedBy: by, Sums: workload.SumsOf(m, by), Weight: 1, Counted: counted.Rows{},
					Selection: selection.All{}}
				if t.Cells, err = workload.Cells(r, t); err != nil {
					b.Fatal(err)
				}
				tables = append(tables, t)
			}
			b.ReportAllocs()
			for b.Loop() {
				blueprint, err := optimise.NewBlueprint(r, tables, nil, nil, nil, 1, strategy.RangedPerLeaf)
				if err != nil {
					b.Fatal(err)
				}
				if g := blueprint.Groups[0]; g.Designs[g.Best[0]].Kind != strategy.Residuals {
					b.Fatalf("the strategy is %s", g.Designs[g.Best[0]].Kind)
				}
			}
		})
	}
}

// BenchmarkChoosePairs chooses for all 5050 tables of one and two of a hundred columns. That takes about 0.1 s in ρ
// and about 2 s in ε.
func BenchmarkChoosePairs(b *testing.B) {
	columns, names := "", ""
	for i := range 100 {
		columns += fmt.Sprintf("a%d: {type: integer, range: [0, %d]}, ", i, 1+i%7)
		names += fmt.Sprintf("a%d, ", i)
	}
	for _, budget := range []string{"{rho: 1}", "{epsilon: 1}"} {
		b.Run(budget, func(b *testing.B) {
			r, err := spec.Parse(spec.Source{Name: "release.yaml",
				Text: "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\nbudget: " + budget +
					"\ntables: {t: {source: {csv: t.csv}, unit: row, columns: {" + strings.TrimSuffix(columns, ", ") +
					"}}}\nmarginals: {x: {every: [1, 2], by: [" + strings.TrimSuffix(names, ", ") + "]}}\n"})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				blueprintOf(b, r)
			}
		})
	}
}
