package maker

import (
	"math/big"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth"
)

// This file holds the facts of a table that differ when it counts a sample of the units.

// fitFrom returns the least count of a class of precision, 0 if none is known: the errors of a sample grow with the
// count.
func fitFrom(s plan.Sample, standardError float64, atMost *big.Rat) int64 {
	if s.Partial() {
		return 0
	}
	return countFrom(standardError, atMost)
}

// isMeasured reports whether a statistic was made as the plan says: from its own measurement or from several. Its own
// measurement gives whole numbers or multiples of a unit; the estimates of a sample need not be either.
func isMeasured(p *plan.Plan, asked plan.Statistic, made synth.Statistic) bool {
	_, alone := p.Measurement(asked.Measurement)
	return made.Name == asked.Name && alone == (asked.Measurement != "") &&
		(p.Sample.Partial() || p.Release().Collection != nil || alone == (made.Whole || asked.Unit != ""))
}
