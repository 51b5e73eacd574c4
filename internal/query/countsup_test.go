package query

import (
	"math"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/releasetest"
)

// TestAnswersAreCountsAlsoOfTablesThatCountUp asks questions that only a table of cumulative counts holds.
func TestAnswersAreCountsAlsoOfTablesThatCountUp(t *testing.T) {
	place := publishedtest.Ages(t, releasetest.CountsUpSpec, "{rho: 1/50}")
	a, err := Query(t.Context(), place, Question{By: []string{"mode", "age.ten"}})
	if err != nil {
		t.Fatal(err)
	}
	var text, table strings.Builder
	if a.Table != "modes" || a.Write(&text) != nil || a.CSV(&table) != nil {
		t.Fatalf("from table %s", a.Table)
	}
	if !strings.HasPrefix(table.String(), "mode,age.ten,count_unbiased,") ||
		!strings.HasPrefix(text.String(), "r: count of rows of t by mode, age.ten") {
		t.Errorf("%s\n%s", table.String(), text.String())
	}
	modes := []string{"walk", "ride", "by car, or van"}
	for _, r := range a.Rows {
		truth := 0.0
		for i := range 600 {
			if modes[i%3] == r.Keys[0] && i%60 <= releasetest.LastAge(r.Keys[1]) &&
				i%60 > releasetest.LastAge(r.Keys[1])-10 {
				truth++
			}
		}
		if math.Abs(r.Unbiased-truth) > 7*r.StandardError { // over 18 cells, by chance once in 10^10 runs
			t.Errorf("%v: %v ± %v, the truth is %v", r.Keys, r.Unbiased, r.StandardError, truth)
		}
	}
}
