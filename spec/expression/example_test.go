package expression_test

import (
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/spec/expression"
)

// Check an expression, then evaluate it for many rows at once.
func Example() {
	adult, err := expression.Parse("age >= 18", nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(adult.Inputs()[0].Name, "gives", adult.Type().Kind)
	ages := expression.Vector{Numbers: []int64{2 * 17, 2 * 18}} // read as AnyNumber: twice the number
	expression.Compile(adult).Run(2, []expression.Vector{ages}, func(v expression.Vector) { fmt.Println(v.Numbers) })

	_, err = expression.Parse("age + 'x'", nil)
	var wrong *expression.Error
	fmt.Println(errors.As(err, &wrong), err)
	// Output:
	// age gives true or false
	// [0 1]
	// true `'x'` is a text, and a number is needed here; expected a number, without quotes
}
