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
// With more signal (μ·rows) there are more epochs, and the sum of their rates is larger: where noise dominates, few
// steps are taken. The powers and factors were chosen on one data set (UCI Adult) and checked on others.
func NewSchedule(mu float64, rows int64, columns int) Schedule {
	n := float64(max(rows, 1))
	signal := min(max(float64(mu*n)/usualSignal, 1e-9), 1e9)
	wanted := 30 * budget.Exp(.8*budget.Log(signal))
	most := min(mostPasses/float64(n*float64(max(columns, 1))), 400)
	epochs := math.Round(min(max(wanted, 5), max(most, 10)))
	rates := min(max(float64(6*math.Sqrt(signal)), 1), 24)
	return Schedule{Epochs: int(epochs), Groups: MostGroups, Rate: min(rates/epochs, mostRate)}
}

// mostRate keeps fits from swinging where a group's curvature is several times what a round takes it for.
const mostRate = .5

// usualSignal is μ·rows of ε = 1, δ = 1e-5 and two thirds of UCI Adult.
const usualSignal = .2681 * 32_561

// mostPasses bounds rows · columns · epochs, so that a whole run takes a minute at most on two processors: 150 epochs
// for ten million rows and twelve columns.
const mostPasses = 1.8e10

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
