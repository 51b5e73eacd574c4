package release

import (
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/plan/compiled"
)

// This file holds the charge of a release that measures a sample of its units.

// unsampledMechanisms lists the mechanisms that see all units. A mechanism that sees a sample is not listed: its
// nominal loss is that of the sampled units only.
func unsampledMechanisms(p *compiled.Compiled) []ledger.Repeated {
	if p.Sample.Partial() {
		return nil
	}
	return countMechanisms(p.Mechanisms())
}
