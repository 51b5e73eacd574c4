package release

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan"
)

// countsUpSpec has tables that count up: alone, with a second column, on a coarser level, along two keys, and beside
// ranges of another.
const countsUpSpec = `version: 1
release: NAME
privacy: {protects: trip, neighbours: add-remove}
budget: BUDGET
tables:
  t: {source: {csv: t.csv}, unit: row, columns: {
    mode: {values: [walk, ride, "by car, or van"]},
    age: {type: integer, range: [0, 59], levels: {ten: {width: 10}, twenty: {width: 20}, edges: {edges: [0, 10, 40]}}},
    side: {values: [n, s]}, day: {values: [mon, tue]}}}
marginals:
  ages: {by: [age.ten], cumulative: [age.ten]}
  modes: {by: [mode, age.ten], cumulative: [age.ten]}
  coarse: {by: [age.twenty, side], cumulative: [age.twenty]}
  both: {by: [mode, age.edges, side], cumulative: [mode, age.edges]}
  ranges: {by: [age.ten, side], ranges: [age.ten]}
  plain: {by: [side]}
`

// TestFiguresThatCountUpAreTraced follows every cell of every table to its measurements.
func TestFiguresThatCountUpAreTraced(t *testing.T) {
	for _, budget := range []string{"{rho: 1/50}", "{epsilon: 1}"} {
		place := publishSpec(t, countsUpSpec, budget)
		e, err := published.Open(place)
		if err != nil {
			t.Fatal(err)
		}
		for _, pt := range e.Plan.Tables {
			name := pt.Statistics[0].Name
			for at := range pt.Cells {
				row, columns, err := publishedRowIn(filepath.Join(place, "tables", pt.Path+".parquet"), at)
				if err != nil {
					t.Fatal(err)
				}
				var cell []string
				for _, by := range pt.By {
					cell = append(cell, by+"="+row[columns[by]].String())
				}
				trace, err := TraceCell(t.Context(), place, pt.Path, cell)
				if err != nil {
					t.Fatalf("%s: table %s, %v: %v", budget, pt.Path, cell, err)
				}
				var sum, variance float64
				for _, o := range trace.Bearings {
					sum += o.Sum
					for _, w := range o.Weights {
						variance += w.Value * w.Value * float64(w.Integers) * o.Mechanism.Variance()
					}
				}
				// Sums of some hundred numbers near 1000, and of variances.
				if want := published.Number(row[columns[name+plan.Unbiased]]); math.Abs(sum-want) > 1e-8*(1+math.Abs(want)) {
					t.Errorf("%s: table %s, %v: the measurements bring %v, published %v", budget, pt.Path, cell, sum, want)
				}
				if want := published.Number(row[columns[name+plan.StandardError]]); math.Abs(math.Sqrt(variance)-want) > 1e-9*want {
					t.Errorf("%s: table %s, %v: an error of %v, published %v", budget, pt.Path, cell, math.Sqrt(variance), want)
				}
				if trace.Attained < 0.95 || strings.Join(cell, ",") != cellText(trace.Cell) {
					t.Errorf("%s: table %s, %v: %+v", budget, pt.Path, cell, trace)
				}
			}
		}
	}
}

func cellText(keys []KeyOf) string {
	var parts []string
	for _, k := range keys {
		parts = append(parts, k.Attribute+"="+k.Code)
	}
	return strings.Join(parts, ",")
}

// TestRunningSumsAreComparedWithRunningSums works out the figures of an evaluation anew from the published files and the
// rows, which publishSpec makes.
func TestRunningSumsAreComparedWithRunningSums(t *testing.T) {
	place := publishSpec(t, countsUpSpec, "{rho: 1/50}")
	dir := filepath.Dir(filepath.Dir(place))
	p, err := Load(context.Background(), SpecFile{Path: filepath.Join(dir, "r.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "private")
	if err := evaluateTo(context.Background(), p, place, Options{Out: out, Data: dir}); err != nil {
		t.Fatal(err)
	}
	v := readEvaluation(t, out)
	order := map[string][]string{"mode": {"walk", "ride", "by car, or van"}}
	truths := map[string]func(mode, side string, age int, keys []string) bool{
		"ages":  func(_, _ string, age int, k []string) bool { return age <= last(k[0]) },
		"modes": func(mode, _ string, age int, k []string) bool { return mode == k[0] && age <= last(k[1]) },
		"both": func(mode, side string, age int, k []string) bool {
			return slices.Index(order["mode"], mode) <= slices.Index(order["mode"], k[0]) && age <= last(k[1]) && side == k[2]
		},
		"plain": func(_, side string, _ int, k []string) bool { return side == k[0] },
	}
	compared := 0
	for i, got := range v.Tables {
		holds, ok := truths[got.Path]
		if !ok {
			continue
		}
		compared++
		name := p.Tables[i].Statistics[0].Name
		var squares, covered float64
		for at := range got.Cells {
			row, columns, err := publishedRowIn(filepath.Join(place, "tables", got.Path+".parquet"), at)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, by := range p.Tables[i].By {
				keys = append(keys, row[columns[by]].String())
			}
			truth := 0.0
			for i := range 600 {
				if holds(order["mode"][i%3], []string{"n", "s"}[i%2], i%60, keys) {
					truth++
				}
			}
			off := published.Number(row[columns[name+plan.Unbiased]]) - truth
			squares += off * off
			if published.Number(row[columns[name+plan.Low]]) <= truth && truth <= published.Number(row[columns[name+plan.High]]) {
				covered++
			}
		}
		n := float64(got.Cells)
		for what, pair := range map[string][2]float64{"RMSE": {got.RMSE, math.Sqrt(squares / n)}, "coverage": {got.Coverage, covered / n}, "N": {float64(got.Rows), 600}} {
			if math.Abs(pair[0]-pair[1]) > 1e-9*pair[1] { // roundings of sums of a few squares
				t.Errorf("%s of %s: %v, want %v", what, got.Path, pair[0], pair[1])
			}
		}
		if up := got.Path != "plain"; up != (got.L1OverN == nil) || up != (got.TVD == nil) || up != (got.CountsUp != nil) {
			t.Errorf("%s: counts up along %v, L1/N %v", got.Path, got.CountsUp, got.L1OverN)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, EvaluationPage))
	if err != nil {
		t.Fatal(err)
	}
	if compared != len(truths) || !strings.Contains(string(page), "Table both counts up along mode, age.edges: running sums") || strings.Contains(string(page), "Table plain counts up") {
		t.Errorf("%d tables compared\n%s", compared, page)
	}
}

// last is the highest age of a band; the last band of the edges is open.
func last(code string) int {
	var from, to int
	if n, _ := fmt.Sscanf(code, "%d–%d", &from, &to); n == 2 {
		return to
	}
	return 59
}

// TestAnswersAreCountsAlsoOfTablesThatCountUp asks for what only a table that counts up holds.
func TestAnswersAreCountsAlsoOfTablesThatCountUp(t *testing.T) {
	place := publishSpec(t, countsUpSpec, "{rho: 1/50}")
	a, err := Query(t.Context(), place, Question{By: []string{"mode", "age.ten"}})
	if err != nil {
		t.Fatal(err)
	}
	var text, table strings.Builder
	if a.Table != "modes" || a.Write(&text) != nil || a.CSV(&table) != nil {
		t.Fatalf("from table %s", a.Table)
	}
	if !strings.HasPrefix(table.String(), "mode,age.ten,count_unbiased,") || !strings.HasPrefix(text.String(), "r: count of rows of t by mode, age.ten") {
		t.Errorf("%s\n%s", table.String(), text.String())
	}
	modes := []string{"walk", "ride", "by car, or van"}
	for _, r := range a.Rows {
		truth := 0.0
		for i := range 600 {
			if modes[i%3] == r.Keys[0] && i%60 <= last(r.Keys[1]) && i%60 > last(r.Keys[1])-10 {
				truth++
			}
		}
		if math.Abs(r.Unbiased-truth) > 7*r.StandardError { // of 18 cells, by chance once in 10^10 runs
			t.Errorf("%v: %v ± %v, the truth is %v", r.Keys, r.Unbiased, r.StandardError, truth)
		}
	}
}
