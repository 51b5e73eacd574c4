package releasetest

import (
	"fmt"
	"strings"
	"testing"
)

// WalkSpec asks for microdata of four columns, so for three rounds.
const WalkSpec = `version: 1
release: trips
privacy: {protects: trip, neighbours: add-remove, account: trips}
budget: {rho: 2, split: {tables: 1/2, rows: 1/2}}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns: {mode: {values: [walk, ride]}, hour: {type: integer, range: [0, 3]}, day: {values: [mo, tu, we]}, way: {values: [to, fro]}}
marginals: {modes: {by: [mode], budget: tables}}
synthetic: {t: {budget: rows, method: mst}}
`

// WalkPolicy is the policy of an account that pays for three such releases.
const WalkPolicy = "account: trips\nprotects: trip\nneighbours: add-remove\ncap: {rho: 6}\n"

// WalkRows returns 300 rows in which hours depend on modes and days on ways.
func WalkRows() string {
	var b strings.Builder
	b.WriteString("mode,hour,day,way\n")
	for i := range 300 {
		mode, way := i%2, i/2%2
		fmt.Fprintf(&b, "%s,%d,%s,%s\n", []string{"walk", "ride"}[mode], 2*mode+i/4%2,
			[]string{"mo", "tu", "we"}[(way+i/8%2)%3], []string{"to", "fro"}[way])
	}
	return b.String()
}

// Walks returns an office that makes microdata.
func Walks(t *testing.T) Office {
	return With(t, WalkSpec, WalkPolicy, WalkRows())
}

// WalksByAIM returns an office that makes microdata with AIM.
func WalksByAIM(t *testing.T) Office {
	return With(t, AIMSpec, WalkPolicy, WalkRows())
}

// AIMSpec asks for the same microdata by the other method.
var AIMSpec = strings.Replace(WalkSpec, "method: mst", "method: aim, ways: 3", 1)
