package page

// This file holds what the plan said a table would be worth: its target, and its band.

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report/internal/words"
)

// Targets says of every table with a target how it is met, tables alike in one sentence.
func (r View) Targets() []string {
	var sentences []string
	tables := map[string][]string{} // by what is said of them
	for _, t := range r.Tables {
		if t.Target == nil {
			continue
		}
		said := fmt.Sprintf("target %s; met, as planned, with ±%s.", plan.Target(*t.Target),
			budget.DecimalUp(new(big.Rat).SetFloat64(t.Target.Reached), 4))
		if tables[said] == nil {
			sentences = append(sentences, said)
		}
		tables[said] = append(tables[said], t.Path)
	}
	for i, said := range sentences {
		sentences[i] = words.Few(tables[said]) + ": " + said
	}
	return sentences
}

// Banded tells that the spec says how many rows it expects, so that some table has a band.
func (r View) Banded() bool {
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
func (r View) Bands() string {
	if r.Banded() {
		return bands
	}
	return ""
}
