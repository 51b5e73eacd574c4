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

// This file holds what selections have of the δ of a plan.

// besideNoise lists the δ that the selection of a measurement has in addition to its mechanisms, exact.
var besideNoise = [selection.Kinds]func(m plan.Measurement) (*big.Rat, error){
	selection.KindAll:    noDelta,
	selection.KindAbove:  noDelta,
	selection.KindTop:    noDelta,
	selection.KindGroups: deltaOfGroups,
}

func noDelta(plan.Measurement) (*big.Rat, error) { return new(big.Rat), nil }

// deltaOfGroups is the δ of a selection of groups. It fails where a group of one unit appears with more than the δ of
// its group.
func deltaOfGroups(m plan.Measurement) (*big.Rat, error) {
	groups := m.Selection.(selection.Groups)
	kept, err := groups.Kept()
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

// besidesSelections is the δ that selections of groups which nobody listed leave for the noise, exact; says tells what
// they have. Each lets a group that one unit alone has appear with a probability of at most the δ of its group, in as
// many groups as neighbours differ in.
func besidesSelections(p *compiled.Compiled) (left, says string, err error) {
	total := new(big.Rat)
	for _, m := range p.Measurements {
		of, err := besideNoise[m.Selection.Kind()](m)
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
