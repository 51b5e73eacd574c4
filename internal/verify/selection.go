package verify

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file computes the share of a plan's δ that selections use.

// selectionDelta lists, by selection, the exact δ that the selection of a measurement uses in addition to its
// mechanisms.
var selectionDelta = [selection.Kinds]func(m plan.Measurement) (*big.Rat, error){
	selection.KindAll:    noDelta,
	selection.KindAbove:  noDelta,
	selection.KindTop:    noDelta,
	selection.KindGroups: groupsDelta,
	selection.KindTexts:  noDelta,
}

func noDelta(plan.Measurement) (*big.Rat, error) { return new(big.Rat), nil }

// groupsDelta returns the δ of a selection of groups. It returns an error if a group with a single unit appears with a
// probability above the δ of one group.
func groupsDelta(m plan.Measurement) (*big.Rat, error) {
	groups := m.Selection.(selection.Groups)
	kept, err := groups.Probabilities()
	each := amountOf(groups.Delta)
	if err != nil || each == nil {
		return nil, published.Faultf(measured.PlanFile, "the selection of measurement %s is none", m.ID)
	}
	alone := new(big.Rat).SetFloat64(kept.Chance(max(groups.AtLeast, 1)))
	if alone == nil || alone.Cmp(each) > 0 {
		return nil, published.Faultf(measured.PlanFile,
			"the selection of measurement %s lets a group of one unit appear with more than its δ", m.ID)
	}
	return each.Mul(each, new(big.Rat).SetInt64(groups.Groups)), nil
}

// deltaForNoise returns the δ that is left for the noise after the selections of unlisted groups, exact, and in says
// what these use. Each selection lets a group of a single unit appear with a probability of at most the δ of one
// group, in as many groups as neighbours differ in.
func deltaForNoise(p *compiled.Compiled) (left, says string, err error) {
	total := new(big.Rat)
	for _, m := range p.Measurements {
		of, err := selectionDelta[m.Selection.Kind()](m)
		if err != nil {
			return "", "", err
		}
		total.Add(total, of)
	}
	delta := amountOf(p.Guarantee.Delta)
	if delta == nil || total.Sign() == 0 {
		return p.Guarantee.Delta, "", nil
	}
	rest := new(big.Rat).Sub(delta, total)
	if rest.Sign() <= 0 || p.Cost.Delta == nil || p.Cost.Delta.Cmp(total) < 0 {
		return "", "", published.Faultf(measured.PlanFile,
			"its selections have a δ of %s, more than it promises or is charged for", budget.DecimalUp(total, 6))
	}
	return rest.RatString(), fmt.Sprintf(", beside %s for selections", budget.DecimalUp(total, 6)), nil
}
