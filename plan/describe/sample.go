package describe

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes the sample.

// ShareText returns an exact share as a percentage, such as "10%".
func ShareText(share string) string {
	f, _ := plan.Amount(share).Float64()
	return budget.Percent(f)
}

// sampleMethod says within the method of a guarantee that its mechanisms see a sample; "" if they see all units.
func sampleMethod(l *language.Language, s plan.Sample) string {
	if !s.Partial() {
		return ""
	}
	return ", " + l.Text("of a secret sample of %s of the units, drawn once (Balle, Barthe and Gaboardi 2018)",
		l.Number(ShareText(s.Share)))
}

// sampleLines says what a plan is measured on; it returns nil if that is all units.
func sampleLines(p *plan.Plan) []string {
	if !p.Sample.Partial() {
		return nil
	}
	return []string{fmt.Sprintf(
		"Measured on a secret sample: each %s is drawn with probability %s, once for the whole release, and counts "+
			"are divided by that. Those who are drawn lose more, %s.",
		p.Guarantee.Protects, ShareText(p.Sample.Share), budget.Amounts(p.Sample.Spent.Epsilon, p.Sample.Spent.Rho,
			nil))}
}

// amplifiedLoss returns the loss of all units by mechanisms that see only a sample of them, and its pure ε in text.
func amplifiedLoss(loss budget.Loss, s plan.Sample) (of budget.Loss, pure string, err error) {
	pure = budget.FormatRat(loss.Epsilon())
	if !s.Partial() {
		return loss, pure, nil
	}
	if of, err = loss.Sampled(s.Rate()); err != nil || pure == "" {
		return of, pure, err
	}
	bound, err := of.EpsilonAt(nil)
	if err != nil {
		return of, pure, err
	}
	return of, budget.DecimalUp(new(big.Rat).SetFloat64(bound.Value), plan.Significant), nil
}

// sampleError says what the sample adds to the error of a count; "" if all units are measured.
func sampleError(l *language.Language, p *plan.Plan, t plan.Table) string {
	if !p.Sample.Partial() {
		return ""
	}
	share, rows := p.Sample.Rate(), compiled.RowsOfUnit(p, t, false)
	each := new(big.Rat).Quo(new(big.Rat).Sub(big.NewRat(1, 1), share), share)
	each.Mul(each, new(big.Rat).SetInt64(rows))
	return " " + l.Text("The error of the sample comes on top: in a cell of n rows its standard error is at most "+
		"√(%s·n), and the published interval includes it.", l.Number(budget.DecimalUp(each, 4)))
}

// relationsText says how the losses of leaves, if there are any, and of attributes relate to the loss of the whole
// release.
func relationsText(s plan.Sample, neighbours spec.Neighbours, leaves bool) string {
	if s.Partial() {
		return "\nA secret sample of the units is measured: ε and the power of attacks hold for all units, ρ for " +
			"the units that are drawn. The losses of attributes are stated as if every unit were drawn."
	}
	text := ""
	if leaves {
		text = " The losses of leaves are: in ρ, and in a pure ε, they add up to the whole."
	}
	if neighbours == spec.AddRemove {
		text += "\nChanging the value of an attribute counts as removing one unit and adding another. It can lose " +
			"more than the whole release does: up to twice its ε if that is pure, up to four times its ρ."
	}
	return text
}
