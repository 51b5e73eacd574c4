package usefulness_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/usefulness"
)

// A plan says of a table that its cells are small beside their noise, and what would help.
func Example() {
	table := usefulness.Usefulness{Band: usefulness.Weak, Verdict: usefulness.AddUpFirst,
		Help: []usefulness.Help{{Change: phrase.New(phrase.Drop, "region"), Factor: 16, Relative: 0.06}}}
	fmt.Printf("%s: %s\n", table.Band, table.Verdict)
	for _, h := range table.Help {
		fmt.Printf("%s: the standard error is then %g of an average cell\n", h.Change, h.Relative)
	}
	// Output:
	// weak: add up first
	// drop region: the standard error is then 0.06 of an average cell
}
