package report_test

import (
	"fmt"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
)

// What came out of a release is told by one value, from which all pages are
// made.
func Example() {
	r, err := maker.New(input(report.Official, nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Accuracy.Sentence)
	fmt.Println(r.Guarantee.Statement)
	// Output:
	// Of the 17 published numbers, on average at least 19 of 20 are off the exact count by 4 or less, before sampling and response error; some tables are more exact than that, and the list of tables gives the margin of each.
	// ε = 2 (pure differential privacy) for adding or removing one person, meaning all rows with the same person_id; method: the ε of all measurements added up (Dwork, McSherry, Nissim and Smith 2006).
}
