package describe

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// This file describes the accuracy of a margin in one sentence.

// Expectation says in one sentence how accurate counts with a margin are.
func Expectation(margin float64) string {
	if margin == 0 {
		return "Counts are almost always published exactly."
	}
	whole := WholeMargin(margin)
	return fmt.Sprintf("Within ±%s of the exact count 19 times in 20: good to 10%% for counts of %s or more; a count of %s or less could be zero.",
		budget.Group(whole), budget.Group(10*whole), budget.Group(whole))
}

// expectationOfMany says the same of several tables, with margins from the narrowest to the widest.
func expectationOfMany(tables []plan.Table) string {
	var least, most float64
	for i, t := range tables {
		m := t.Statistics[0].Margin
		if i == 0 || m < least {
			least = m
		}
		most = max(most, m)
	}
	low, high := WholeMargin(least), WholeMargin(most)
	if low == high {
		return Expectation(most)
	}
	return fmt.Sprintf("Within ±%s (the best) to ±%s (the worst) of the exact count 19 times in 20: good to 10%% for counts of %s to %s or more; a count of %s to %s or less could be zero.",
		budget.Group(low), budget.Group(high), budget.Group(10*low), budget.Group(10*high), budget.Group(low),
		budget.Group(high))
}

// WholeMargin returns a margin as people read it: rounded up to a whole number.
func WholeMargin(margin float64) int64 { return int64(math.Ceil(margin)) }
