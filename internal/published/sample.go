package published

import "github.com/dprelease/dprelease/plan"

// This file describes the intervals of figures, also for a release that measures a sample of its units.

// IntervalCoverage returns which errors the intervals of a release include and which they leave out.
func IntervalCoverage(s plan.Sample) string { return CoversOf(s.Partial()) }

// CoversOf is [Covers] for a table that counts a sample or, if sampled is false, all units.
func CoversOf(sampled bool) string {
	if sampled {
		return "privacy noise and the error of the secret sample; sampling error of the data themselves and response error not included"
	}
	return "privacy noise only; sampling and response error not included"
}
