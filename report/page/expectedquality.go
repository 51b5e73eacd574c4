package page

// This file shows how good the plan expected a table to be: its target, and its band.

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// target is a planned margin with the one that was reached, for all tables that have both.
type target struct{ Tables, Asked, Reached string }

// Targets returns the targets of tables, those of tables with the same target and the same margin together.
func (r View) Targets() []target {
	var all []target
	for _, t := range r.Tables {
		if t.Target == nil {
			continue
		}
		asked := describe.Target(r.In(), *t.Target)
		reached := "±" + r.In().Number(budget.DecimalUp(new(big.Rat).SetFloat64(t.Target.Reached), 4))
		at := slices.IndexFunc(all, func(of target) bool { return of.Asked == asked && of.Reached == reached })
		if at < 0 {
			all = append(all, target{t.Path, asked, reached})
			continue
		}
		all[at].Tables += ", " + t.Path
	}
	return all
}

// Banded reports whether the spec expects a number of rows, so that some table has a band.
func (r View) Banded() bool {
	return slices.ContainsFunc(r.Tables, func(t report.Table) bool { return t.Band != "" })
}

// bandsText says what the bands mean.
func bandsText(l *language.Language) string {
	return l.Text("A band compares the noise with an average cell: the rows that the spec expects, spread evenly " +
		"over the possible cells. Good: the margin is at most a tenth of it. Usable: the standard error is at most " +
		"half of it. Weak: more. Mostly noise: more than half of the cells are expected to be off by more than an " +
		"average cell.")
}

// Bands says what the bands mean, "" if there are none.
func (r View) Bands() string {
	return words.When(r.Banded(), bandsText(r.In()))
}
