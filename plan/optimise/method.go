package optimise

import (
	"cmp"
	"errors"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/tabulation"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the choice of a method of microdata, if the spec leaves it to the planner.

// chooseMethod chooses the method and the number of columns it measures together, and counts the cells of its
// candidates.
func (d *Microdata) chooseMethod() error {
	if d.Leaf == NoLeaf {
		return d.setTablesMethod()
	}
	switch d.Requested.Method {
	case spec.MST:
		return d.setMethod(plan.MST, 2)
	case spec.AIM:
		return d.setMethod(plan.AIM, cmp.Or(d.Requested.Ways, adaptive.DefaultRoundColumns))
	}
	return d.chooseAutomatically()
}

// setMethod sets a method that measures sets of up to `ways` columns, and counts the cells of these sets, its
// candidates. It returns an error if there are too many candidates, or too large ones.
func (d *Microdata) setMethod(method string, ways int) error {
	d.Method, d.ways = method, min(ways, len(d.by))
	return d.countCells()
}

// setTablesMethod sets the method that measures nothing. If the planner chose it, tables must show each two of the
// columns together; if the spec asks for it, they must show at least one column.
func (d *Microdata) setTablesMethod() error {
	d.Method = plan.Tables
	s := d.Named()
	switch {
	case d.Requested.Method == spec.AutoMethod && !tabulation.CoversAllPairs(d.sketch, s, d.Columns):
		return errors.New("no leaf of the budget pays for them, and the tables do not show each two of their columns " +
			"together: give them a leaf, or a marginal with every: [2]")
	case d.Requested.Method == spec.AutoMethod:
		d.why = []phrase.Phrase{phrase.New(phrase.PairsShown)}
	case len(s.By) == len(tabulation.UnmeasuredColumns(d.sketch, s)):
		return errors.New("no table of the release counts rows by any of their columns and shows all its cells, and " +
			"method tables measures nothing beside: add marginals by these columns, or choose method: aim")
	}
	return nil
}

// chooseAutomatically chooses what the spec leaves open, by the number of columns and their sizes. Neither the data
// nor the budget has any influence.
func (d *Microdata) chooseAutomatically() error {
	ways := []int{adaptive.DefaultRoundColumns, 2}
	if d.Requested.Ways > 0 {
		ways = []int{d.Requested.Ways}
	}
	switch n := len(d.by); {
	case d.parentMethod == plan.MST:
		d.why, ways = []phrase.Phrase{phrase.New(phrase.ParentOfPairs, d.Requested.Parent)}, nil
	case n == 2:
		d.why, ways = []phrase.Phrase{phrase.New(phrase.OnePair)}, nil
	case n > mostAdapted:
		d.why, ways = []phrase.Phrase{phrase.New(phrase.ManyColumns, n, mostAdapted)}, nil
	case !d.fitsModel():
		d.why, ways = []phrase.Phrase{phrase.New(phrase.LargeModel)}, nil
	}
	for _, most := range ways {
		err := d.setMethod(plan.AIM, most)
		if all := adaptive.CandidateCount(d.Named()); all > mostLookedAt {
			d.why = append(d.why, phrase.New(phrase.ManyCandidates, all, adaptive.CandidateColumns(d.Named()),
				mostLookedAt))
			continue
		}
		if err == nil && d.Cells <= mostCounted {
			d.why = append(d.why, phrase.New(phrase.FewCells, adaptive.CandidateCount(d.Named()),
				adaptive.CandidateColumns(d.Named()), d.Cells, mostCounted))
			return nil
		}
		d.why = append(d.why, phrase.New(phrase.ManyCells, adaptive.CandidateColumns(d.Named()), mostCounted))
	}
	return d.setMethod(plan.MST, 2)
}

// fitsModel reports whether a model by method AIM has room for the columns.
func (d *Microdata) fitsModel() bool {
	all := int64(0)
	for _, cells := range d.Columns {
		if all += cells; cells > adaptive.MaxModelSize().Largest || all > adaptive.MaxModelSize().Cells {
			return false
		}
	}
	return true
}

const (
	// mostAdapted is the largest number of columns for which AIM is chosen, and mostLookedAt the largest number of
	// candidates: there are eight rounds for each column, and every round looks at all candidates.
	mostAdapted  = 60
	mostLookedAt = 10_000
	// mostCounted is the largest number of cells of candidates for which AIM is chosen: one and a half gibibytes.
	mostCounted = 1 << 26
)
