package report

// This file holds what the plan said a table would be worth: its target, and its band.

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// Target is how good a table was asked to be, and was planned to be.
type Target struct {
	Margin     string `json:"margin"`              // asked, an exact number
	Confidence string `json:"confidence"`          // exact
	AllCells   bool   `json:"all_cells,omitempty"` // of all cells at once; else of each
	Relative   string `json:"relative,omitempty"`  // how the margin was asked for, where as a percentage of a cell's size
	// Reached is the margin of the widest cell, as planned, at the confidence that a cell needs.
	Reached float64 `json:"reached"`
}

// Targets says of every table with a target how it is met, tables alike in one sentence.
func (r *Report) Targets() []string {
	var sentences []string
	tables := map[string][]string{} // by what is said of them
	for _, t := range r.Tables {
		if t.Target == nil {
			continue
		}
		said := fmt.Sprintf("target %s; met, as planned, with ±%s.", plan.Target(*t.Target), budget.DecimalUp(new(big.Rat).SetFloat64(t.Target.Reached), 4))
		if tables[said] == nil {
			sentences = append(sentences, said)
		}
		tables[said] = append(tables[said], t.Path)
	}
	for i, said := range sentences {
		sentences[i] = fewNames(tables[said]) + ": " + said
	}
	return sentences
}

// Banded tells that the spec says how many rows it expects, so that some table has a band.
func (r *Report) Banded() bool {
	for _, t := range r.Tables {
		if t.Band != "" {
			return true
		}
	}
	return false
}

// bands says what the bands mean.
const bands = "A band sets the noise against an average cell, the rows that the spec expects (a public number) spread evenly over the cells that can have any. Good: the margin is at most a tenth of it. Usable: the standard error is at most half of it. Weak: it is more. Mostly noise: more than half of the cells are expected to be off by more than an average cell."

// Bands is what the bands mean, "" where there are none.
func (r *Report) Bands() string {
	if r.Banded() {
		return bands
	}
	return ""
}
