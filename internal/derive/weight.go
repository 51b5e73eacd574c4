package derive

import "github.com/dprelease/dprelease/plan"

// This file holds what a published table says about weighted counts.

// roundedText says that a weighted count is published rounded, "" for other counts.
func roundedText(planned plan.Table) string {
	if !planned.Weighted {
		return ""
	}
	return ", to the nearest whole number"
}
