package tree_test

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/plan/tree"
)

// A county of two tracts, of which each is counted with noise of variance 4, and the county with noise of variance 1.
func Example() {
	count := func(variance float64) []tree.Query { return []tree.Query{{Groups: []int{0}, Variance: variance}} }
	t, err := tree.New(tree.Cells{Kinds: 1}, [][]tree.Query{count(1), count(4)},
		[]tree.Area{{Parent: -1, Class: 0}, {Parent: 0, Class: 1, Possible: 1}, {Parent: 0, Class: 1, Possible: 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, by := range []tree.Method{tree.LeastSquares, tree.TopDown, tree.OwnAnswers} {
		spread := t.Spread(by)
		county, _ := spread.Variance(0, []float64{1}, nil)
		tract, _ := spread.Variance(1, []float64{1}, nil)
		fmt.Printf("county ±%.2f, tract ±%.2f\n", math.Sqrt(county), math.Sqrt(tract))
	}
	// Output:
	// county ±0.94, tract ±1.49
	// county ±1.00, tract ±1.50
	// county ±1.00, tract ±2.00
}
