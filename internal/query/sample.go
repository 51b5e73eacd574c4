package query

import (
	"errors"

	"github.com/dprelease/dprelease/plan"
)

// This file holds what cannot be asked of a release that measures a sample of its units.

// addsUp returns an error if the errors of a release do not add up with those of others.
func addsUp(s plan.Sample) error {
	if s.Partial() {
		return errors.New(
			"is a release of a secret sample: the error of the sample does not add up with noise; ask it alone for a " +
				"count (`dprelease query FOLDER`)")
	}
	return nil
}
