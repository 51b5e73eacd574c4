package plan

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the choice of a method of microdata, where the spec leaves it to the planner.

const (
	// usualWays is how many columns AIM measures together at most, where the spec does not say.
	usualWays = 3
	// mostAdapted is with how many columns AIM is chosen at most, and mostLookedAt with how many candidates: there are eight
	// rounds for each column, and every one looks at all candidates.
	mostAdapted  = 60
	mostLookedAt = 10_000
	// mostCounted is how many cells of candidates are counted at most, where AIM is chosen: one and a half gibibytes.
	mostCounted = 1 << 26
)

// mostOfModel is what the model of AIM may grow to. A model of 2^19 cells, of 8 bytes each, is fitted in seconds; four
// times as many have been seen to make rows 3% better in twice the time, and only where ε is 10.
var mostOfModel = ModelSize{Cells: 1 << 19, Largest: 1 << 18}

// MostOfModel is what the model of [AIM], and by [Tables] that of a tree, may grow to.
func MostOfModel() ModelSize { return mostOfModel }

// choose chooses the method and what it measures together, and counts the cells of its candidates.
func (d *microdata) choose() error {
	if d.leaf == noLeaf {
		return d.takeTables()
	}
	switch d.asked.Method {
	case spec.MST:
		return d.take(MST, 2)
	case spec.AIM:
		return d.take(AIM, cmp.Or(d.asked.Ways, usualWays))
	}
	return d.decide()
}

// take takes a method.
func (d *microdata) take(method string, ways int) error {
	d.method, d.ways = method, min(ways, len(d.by))
	return d.count()
}

// takeTables takes the method that measures nothing: on its own where tables tell of each two columns, and asked for where they
// tell of any.
func (d *microdata) takeTables() error {
	d.method = Tables
	s := d.named()
	switch {
	case d.asked.Method == spec.AutoMethod && !d.sketch.pairwise(s, d.columns):
		return errors.New("no leaf of the budget pays for them, and the tables do not show each two of their columns together: give them a leaf, or a marginal with every: [2]")
	case d.asked.Method == spec.AutoMethod:
		d.why = "no leaf pays for microdata, and the tables of the release show each two of their columns together"
	case len(s.By) == len(d.sketch.Unmeasured(s)):
		return errors.New("no table of the release counts rows by any of their columns and shows all its cells, and method tables measures nothing beside: add marginals by these columns, or choose method: aim")
	}
	return nil
}

// decide chooses what the spec leaves open, by how many columns there are and how large: by nothing that is in the data,
// and by no budget.
func (d *microdata) decide() error {
	ways := []int{usualWays, 2}
	if d.asked.Ways > 0 {
		ways = []int{d.asked.Ways}
	}
	switch n := len(d.by); {
	case d.above == MST:
		d.why, ways = fmt.Sprintf("the rows of %s are made by it, which knows pairs of their columns: what follows more would follow noise where rows have combinations that the data have not", d.asked.Parent), nil
	case n == 2:
		d.why, ways = "either method measures the one pair of columns, and this one does so once, with all that is left of the budget", nil
	case n > mostAdapted:
		d.why, ways = fmt.Sprintf("with %d columns, more than %d, the rounds of method aim take too long", n, mostAdapted), nil
	case !d.fits():
		d.why, ways = "the columns have more categories than a model by method aim has room for", nil
	}
	for _, most := range ways {
		err := d.take(AIM, most)
		if all := d.named().CandidateCount(); all > mostLookedAt {
			d.because(fmt.Sprintf("%s %s columns are too many to look at in every round, more than %s", budget.Group(all), d.sets(), budget.Group(mostLookedAt)))
			continue
		}
		if err == nil && d.cells <= mostCounted {
			d.because(fmt.Sprintf("the %s %s columns have %s to count, of at most %s", budget.Group(d.named().CandidateCount()), d.sets(), budget.Plural(d.cells, "cell"), budget.Group(mostCounted)))
			return nil
		}
		d.because(fmt.Sprintf("the %s columns have more than %s to count", d.sets(), budget.Plural(mostCounted, "cell")))
	}
	return d.take(MST, 2)
}

// because adds a reason.
func (d *microdata) because(why string) {
	if d.why != "" {
		why = d.why + "; " + why
	}
	d.why = why
}

// fits tells that a model by [AIM] has room for the columns.
func (d *microdata) fits() bool {
	all := int64(0)
	for _, cells := range d.columns {
		if all += cells; cells > MostOfModel().Largest || all > MostOfModel().Cells {
			return false
		}
	}
	return true
}
