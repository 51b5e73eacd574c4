package release

// This file tests published models by rows whose means are known, at a budget with next to no noise.

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/synth/model"
)

const numbersSpec = `version: 1
release: trips
privacy: {protects: person, neighbours: add-remove, account: trips}
budget: {rho: 300, split: {counts: 1/2, sums: 1/2}}
tables:
  stays:
    source: {csv: t.csv}
    unit: row
    expect: {rows: [1000, 1400]}
    columns:
      ward: {values: [a, b, c]}
      age: {values: [young, old]}
      visits: {type: integer, range: [0, 8]}
models:
  counts: {predict: visits, by: [ward, age], link: log}
  sums: {predict: visits, by: [ward, age], link: identity}
`

// TestModelsOfNumbers: mean visits are products of a factor for the ward and one for the age, which a model of link log
// finds and one of link identity misses. Over twenty releases the first was off by at most 0.6 % on
// average (standard deviation 0.2 %), and the second by a third (0.4 %): the bounds of 3 and 10 % are more than ten
// deviations away.
func TestModelsOfNumbers(t *testing.T) {
	wards, ages := []float64{1, 2, 4}, []float64{1, 1.5}
	rows := &strings.Builder{}
	rows.WriteString("ward,age,visits\n")
	for i := range 1200 {
		ward, age := i%3, i/3%2
		mean := wards[ward] * ages[age]
		visits := math.Floor(mean) // with its neighbour, the mean
		if i/6%2 == 1 {
			visits = 2*mean - visits
		}
		if mean == math.Floor(mean) {
			visits += float64(i/6%2)*2 - 1
		}
		fmt.Fprintf(rows, "%c,%s,%v\n", "abc"[ward], []string{"young", "old"}[age], visits)
	}
	o := releasetest.With(t, numbersSpec, "account: trips\nprotects: person\nneighbours: add-remove\ncap: {rho: 300}\n",
		rows.String())
	_, place := runRelease(t, o)
	fitted := map[string]*model.Published{}
	for _, name := range []string{"counts", "sums"} {
		text, err := os.ReadFile(filepath.Join(place, "models", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if fitted[name], err = model.Read(text); err != nil {
			t.Fatal(err)
		}
	}
	largest := map[string]float64{}
	for ward := range wards {
		for age := range ages {
			for name, m := range fitted {
				got, err := m.Mean([]int{ward, age})
				if err != nil {
					t.Fatal(err)
				}
				largest[name] = max(largest[name], math.Abs(got/(wards[ward]*ages[age])-1))
			}
		}
	}
	if !(largest["counts"] < .03 && largest["sums"] > .1) {
		t.Errorf("predictions are off by up to %v", largest)
	}
}
