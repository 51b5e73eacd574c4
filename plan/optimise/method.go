package optimise

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/tabulation"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the choice of a method of microdata, where the spec leaves it to the planner.

// choose chooses the method and what it measures together, and counts the cells of its candidates.
func (d *Microdata) choose() error {
	if d.Leaf == NoLeaf {
		return d.takeTables()
	}
	switch d.Asked.Method {
	case spec.MST:
		return d.take(plan.MST, 2)
	case spec.AIM:
		return d.take(plan.AIM, cmp.Or(d.Asked.Ways, adaptive.UsualWays))
	}
	return d.decide()
}

// take takes a method.
func (d *Microdata) take(method string, ways int) error {
	d.Method, d.ways = method, min(ways, len(d.by))
	return d.count()
}

// takeTables takes the method that measures nothing: on its own where tables tell of each two columns, and asked for
// where they tell of any.
func (d *Microdata) takeTables() error {
	d.Method = plan.Tables
	s := d.Named()
	switch {
	case d.Asked.Method == spec.AutoMethod && !tabulation.Pairwise(d.sketch, s, d.Columns):
		return errors.New("no leaf of the budget pays for them, and the tables do not show each two of their columns together: give them a leaf, or a marginal with every: [2]")
	case d.Asked.Method == spec.AutoMethod:
		d.why = "no leaf pays for microdata, and the tables of the release show each two of their columns together"
	case len(s.By) == len(tabulation.Unmeasured(d.sketch, s)):
		return errors.New("no table of the release counts rows by any of their columns and shows all its cells, and method tables measures nothing beside: add marginals by these columns, or choose method: aim")
	}
	return nil
}

// decide chooses what the spec leaves open, by how many columns there are and how large: by nothing that is in the
// data, and by no budget.
func (d *Microdata) decide() error {
	ways := []int{adaptive.UsualWays, 2}
	if d.Asked.Ways > 0 {
		ways = []int{d.Asked.Ways}
	}
	switch n := len(d.by); {
	case d.above == plan.MST:
		d.why, ways = fmt.Sprintf(
			"the rows of %s are made by it, which knows pairs of their columns: what follows more would follow noise where rows have combinations that the data have not", d.Asked.Parent), nil
	case n == 2:
		d.why, ways = "either method measures the one pair of columns, and this one does so once, with all that is left of the budget", nil
	case n > mostAdapted:
		d.why, ways = fmt.Sprintf("with %d columns, more than %d, the rounds of method aim take too long", n,
			mostAdapted), nil
	case !d.fits():
		d.why, ways = "the columns have more categories than a model by method aim has room for", nil
	}
	for _, most := range ways {
		err := d.take(plan.AIM, most)
		if all := adaptive.CandidateCount(d.Named()); all > mostLookedAt {
			d.because(fmt.Sprintf("%s %s columns are too many to look at in every round, more than %s", budget.Group(all),
				d.Sets(), budget.Group(mostLookedAt)))
			continue
		}
		if err == nil && d.Cells <= mostCounted {
			d.because(fmt.Sprintf("the %s %s columns have %s to count, of at most %s",
				budget.Group(adaptive.CandidateCount(d.Named())),
				d.Sets(), budget.Plural(d.Cells, "cell"), budget.Group(mostCounted)))
			return nil
		}
		d.because(fmt.Sprintf("the %s columns have more than %s to count", d.Sets(), budget.Plural(mostCounted, "cell")))
	}
	return d.take(plan.MST, 2)
}

// because adds a reason.
func (d *Microdata) because(why string) {
	if d.why != "" {
		why = d.why + "; " + why
	}
	d.why = why
}

// fits tells that a model by [AIM] has room for the columns.
func (d *Microdata) fits() bool {
	all := int64(0)
	for _, cells := range d.Columns {
		if all += cells; cells > adaptive.MostOfModel().Largest || all > adaptive.MostOfModel().Cells {
			return false
		}
	}
	return true
}

const (
	// mostAdapted is with how many columns AIM is chosen at most, and mostLookedAt with how many candidates: there are
	// eight rounds for each column, and every one looks at all candidates.
	mostAdapted  = 60
	mostLookedAt = 10_000
	// mostCounted is how many cells of candidates are counted at most, where AIM is chosen: one and a half gibibytes.
	mostCounted = 1 << 26
)
