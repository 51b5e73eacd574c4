package design_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/design"
)

// The design of a regression of readmission on age and ward, and how far one person with one row moves its moments.
func Example() {
	d, err := design.New([]design.Column{
		{Name: "age", Values: []int64{20, 40, 60, 80}},
		{Name: "ward", Categories: []string{"A", "B", "C"}},
		{Name: "readmitted", Categories: []string{"no", "yes"}},
	}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	diagonal, offDiagonal := d.Lengths()
	fmt.Println(d.Features(), "features;", diagonal, "moments on the diagonal,", offDiagonal, "off it")
	fmt.Println("age 40 is", d.Encodings()[1].Value[1], "of", design.Scale)
	one := design.Change{Added: 1}
	fmt.Println(d.Diagonal(one).L2Squared, d.OffDiagonal(one).L2Squared)
	// Output:
	// 6 features; 2 moments on the diagonal, 12 off it
	// age 40 is -341 of 1024
	// 2194734575617 7950313361793
}
