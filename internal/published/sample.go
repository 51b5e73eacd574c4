package published

import "github.com/dprelease/dprelease/plan"

// This file holds what is said of figures whose release measures a sample of its units.

// Covers returns what the intervals of a release hold, and what they leave out.
func Covers(s plan.Sample) string { return CoversOf(s.Partial()) }

// CoversOf returns what the intervals of a table hold that counts a sample or, if it is not sampled, all units.
func CoversOf(sampled bool) string {
	if sampled {
		return "privacy noise and the error of the secret sample; sampling error of the data themselves and response error not included"
	}
	return "privacy noise only; sampling and response error not included"
}
