package maker

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// Ten times 0.1, whose float64 is slightly larger, is nearest to 1, although adding them one by one in float64 gives
// less; 2^53 + 1 is not a float64.
func TestTotalsAreExact(t *testing.T) {
	tenth := []float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}
	for _, c := range []struct {
		values []float64
		whole  bool
		want   json.Number
	}{
		{tenth, false, "1"},
		{[]float64{1e16, 1, -1e16, 0.25}, false, "1.25"},
		{[]float64{-12345.678, 0}, false, "-12345.678"},
		{[]float64{1 << 53, 1}, true, "9007199254740993"},
		{[]float64{3, -3}, false, "0"},
		{nil, true, "0"},
	} {
		if got := sumFloats(c.values, c.whole); got != c.want {
			t.Errorf("%v: %s, want %s", c.values, got, c.want)
		}
	}
}

func TestRelativeMarginIsThatOfTheCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		published := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 60).Draw(t, "published")
		margins := rapid.SliceOfN(rapid.Int64Range(0, 40), len(published), len(published)).Draw(t, "margins")
		got := relativeMargin(func(i int) float64 { return float64(margins[i]) }, published)
		var ratios []float64
		for i, v := range published {
			if v > 0 {
				ratios = append(ratios, float64(margins[i])/float64(v))
			}
		}
		if len(ratios) == 0 {
			if got != nil {
				t.Fatal("a spread over no cells")
			}
			return
		}
		// By definition the nearest-rank quantile is the least ratio that at least that share of the ratios does not
		// exceed.
		for part, q := range map[float64]float64{0.1: got.Q10, 0.5: got.Q50, 0.9: got.Q90} {
			if shareBelow(ratios, q, true) < part-1e-12 || shareBelow(ratios, q, false) >= part-1e-12 {
				t.Fatalf("%v is not the %v quantile of %v", q, part, ratios)
			}
		}
		if got.Within10 != shareBelow(ratios, 0.1, true) || got.Within50 != shareBelow(ratios, 0.5, true) {
			t.Fatalf("got %+v of %v", got, ratios)
		}
	})
}

// shareBelow returns the share of the ratios that are at most (or less than) a limit.
func shareBelow(ratios []float64, limit float64, orEqual bool) float64 {
	n := 0.0
	for _, r := range ratios {
		if r < limit || orEqual && r == limit {
			n++
		}
	}
	return n / float64(len(ratios))
}
