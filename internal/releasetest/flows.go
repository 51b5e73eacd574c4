package releasetest

import (
	"fmt"
	"strings"
	"testing"
)

// flowSpec has a table of 10⁹ cells. Under this budget the noise of a cell has a scale of 2.
const flowSpec = `version: 1
release: trips
privacy: {protects: trip, neighbours: add-remove, account: trips}
budget: {MONEY, split: {od: 1/2, rest: 1/2}}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      from: {type: integer, range: [1, 31622], levels: {half: {edges: [1, 15000, 31622]}}}
      to: {type: integer, range: [1, 31622]}
      hour: {type: integer, range: [0, 23]}
impossible:
  - {where: {from: 9, to: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}, rows: drop}
marginals:
  od: {by: [from, to], budget: od, cells: {above: ABOVE}}
  hours: {by: [hour], budget: rest}
`

// FlowMoney are the three kinds of budget, each with the threshold above which about one false cell in ten releases is.
var FlowMoney = []struct{ Money, Policy, Above string }{
	{"epsilon: 1", "cap: {epsilon: 5}", "50"},
	{"rho: 1/4", "cap: {rho: 5, delta: 1e-9}", "14"},
	{"epsilon: 1, delta: 1e-9", "cap: {rho: 5, delta: 1e-6}", "60"},
}

// LargeFlows are cells that have many rows; every other row is a cell of its own.
var LargeFlows = map[[2]int]int{{1, 1}: 200, {7, 31622}: 300, {31622, 31622}: 250, {31622, 1}: 400}

// SingleFlows is how many cells have one row.
const SingleFlows = 3000

// Flows returns an office with those rows and one impossible row.
func Flows(t *testing.T, money, policy, above string) Office {
	t.Helper()
	rows := &strings.Builder{}
	rows.WriteString("from,to,hour\n9,3,12\n")
	for i := range SingleFlows {
		fmt.Fprintf(rows, "%d,%d,%d\n", 2+i*9, 31000-i*7, i%24)
	}
	for cell, n := range LargeFlows {
		for i := range n {
			fmt.Fprintf(rows, "%d,%d,%d\n", cell[0], cell[1], i%24)
		}
	}
	spec := strings.NewReplacer("MONEY", money, "ABOVE", above).Replace(flowSpec)
	return With(t, spec, "account: trips\nprotects: trip\nneighbours: add-remove\n"+policy+"\n", rows.String())
}
