package published

import "github.com/dprelease/dprelease/plan"

// This file describes the intervals of figures, also for a release that measures a sample of its units, and for one
// whose answers were randomised on the respondents' devices.

// NoiseOnly says that intervals include the noise that a release adds, and nothing else.
const NoiseOnly = "privacy noise only; sampling and response error not included"

// IntervalCoverage returns which errors the intervals of a release include and which they leave out.
func IntervalCoverage(p *plan.Plan) string { return coverage(p, p.Sample.Partial()) }

// TableCoverage is [IntervalCoverage] for one table.
func TableCoverage(p *plan.Plan, t plan.Table) string { return coverage(p, t.Sampled()) }

func coverage(p *plan.Plan, sampled bool) string {
	switch {
	case p.Release().Collection != nil:
		return "randomisation on the devices, and the draw of who answers which question; who takes part, and wrong " +
			"answers, not included"
	case sampled:
		return "privacy noise and the error of the secret sample; sampling error of the data themselves and response " +
			"error not included"
	}
	return NoiseOnly
}
