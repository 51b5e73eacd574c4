package page

// This file says how the tables were measured.

import (
	"slices"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// HowMeasured says how tables were measured where that is worth showing: several tables together, or with alternatives
// that were considered.
func (r View) HowMeasured() []pattern {
	var all []labelled
	l := r.In()
	for _, s := range r.shownStrategies() {
		label := words.Either(s.Leaf == "", s.Names(l), l.Text("Part %s: %s", s.Leaf, s.Names(l)))
		all = append(all, labelled{label, s.Text})
	}
	return patternsOf(l, all)
}

func (r View) shownStrategies() []report.Strategy {
	return slices.DeleteFunc(slices.Clone(r.Strategies), func(s report.Strategy) bool {
		return s.OfPart() || r.isAside(s) || len(s.Tables) == 1 && len(s.Alternatives) == 0
	})
}

// Undecided says why a way with a larger error was taken, "" if none was.
func (r View) Undecided() string {
	return words.When(slices.ContainsFunc(r.shownStrategies(), report.Strategy.Outdone),
		r.In().Text("The way with the smallest error for one table is not always taken: the planner looks at all "+
			"tables together, as the spec weights them, and prefers tables that agree if a column appears at several levels."))
}

// isAside reports whether a strategy is of tables that judge bounds and rules.
func (r View) isAside(s report.Strategy) bool {
	return slices.ContainsFunc(r.Tables, func(t report.Table) bool { return t.Aside && t.Path == s.Tables[0] })
}
