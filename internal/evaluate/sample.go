package evaluate

import (
	"errors"

	"github.com/dprelease/dprelease/plan"
)

// This file holds why a release that measures a sample of its units is not compared with the truth.

// isComparable reports an error if a comparison with the truth would tell who was drawn.
func isComparable(s plan.Sample) error {
	if s.Partial() {
		return errors.New("was measured on a secret sample of the units: against the counts of all of them its errors would tell who was drawn")
	}
	return nil
}
