package trace

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/plan/statistic"
)

// TestFiguresThatCountUpAreTraced traces every cell of every table to its measurements.
func TestFiguresThatCountUpAreTraced(t *testing.T) {
	for _, budget := range []string{"{rho: 1/50}", "{epsilon: 1}"} {
		place := publishedtest.Ages(t, releasetest.CountsUpSpec, budget)
		e, err := published.Open(place)
		if err != nil {
			t.Fatal(err)
		}
		for _, pt := range e.Plan.Tables {
			name := pt.Statistics[0].Name
			for at := range pt.Cells {
				row, columns, err := releasetest.Row(filepath.Join(place, "tables", pt.Path+".parquet"), at)
				if err != nil {
					t.Fatal(err)
				}
				var cell []string
				for _, by := range pt.By {
					cell = append(cell, by+"="+row[columns[by]].String())
				}
				trace, err := Cell(t.Context(), place, pt.Path, cell)
				if err != nil {
					t.Fatalf("%s: table %s, %v: %v", budget, pt.Path, cell, err)
				}
				var sum, variance float64
				for _, o := range trace.Contributions {
					sum += o.Sum
					for _, w := range o.Weights {
						variance += w.Value * w.Value * float64(w.Integers) * o.Mechanism.Variance()
					}
				}
				// Sums of some hundred numbers near 1000, and of variances.
				if want := published.Number(row[columns[name+statistic.Unbiased]]); math.Abs(sum-want) > 1e-8*(1+
					math.Abs(want)) {
					t.Errorf("%s: table %s, %v: the measurements bring %v, published %v", budget, pt.Path, cell, sum,
						want)
				}
				want := published.Number(row[columns[name+statistic.StandardError]])
				if math.Abs(math.Sqrt(variance)-want) > 1e-9*want {
					t.Errorf("%s: table %s, %v: an error of %v, published %v", budget, pt.Path, cell,
						math.Sqrt(variance), want)
				}
				if trace.Attained < 0.95 || strings.Join(cell, ",") != cellText(trace.Cell) {
					t.Errorf("%s: table %s, %v: %+v", budget, pt.Path, cell, trace)
				}
			}
		}
	}
}

// cellText returns a cell as named on the command line.
func cellText(keys []KeyOf) string {
	var parts []string
	for _, k := range keys {
		parts = append(parts, k.Attribute+"="+k.Code)
	}
	return strings.Join(parts, ",")
}
