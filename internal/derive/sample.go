package derive

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
)

// This file holds what the columns of a table say about the error of a sample.

// errorsOf describes the end of an interval, and the errors that a standard error covers.
func errorsOf(p *plan.Plan, t plan.Table, confidence float64) (end, of string) {
	if p.Release().Collection != nil {
		return fmt.Sprintf("end of the %g%% interval, of the randomisation on devices and of who was asked",
				100*confidence),
			"the randomisation on devices and of who was asked"
	}
	if t.Sampled() {
		return fmt.Sprintf("end of the %g%% interval, of privacy noise and sample", 100*confidence),
			"privacy noise and sample together"
	}
	return fmt.Sprintf("end of the %g%% interval, privacy noise only", 100*confidence), "the privacy noise"
}
