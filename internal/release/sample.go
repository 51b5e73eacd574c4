package release

import (
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/plan/compiled"
)

// This file holds what is charged for a release that measures a sample of its units.

// ofAllUnits lists the mechanisms whose loss is that of all units. Those that see a sample lose what they do for the
// units that are drawn: none is listed.
func ofAllUnits(p *compiled.Compiled) []ledger.Repeated {
	if p.Sample.Partial() {
		return nil
	}
	return repeated(p.Mechanisms())
}
