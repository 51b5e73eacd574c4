package boosting

// This file holds Schedule: how many rounds there are, and how far each moves the model.

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/budget"
)

// Schedule is the length of a fit.
type Schedule struct {
	Epochs int     // rounds of each column
	Groups int     // most groups of a column's categories in one round
	Rate   float64 // share of a Newton step that a round moves, in (0, 1]
}

// CountPercent is the share of μ² that the rounds which count are worth. The rest is for sums of residuals.
const CountPercent = 10

// NewSchedule returns the schedule for a budget of Gaussian differential privacy μ, an expected number of rows and a
// number of columns. It depends on nothing else, so nothing is tuned on confidential data.
//
// With more signal (μ·rows) there are more epochs, and each moves less: the sum of all rates stays about 6. The power
// .8 and the factors were chosen on one data set (UCI Adult) and checked on another.
func NewSchedule(mu float64, rows int64, columns int) Schedule {
	signal := float64(mu*float64(max(rows, 1))) / (.2681 * 32_561)
	wanted := 30 * budget.Exp(.8*budget.Log(min(max(signal, 1e-9), 1e9)))
	// No more passes over the rows than a machine makes in a minute or so.
	most := min(mostPasses/float64(float64(max(rows, 1))*float64(max(columns, 1))), 400)
	epochs := int(math.Round(min(max(wanted, 5), max(most, 10))))
	return Schedule{Epochs: epochs, Groups: MostGroups, Rate: min(6/float64(epochs), 1)}
}

// mostPasses bounds rows · columns · epochs: 300 epochs for ten million rows and twelve columns.
const mostPasses = 3.6e10

// Check returns an error if a schedule is beyond the limits.
func (s Schedule) Check() error {
	switch {
	case s.Epochs < 1 || s.Epochs > MostEpochs:
		return fmt.Errorf("an additive model is fitted in 1 to %d epochs", MostEpochs)
	case s.Groups < 2 || s.Groups > MostGroups:
		return fmt.Errorf("a round has 2 to %d groups", MostGroups)
	case !(s.Rate > 0 && s.Rate <= 1):
		return fmt.Errorf("the rate of an additive model is above 0 and at most 1")
	}
	return nil
}
