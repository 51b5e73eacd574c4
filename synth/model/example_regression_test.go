package model_test

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/plan/design"
	"github.com/dprelease/dprelease/synth/model"
)

// The regression of a wage on years of schooling and on sex. (The moments have no noise here, so that the coefficients
// belong to the six rows.)
func ExampleLinearRegression() {
	d, err := design.New([]design.Column{
		{Name: "schooling", Values: []int64{8, 12, 16}},
		{Name: "sex", Categories: []string{"female", "male"}},
		{Name: "wage", Values: []int64{10, 15, 20, 25, 30}},
	}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	on, off := d.Lengths()
	sums := make([]*big.Int, on+off)
	for i := range sums {
		sums[i] = new(big.Int)
	}
	for _, row := range [][]int{{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 3}, {2, 0, 3}, {2, 1, 4}} {
		d.Row(row, 1, sums[:on], sums[on:])
	}
	moments := make([]int64, on+off)
	for i, x := range sums {
		moments[i] = x.Int64()
	}
	m, err := model.NewRegressionMoments(d, moments[:on], moments[on:], 0, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := model.LinearRegression(m, model.RegressionOptions{References: map[string]int{"sex": 0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range r.Terms {
		fmt.Printf("%q %q: %.3f", t.Column, t.Category, *t.Coefficient)
		if t.RegressionInterval != nil {
			fmt.Printf(", from %.3f to %.3f", t.Low, t.High)
		}
		if len(t.Flags) > 0 {
			fmt.Printf(" %v", t.Flags)
		}
		fmt.Println()
	}
	fmt.Printf("R² %.3f\n", *r.RSquared)
	// Output:
	// "" "": -5.833, from -11.084 to -0.583
	// "schooling" "": 1.875, from 1.467 to 2.283
	// "sex" "female": 0.000 [reference]
	// "sex" "male": 6.667, from 3.999 to 9.334
	// R² 0.972
}
