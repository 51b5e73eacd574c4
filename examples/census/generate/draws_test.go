package main

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSplitKeepsTheTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.SliceOfN(rapid.IntRange(0, 50), 1, 40).Draw(t, "least")
		weights := make([]float64, len(least))
		for i := range weights {
			weights[i] = rapid.Float64Range(.001, 1000).Draw(t, "weight")
		}
		rest := rapid.IntRange(0, 1_000_000).Draw(t, "rest")
		total := sum(least) + rest
		parts := split(total, least, weights)
		if sum(parts) != total {
			t.Fatalf("parts %v of %d", parts, total)
		}
		var all float64
		for _, w := range weights {
			all += w
		}
		for i, part := range parts {
			if exact := float64(rest) * weights[i] / all; part < least[i] ||
				math.Abs(float64(part-least[i])-exact) > 1.001 {
				t.Fatalf("part %d is %d, want %d and %g more", i, part, least[i], exact)
			}
		}
	})
}

func TestGroupsOfTracts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tracts := rapid.IntRange(1, 60).Draw(t, "tracts")
		total := rapid.IntRange(tracts, 9*tracts).Draw(t, "total")
		groups := newStream(rapid.Uint64().Draw(t, "seed"), "test", "").groupsOfTracts(total, tracts)
		if len(groups) != tracts || sum(groups) != total || slices.Min(groups) < 1 || slices.Max(groups) > 9 {
			t.Fatalf("%v, want %d in %d tracts", groups, total, tracts)
		}
	})
}

// TestNormal compares the moments and the distribution of a million draws with those of the normal distribution. The
// draws are the same every time.
func TestNormal(t *testing.T) {
	const n = 1_000_000
	r := newStream(1, "test", "normal")
	var mean, square, fourth, below float64
	for range n {
		x := r.normal()
		mean, square, fourth = mean+x/n, square+x*x/n, fourth+x*x*x*x/n
		if x < -1.2815515655446004 {
			below += 1. / n
		}
	}
	for _, c := range []struct{ got, want, within float64 }{{mean, 0, .004}, {square, 1, .006}, {fourth, 3, .04},
		{below, .1, .0012}} { // four standard errors
		if math.Abs(c.got-c.want) > c.within {
			t.Errorf("%g, want %g ± %g", c.got, c.want, c.within)
		}
	}
}

// TestRaceSets holds the order of the race codes of the redistricting data: White is 1, two races begin at 7 with White
// and Black, and all six are 63.
func TestRaceSets(t *testing.T) {
	if len(raceSets) != 63 {
		t.Fatalf("%d sets", len(raceSets))
	}
	for code, want := range map[int]raceSet{1: white, 2: black, 3: american, 4: asian, 5: pacific, 6: other,
		7: white | black, 8: white | american, 11: white | other, 12: black | american, 21: pacific | other,
		22: white | black | american, 42: white | black | american | asian, 62: 63 &^ white, 63: 63} {
		if got := raceSets[code-1]; got != want {
			t.Errorf("code %d is %s, want %s", code, got, want)
		}
	}
	var all, hispanics float64
	for i, share := range baseShares {
		all += share
		if i%2 == 1 {
			hispanics += share
		}
	}
	if math.Abs(all-1) > .005 || math.Abs(hispanics-.187) > .01 {
		t.Errorf("national shares add up to %g, of Hispanics to %g", all, hispanics)
	}
}

// TestOrigins compares the distribution of a composition with the formula, which is computed here without roots.
func TestOrigins(t *testing.T) {
	composition := [...]float64{.5, -1, 2, .3, -.2, 1, -.7}
	o := newOrigins(composition)
	before := 0.
	for i, s := range raceSets {
		var mean float64
		for race := range raceNames {
			if s>>race&1 == 1 {
				mean += composition[race] / float64(s.size())
			}
		}
		all, hispanic := s.share()
		for j, want := range []float64{all * (1 - hispanic) * math.Exp(mean), all * hispanic * math.Exp(mean-.7)} {
			if got := o[2*i+j] - before; math.Abs(got-want) > 1e-12 {
				t.Errorf("%s, %d: weight %g, want %g", s, j, got, want)
			}
			before = o[2*i+j]
		}
	}
}
