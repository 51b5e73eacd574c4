package trace

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
)

// This file holds what a trace says about a count that was made to add up with other tables.

// fittedText says that the published count is not the rounded estimate, and how far it is from it.
func (t *Trace) fittedText() string {
	var how string
	switch t.Fitted {
	case plan.Fitted:
		how = "rounded and fitted to add up with the other tables"
	case plan.Tabulated:
		how = "counted from the microdata, as what adds up with the other tables"
	default:
		return ""
	}
	if !(t.StandardError > 0) {
		return " (" + how + ")"
	}
	return fmt.Sprintf(" (%s; %+.1f standard errors from the unbiased estimate)", how,
		(float64(t.Published)-t.Unbiased)/t.StandardError)
}
