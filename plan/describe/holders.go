package describe

import (
	"fmt"
	"math"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// This file describes the holders of a release that several make together, and what it costs that none trusts all.

// holdersLines says who the holders are, and how much wider the noise is because not all of them are trusted.
func holdersLines(p *plan.Plan) []string {
	h := p.Guarantee.Holders
	if h == nil {
		return nil
	}
	all := len(h.Names)
	rows := fmt.Sprintf("The rows of one %s are with one holder", p.Guarantee.Protects)
	if h.Overlap > 1 {
		rows = fmt.Sprintf("The rows of one %s are with at most %d holders, which multiplies the sensitivity",
			p.Guarantee.Protects, h.Overlap)
	}
	lines := []string{fmt.Sprintf("Made by %d holders: %s. %s: they declare it, and nothing checks it.", all,
		strings.Join(h.Names, ", "), rows)}
	wider := func(of float64) string { return budget.DecimalNearest(math.Sqrt(of), 3) }
	each := fmt.Sprintf("If each of them added all of the noise, they would be %s times as large.", wider(float64(all)))
	if h.Trusted == all {
		return append(lines, fmt.Sprintf("All %d must keep their noise to themselves: standard errors are then as "+
			"if one place held all data, with the same law. %s",
			all, each))
	}
	return append(lines, fmt.Sprintf("The noise of any %d meets the guarantee, and all %d add theirs: standard "+
		"errors are %s times as large as if one place, which all would have to trust, held all data, with the same "+
		"law. %s",
		h.Trusted, all, wider(float64(all)/float64(h.Trusted)), each))
}

// sayHolders states the holders as facts.
func (b *factBook) sayHolders(p *plan.Plan) {
	h := p.Guarantee.Holders
	if h == nil {
		return
	}
	b.say(OnGuarantee, "", "holders", strings.Join(h.Names, ", "))
	b.say(OnGuarantee, "", "trusted holders, whichever", budget.Group(int64(h.Trusted)))
	b.say(OnGuarantee, "", "holders that can have rows of one unit", budget.Group(h.Overlap))
	for _, one := range p.Release().Holders.All {
		b.say(OnGuarantee, "", "key of "+one.Name, one.Key)
	}
}
