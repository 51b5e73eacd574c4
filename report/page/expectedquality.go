package page

// This file shows how good the plan expected a table to be: its target, and its band.

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// Targets says for every table with a target how it is met, tables with the same text in one sentence.
func (r View) Targets() []string {
	var met words.TablesByText
	for _, t := range r.Tables {
		if t.Target != nil {
			met.Add(fmt.Sprintf("target %s; met, as planned, with ±%s.", *t.Target,
				budget.DecimalUp(new(big.Rat).SetFloat64(t.Target.Reached), 4)), t.Path)
		}
	}
	return met.Sentences("%s: %s")
}

// Banded reports whether the spec expects a number of rows, so that some table has a band.
func (r View) Banded() bool {
	return slices.ContainsFunc(r.Tables, func(t report.Table) bool { return t.Band != "" })
}

// bands says what the bands mean.
const bands = "A band sets the noise against an average cell, the rows that the spec expects (a public number) spread evenly over the cells that can have any. Good: the margin is at most a tenth of it. Usable: the standard error is at most half of it. Weak: it is more. Mostly noise: more than half of the cells are expected to be off by more than an average cell."

// Bands says what the bands mean, "" if there are none.
func (r View) Bands() string {
	return words.When(r.Banded(), bands)
}
