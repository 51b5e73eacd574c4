package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dprelease/dprelease/plan/boosting"
)

// TestBandsHold fits models again and again with other noise in the sums of residuals. At least 95 % of the entries
// must be within 1.96 standard errors of those without that noise: if columns are independent, and if two are equal, so
// that no round takes back what moves one up and the other down. The errors must not be more than three times too wide.
// All this holds for columns and for pairs.
func TestBandsHold(t *testing.T) {
	for _, link := range links {
		for _, equal := range []bool{false, true} {
			for _, sigma := range []float64{20, 100} {
				t.Run(fmt.Sprintf("%s/equal=%v/sigma=%v", link, equal, sigma), func(t *testing.T) {
					s := withPairs(smallShape(link))
					rows, _ := smallRows(rand.New(rand.NewPCG(1, 1)), s, 5000)
					if equal {
						s.Columns[2] = s.Columns[0]
						for _, row := range rows {
							row[2] = row[0]
						}
					}
					s.SumVariance = sigma * sigma * boosting.Bound * boosting.Bound
					within, ratio := bandsOf(t, s, cellsOf(rows))
					if !(within >= .95) || !(ratio > 1./3) {
						t.Errorf("%.4f within 1.96 errors, deviation %.2f errors", within, ratio)
					}
				})
			}
		}
	}
}

// bandsOf returns which share of entries is within 1.96 errors of that without noise, and the root of the mean square
// of their distance in errors.
func bandsOf(t *testing.T, s *boosting.Shape, cells []cell) (share, ratio float64) {
	t.Helper()
	truth, err := Train(t.Context(), s, &oracle{shape: s, cells: cells})
	if err != nil {
		t.Fatal(err)
	}
	within, all, squares := 0, 0, 0.0
	for i := range 200 {
		random := rand.New(rand.NewPCG(uint64(i), 7))
		m, err := Train(t.Context(), s, &oracle{shape: s, cells: cells, random: random, exactCounts: true})
		if err != nil {
			t.Fatal(err)
		}
		for c, table := range m.Scores.Tables {
			if len(table) == 1 {
				continue // centred, so it is 0
			}
			for k, x := range table {
				if m.Errors[c][k] < 1e-6 {
					continue // a pair with a column of one category, so it is 0
				}
				off := float64(x-truth.Scores.Tables[c][k]) / m.Errors[c][k]
				all, squares = all+1, squares+off*off
				if math.Abs(off) <= 1.96 {
					within++
				}
			}
		}
	}
	return float64(within) / float64(all), math.Sqrt(squares / float64(all))
}
