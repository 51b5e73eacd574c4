package derive

import "github.com/dprelease/dprelease/plan"

// This file holds what a published table says of counts by weight.

// roundedText says of the published count of a table that it is rounded, "" where it is whole as it is drawn.
func roundedText(planned plan.Table) string {
	if !planned.Weighted {
		return ""
	}
	return ", to the nearest whole number"
}
