package describe

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
)

// This file describes the law of the noise: what the spec asks for, and what the other law would give and cost an
// account.

// OtherDigits is the number of significant digits stated for another law of noise. With Laplace noise the budget is
// sized by rough compositions.
const OtherDigits = 4

// otherNoiseName says which noise it is, and for which tables.
func otherNoiseName(o strategy.OtherNoise) string {
	name := spec.NoiseOf(o.Noise).Law() + " noise for every table"
	if o.Partly {
		name += " that can have it"
	}
	return name
}

// otherNoiseEffect says what the noise would give, and cost instead of a charge in ρ.
func otherNoiseEffect(o strategy.OtherNoise, charge *big.Rat) string {
	if !o.Why.IsZero() {
		return "is not possible: " + o.Why.String()
	}
	const same = 5e-4 // a relative difference that nobody sees
	more := ""
	switch {
	case o.Error == 0:
	case math.Abs(o.Error-1) < same:
		more = "have about the same error and "
	case o.Error > 1:
		more = fmt.Sprintf("have %s more error and ", budget.Percent(o.Error-1))
	default:
		more = fmt.Sprintf("have %s less error and ", budget.Percent(1-o.Error))
	}
	levels := ""
	switch o.Levels {
	case strategy.LevelsDisagree:
		levels = "; but tables that show one column at several levels would not agree"
	case strategy.LevelsAgree:
		levels = "; and tables that show one column at several levels would agree"
	}
	return fmt.Sprintf("would %sbe charged ρ %s instead of %s%s", more, o.Charge, budget.DecimalUp(charge, OtherDigits),
		levels)
}

// explainNoise says what another law of noise would give and cost, and which tables do not have the requested noise.
func explainNoise(p *plan.Plan, b *strings.Builder) {
	explainKept(p, b)
	lines := make([]string, len(p.OtherNoise))
	for i, other := range p.OtherNoise {
		lines[i] = otherNoiseName(other) + " " + otherNoiseEffect(other, p.Cost.Rho)
		switch {
		case p.Guarantee.Holders != nil && other.Noise.Normal(): // which holders cannot divide
			lines[i] = "With all data in one place, " + lines[i]
		case other.Why.IsZero():
			lines[i] += fmt.Sprintf(" (choose it with noise: %s under budget)", spec.NoiseOf(other.Noise))
		}
		lines[i] += "."
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n%s\n", strings.Join(lines, " "))
	}
}

// explainKept says which parts of the release have Gaussian noise although another law was requested.
func explainKept(p *plan.Plan, b *strings.Builder) {
	if kept := KeptGaussian(p); len(kept) > 0 {
		fmt.Fprintf(b, "\nGaussian noise all the same, as under ε and δ %s noise is not possible for them: %s.\n",
			p.Release().Budget.Noise.Law(), strings.Join(kept, "; "))
	}
}

// KeptGaussian returns the parts of a release of ε and δ that have Gaussian noise although noise that is priced in ε
// was requested, with the reason of each.
func KeptGaussian(p *plan.Plan) []string {
	budgeted := p.Release().Budget
	asked, _ := budget.LawNamed(string(budgeted.Noise))
	if !asked.Pure() || budgeted.Delta == nil {
		return nil
	}
	var out []string
	tables := map[string]plan.Table{}
	for _, t := range p.Tables {
		tables[t.Path] = t
	}
	for _, s := range p.Strategies {
		if !s.Noise.Normal() {
			continue
		}
		why := selecting[tables[s.Tables[0]].Selects()].gaussian
		out = append(out, fmt.Sprintf("%s (%s)", Listed(s.Tables), why))
	}
	for _, s := range p.Synthetic {
		if s.Adaptive() {
			out = append(out, fmt.Sprintf("microdata of %s (rounds)", s.Table))
		}
	}
	for _, m := range p.Models {
		out = append(out, fmt.Sprintf("model %s (rounds)", m.Name))
	}
	return out
}
