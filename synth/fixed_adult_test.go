package synth

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
)

// named are codes by the names that columns have in [planOf].
func named(codes [][]uint32) map[string][]uint32 {
	out := map[string][]uint32{}
	for i, c := range codes {
		out[fmt.Sprintf("c%d", i)] = c
	}
	return out
}

// columnNames are those of so many columns in [planOf].
func columnNames(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	return strings.Join(names, ", ")
}

func byTables(p *plan.Plan, n int) *plan.Plan {
	s := plan.Synthetic{Table: "t", Method: plan.Tables}
	for i := range n {
		s.By = append(s.By, plan.Factor{Attribute: fmt.Sprintf("c%d", i), Basis: plan.Identity})
	}
	p.Synthetic = []plan.Synthetic{s}
	return p
}

// twoWay is the mean over all pairs of columns of Σ|share of a cell in a − share in b|.
func twoWay(sizes []int, a, b [][]uint32) float64 {
	total, pairs := 0.0, 0
	for i := range sizes {
		for j := i + 1; j < len(sizes); j++ {
			cells := make([]float64, sizes[i]*sizes[j])
			for row := range a[i] {
				cells[int(a[i][row])*sizes[j]+int(a[j][row])] += 1 / float64(len(a[0]))
			}
			for row := range b[i] {
				cells[int(b[i][row])*sizes[j]+int(b[j][row])] -= 1 / float64(len(b[0]))
			}
			for _, c := range cells {
				total += math.Abs(c)
			}
			pairs++
		}
	}
	return total / float64(pairs)
}

func TestFixedOfAdult(t *testing.T) {
	if os.Getenv("DPRELEASE_LONG") == "" {
		t.Skip("set DPRELEASE_LONG to run it")
	}
	codes := adult(t)
	p := byTables(planOf(t, adultSizes, "{rho: 0.0149731}", "marginals: {m: {by: ["+columnNames(15)+"], every: [2]}}\n"), 15)
	const runs = 5
	var two, three, ideal float64
	for run := range runs {
		s := sealedFrom(t, p, named(codes), noise.Key{byte(run + 1)}, true)
		start := time.Now()
		d, err := NewDrawing(s, 0, Asked{})
		if err != nil {
			t.Fatal(err)
		}
		fitted := time.Since(start)
		rows := d.law.draw(d.out.Rows, newStream(s, "rows of t"))
		drawn := time.Since(start) - fitted
		a, b := twoWay(adultSizes, codes, rows), threeWay(adultSizes, codes, rows)
		t.Logf("%s: fitted %v, drawn %v; L1/N of pairs %.4f, of triples %.4f", d.out.Shape, fitted, drawn, a, b)
		two, three = two+a/runs, three+b/runs
		_ = ideal
	}
	t.Logf("mean %.4f %.4f", two, three)
}
