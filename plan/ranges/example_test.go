package ranges_test

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/plan/ranges"
)

// The prefix sums of 100 categories: noise of variance 1 spent on the sums
// themselves would need to be 10 times as wide, for one row moves up to 100 of them.
func Example() {
	w := ranges.Prefix(100)
	best, err := w.Optimum(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("root mean squared error at cost 1: %.4f\n", math.Sqrt(best.Upper/w.Count()))
	fmt.Printf("no strategy has less than: %.4f\n", math.Sqrt(best.Lower/w.Count()))
	column, err := best.Column(ranges.Bits)
	if err != nil {
		fmt.Println(err)
		return
	}
	counts := make([]int64, 100)
	counts[41] = 7 // seven rows, all of category 41
	integers, err := column.Measure(counts)
	if err != nil {
		fmt.Println(err)
		return
	}
	z := make([]float64, len(integers)) // without noise
	for i, k := range integers {
		z[i] = float64(k)
	}
	estimate := column.Solve(z)
	for j, t := range column.Tilt {
		estimate[j] += 7 * t
	}
	fmt.Printf("category 41: %.6f\n", estimate[41])
	// Output:
	// root mean squared error at cost 1: 2.2355
	// no strategy has less than: 2.2355
	// category 41: 7.000000
}
