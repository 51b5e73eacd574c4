package usefulness_test

import (
	"encoding/json"
	"fmt"

	"github.com/dprelease/dprelease/plan/usefulness"
)

// A plan says of a table that its cells are too small for its noise, and what would help.
func Example() {
	help := []usefulness.Help{{Change: "drop region", Factor: 16, Relative: 0.06}}
	table, err := json.MarshalIndent(usefulness.Usefulness{Band: usefulness.Weak, EnoughRows: 4000, Help: help}, "", " ")
	fmt.Println(string(table), err)
	// Output:
	// {
	//  "band": "weak",
	//  "enough_rows": 4000,
	//  "help": [
	//   {
	//    "change": "drop region",
	//    "factor": 16,
	//    "relative_error": 0.06
	//   }
	//  ]
	// } <nil>
}
