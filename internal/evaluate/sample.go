package evaluate

import (
	"errors"

	"github.com/dprelease/dprelease/plan"
)

// This file refuses to compare a release that measures a sample of its units with the truth.

// isComparable returns an error if a comparison with the truth would reveal who was drawn.
func isComparable(s plan.Sample) error {
	if s.Partial() {
		return errors.New("was measured on a secret sample of the units: against the counts of all of them its " +
			"errors would tell who was drawn")
	}
	return nil
}
