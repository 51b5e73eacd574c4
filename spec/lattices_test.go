package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/domain"
)

func TestLatticesOfColumns(t *testing.T) {
	for text, want := range map[string]string{
		"{type: integer, range: [-5, 110]}":                            "-5 110 1",
		"{type: integer, range: [-50, 110], step: 10}":                 "-5 11 10",
		"{type: integer, range: [3, 110], step: 10}":                   "none",
		"{type: decimal, range: [0, 1], step: 0.25}":                   "0 4 1/4",
		"{type: decimal, range: [-1/3, 2], step: 1/3}":                 "-1 6 1/3",
		"{type: decimal, range: [0, 1], levels: {l: {edges: [0]}}}":    "none",
		"{values: {integers: [2, 9]}}":                                 "2 9 1",
		"{values: ['1', '2'], type: integer}":                          "none",
		"{type: date, range: [2024-01-01, 2024-12-31]}":                "none",
		"{type: integer, range: [0, 2000000000000000000]}":             "0 2000000000000000000 1",
		"{type: decimal, range: [-1e6, 1e6], step: 1e-9, null: drop}":  "-1000000000000000 1000000000000000 1/1000000000",
		"{type: decimal, range: [0, 100], step: 1e-6, unknown: error}": "0 100000000 1/1000000",
	} {
		c := column(t, text, nil)
		got := "none"
		if l := c.Lattice; l != nil {
			got = fmt.Sprintf("%d %d %s", l.First, l.Last, l.Step.RatString())
		}
		if got != want {
			t.Errorf("%s: lattice %s, want %s", text, got, want)
		}
		if tooFine := strings.Contains(text, "e-") ||
			strings.Contains(text, "2000000000000000000"); (c.Domain == nil) != tooFine {
			t.Errorf("%s: domain %v", text, c.Domain)
		}
	}
}

// A null may count as a number, in every column with cells.
func TestNullsThatCountAsNumbers(t *testing.T) {
	for text, want := range map[string][2]int64{ // index and cell
		"{type: integer, range: [-5, 110], null: {as: 0}}":                {0, 5},
		"{type: integer, range: [0, 100], step: 10, null: {as: 5}}":       {1, 0},
		"{type: decimal, range: [-1, 1], step: 0.25, null: {as: -0.375}}": {-1, 2},
		"{values: {integers: [2, 9]}, null: {as: 4}}":                     {4, 2},
		"{type: integer, range: [0, 1e12], null: {as: 7}}":                {7, 0},
	} {
		c := column(t, text, nil)
		got := c.Lattice.IndexOfNull(domain.NoStratum)
		if got != want[0] || c.Null.Action != As || c.Null.Category != int(want[1]) {
			t.Errorf("%s: place %d, policy %v, want %v", text, got, c.Null, want)
		}
	}
	c := column(t, "{type: integer, range: [0, 9], null: {as: 99}, unknown: {as: 5x}}", nil)
	if c.Domain.Size() != 12 || c.Lattice.NullIsNumber() {
		t.Errorf("a null beyond the range is a category of its own: %d cells", c.Domain.Size())
	}
}
