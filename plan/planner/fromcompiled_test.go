package planner_test

import (
	"fmt"
	"testing"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// BenchmarkPredict works out the laws of all tables of the Adult extract.
func BenchmarkPredict(b *testing.B) {
	for _, of := range []struct{ budget, every string }{{"{rho: 1/8}", "[1, 2]"}, {"{epsilon: 1}", "[1, 2]"},
		{"{rho: 1/8}", "[0, 1, 2, 3]"}, {"{epsilon: 1}", "[0, 1, 2, 3]"}} {
		columns, by := "", ""
		for i, n := range plantest.Adult14 {
			columns += fmt.Sprintf("c%d: {type: integer, range: [1, %d]}, ", i, n)
			by += fmt.Sprintf("c%d, ", i)
		}
		p, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml",
			Text: fmt.Sprintf("version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\n"+
				"budget: %s\n"+
				"tables: {t: {source: {csv: t.csv}, unit: row, columns: {%s}}}\nmarginals: {m: {every: %s, by: [%s]}}\n", of.budget,
				columns, of.every, by)})
		if err != nil {
			b.Fatal(err)
		}
		estimates, err := compiled.Of(p).Estimates()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(of.budget+of.every, func(b *testing.B) {
			for b.Loop() {
				if err := planner.Predict(p, estimates); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
