package strategy_test

import (
	"encoding/json"
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/strategy"
)

// A plan says of two tables that what they share is measured once.
func Example() {
	group, err := json.Marshal(strategy.Group{Kind: strategy.Residuals, Noise: budget.DiscreteGaussian,
		Tables: []string{"age", "age_x_sex"}, Measurements: 3, RMSE: 4.25})
	fmt.Println(string(group), err)
	// Output:
	// {"kind":"residuals","noise":"discrete-gaussian","tables":["age","age_x_sex"],"measurements":3,"rmse":4.25} <nil>
}
