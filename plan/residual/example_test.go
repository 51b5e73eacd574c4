package residual_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/residual"
)

// A table of two columns, and one of the first column, share what they say of it: four residuals give both.
func Example() {
	columns := []*residual.Column{residual.NewColumn(make([]int, 5)), residual.NewColumn(make([]int, 2))}
	first, second := residual.Axis{Column: 0, Level: 1}, residual.Axis{Column: 1, Level: 1}
	w, err := residual.NewWorkload(columns, []residual.Marginal{
		{Axes: residual.Set{first}, Importance: 1}, {Axes: residual.Set{first, second}, Importance: 1}})
	if err != nil {
		panic(err)
	}
	best := w.MinimiseSum(1)
	for i := range w.Marginals {
		mean, _ := w.Variance(i, best)
		fmt.Printf("%v cells of variance %.3f\n", w.Cells(i), mean)
	}
	fmt.Println(len(w.Residuals), "residuals")
	// Output:
	// 5 cells of variance 1.577
	// 10 cells of variance 1.077
	// 4 residuals
}
