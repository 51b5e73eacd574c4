package report_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/report"
)

// Read a report.json that somebody else made, and see what it promises and how exact its tables are.
func Example() {
	text, err := os.ReadFile(filepath.Join("testdata", "report.json"))
	if err != nil {
		panic(err)
	}
	r, err := report.Read(text)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Release, "promises", r.Guarantee.Definition, "ε =", r.Guarantee.Epsilon)
	for _, t := range r.Tables {
		fmt.Printf("%s: %d cells within ±%g\n", t.Path, t.Cells, t.Statistics[0].Margin)
	}
	// Output:
	// labour-2026q1 promises pure ε = 2
	// status: 6 cells within ±2.000439
	// pairs/sex: 2 cells within ±3.236993
	// pairs/status: 3 cells within ±2.706623
	// pairs/sex_x_status: 6 cells within ±2.000439
}
