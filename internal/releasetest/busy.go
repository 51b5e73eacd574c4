package releasetest

import (
	"fmt"
	"strings"
	"testing"
)

// busySpec chooses four of 10⁹ cells.
const busySpec = `version: 1
release: busy
privacy: {protects: trip, neighbours: NEIGHBOURS, account: trips}
budget: {MONEY, split: {busy: 1/2, rest: 1/2}}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      from: {type: integer, range: [1, 31622]}
      to: {type: integer, range: [1, 31622]}
      hour: {type: integer, range: [0, 23]}
marginals:
  busy: {by: [from, to], budget: busy, top: 4}
  hours: {by: [hour], budget: rest}
`

// BusyMoney are the three kinds of budget, each such that four cells of 200 rows or more are found among 10⁹ but for a
// chance of less than 10⁻⁹: the gap is a multiple of what [selection.TopFacts] calls the shortfall.
var BusyMoney = []struct{ Money, Policy string }{
	{"epsilon: 16", "cap: {epsilon: 50}"},
	{"rho: 4", "cap: {rho: 50, delta: 1e-9}"},
	{"epsilon: 8, delta: 1e-9", "cap: {rho: 50, delta: 1e-6}"},
}

// Busy returns an office with the rows of [Flows], none of which is impossible.
func Busy(t *testing.T, money, policy, neighbours string) Office {
	t.Helper()
	rows := &strings.Builder{}
	rows.WriteString("from,to,hour\n")
	for i := range SingleFlows {
		fmt.Fprintf(rows, "%d,%d,%d\n", 2+i*9, 31000-i*7, i%24)
	}
	for cell, n := range LargeFlows {
		for i := range n {
			fmt.Fprintf(rows, "%d,%d,%d\n", cell[0], cell[1], i%24)
		}
	}
	spec := strings.NewReplacer("MONEY", money, "NEIGHBOURS", neighbours).Replace(busySpec)
	return With(t, spec, "account: trips\nprotects: trip\nneighbours: "+neighbours+"\n"+policy+"\n",
		rows.String())
}
