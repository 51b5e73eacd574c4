package release

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/evaluate"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/plan/statistic"
)

// TestRunningSumsAreComparedWithRunningSums works out the figures of an evaluation anew from the published files and
// the rows, which are made in order.
func TestRunningSumsAreComparedWithRunningSums(t *testing.T) {
	dir, p := releasetest.Ages(t, releasetest.CountsUpSpec, "{rho: 1/50}")
	r, err := Run(t.Context(), p, Options{Out: filepath.Join(dir, "out"), Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	place := r.Folder
	out := filepath.Join(t.TempDir(), "private")
	if err := evaluateTo(context.Background(), p, place, Options{Out: out, Data: dir}); err != nil {
		t.Fatal(err)
	}
	v := readEvaluation(t, out)
	order := map[string][]string{"mode": {"walk", "ride", "by car, or van"}}
	truths := map[string]func(mode, side string, age int, keys []string) bool{
		"ages": func(_, _ string, age int, k []string) bool { return age <= releasetest.LastAge(k[0]) },
		"modes": func(mode, _ string, age int, k []string) bool {
			return mode == k[0] && age <= releasetest.LastAge(k[1])
		},
		"both": func(mode, side string, age int, k []string) bool {
			return slices.Index(order["mode"], mode) <= slices.Index(order["mode"], k[0]) &&
				age <= releasetest.LastAge(k[1]) &&
				side == k[2]
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
			row, columns, err := releasetest.Row(filepath.Join(place, "tables", got.Path+".parquet"), at)
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
			off := published.Number(row[columns[name+statistic.Unbiased]]) - truth
			squares += off * off
			if published.Number(row[columns[name+statistic.Low]]) <= truth &&
				truth <= published.Number(row[columns[name+statistic.High]]) {
				covered++
			}
		}
		n := float64(got.Cells)
		for what, pair := range map[string][2]float64{"RMSE": {got.RMSE, math.Sqrt(squares / n)},
			"coverage": {got.Coverage, covered / n}, "N": {float64(got.Rows), 600}} {
			if math.Abs(pair[0]-pair[1]) > 1e-9*pair[1] { // roundings of sums of a few squares
				t.Errorf("%s of %s: %v, want %v", what, got.Path, pair[0], pair[1])
			}
		}
		if up := got.Path != "plain"; up != (got.L1OverN == nil) || up != (got.TVD == nil) ||
			up != (got.CountsUp != nil) {
			t.Errorf("%s: counts up along %v, L1/N %v", got.Path, got.CountsUp, got.L1OverN)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, evaluate.EvaluationPage))
	if err != nil {
		t.Fatal(err)
	}
	if compared != len(truths) ||
		!strings.Contains(string(page), "Table both counts up along mode, age.edges: running sums") ||
		strings.Contains(string(page), "Table plain counts up") {
		t.Errorf("%d tables compared\n%s", compared, page)
	}
}

// TestIntervalsHoldAlmostWithoutNoise has so much budget that some draw differs from 0 with a probability below 1e-40.
// Figures that are put together still have the error of rounding, and their intervals must hold in every cell.
func TestIntervalsHoldAlmostWithoutNoise(t *testing.T) {
	dir, p := releasetest.Ages(t, releasetest.CountsUpSpec, "{epsilon: 2000}")
	r, err := Run(t.Context(), p, Options{Out: filepath.Join(dir, "out"), Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "private")
	if err := evaluateTo(t.Context(), p, r.Folder, Options{Out: out, Data: dir}); err != nil {
		t.Fatal(err)
	}
	for _, table := range readEvaluation(t, out).Tables {
		if table.Coverage != 1 || table.RMSE > 1e-9 {
			t.Errorf("%s: %.2f of the intervals hold, and the RMSE is %g", table.Path, table.Coverage, table.RMSE)
		}
	}
}
