package optimise_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

const text = `version: 1
release: pets
privacy: {protects: household, neighbours: add-remove}
budget: {rho: 1/8}
tables:
  town:
    source: {csv: town.csv}
    unit: row
    columns: {pet: {values: [cat, dog, none]}, home: {values: [house, flat]}}
marginals: {pets: {every: [1, 2], by: [pet, home]}}
`

// Find what to measure for three tables, and how to divide the budget among the measurements.
func Example() {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		panic(err)
	}
	tables, err := workload.Expand(r)
	if err != nil {
		panic(err)
	}
	blueprint, err := optimise.NewBlueprint(r, tables, nil, nil, nil, 1, strategy.RangedPerLeaf)
	if err != nil {
		panic(err)
	}
	best, uniform, err := blueprint.ChooseNoise()
	if err != nil {
		panic(err)
	}
	for _, g := range blueprint.Strategies(best, uniform) {
		fmt.Printf("%s: %d measurements for %v, standard error %.2f\n", g.Kind, g.Measurements, g.Tables, g.RMSE)
	}
	for _, m := range best.Measurements {
		fmt.Println(m.Cells, "cells with", m.Noise, "noise get", m.Share.FloatString(3))
	}
	// Output:
	// residuals: 4 measurements for [pets/pet pets/home pets/pet_x_home], standard error 2.44
	// 1 cells with discrete-gaussian noise get 0.247
	// 3 cells with discrete-gaussian noise get 0.349
	// 2 cells with discrete-gaussian noise get 0.202
	// 6 cells with discrete-gaussian noise get 0.202
}
