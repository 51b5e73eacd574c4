package derive

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
)

// This file holds what the columns of a table say about the error of a sample.

// errorsOf describes the end of an interval, and the errors that a standard error covers.
func errorsOf(t plan.Table, confidence float64) (end, of string) {
	if t.Sampled() {
		return fmt.Sprintf("end of the %g%% interval, of privacy noise and sample", 100*confidence),
			"privacy noise and sample together"
	}
	return fmt.Sprintf("end of the %g%% interval, privacy noise only", 100*confidence), "the privacy noise"
}
