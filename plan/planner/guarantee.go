package planner

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/contour"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the guarantee: what the whole plan promises, in the terms of its budget and in others.

// equivalentDeltas are the δ at which a plan in ρ states its ε.
var equivalentDeltas = []string{"1e-6", "1e-9"}

// decisive is how far above δ, relatively, the sum of the second accountant's figure and its error may be if it is to
// count as a judgement.
const decisive = 1e-3

// guaranteeOf states the promise in the spec's own terms. spent is the budget that its mechanisms may have together:
// the release's, or that of the units that a sample draws.
func guaranteeOf(r *spec.Release, spent spec.Budget, p *plan.Plan) (plan.Guarantee, error) {
	g := plan.Guarantee{
		Protects: r.Privacy.Protects, Neighbours: string(r.Privacy.Neighbours),
		Account: r.Privacy.Account, FurtherAccounts: r.Privacy.FurtherAccounts,
	}
	setUnit(&g, r)
	g.Invariants = describe.Invariants(p.Invariants)
	var capped, rounds string // how the rounds of microdata enter: by their cap, however many are made
	if p.Adapts() {
		capped, rounds = ", with the rounds of microdata by their cap in ρ (Bun and Steinke 2016)",
			" and the cap of all rounds of microdata"
	}
	g.Sample = p.Sample.Share
	sampled := describe.SampleMethod(p.Sample)
	switch b := r.Budget; {
	case b.Delta != nil:
		g.Definition, g.Epsilon, g.Delta = "approximate", budget.FormatRat(b.Epsilon), budget.FormatRat(b.Delta)
		g.Rho = budget.FormatRat(p.Cost.Rho)
		g.Method = "the privacy losses of all measurements composed numerically (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022)" + capped + sampled
		if reserved := workload.Reserved(p); reserved != nil {
			g.Method += fmt.Sprintf(
				", at a δ of %s: the other %s are reserved for groups that nobody listed to appear (Desfontaines, Voss, Gipson and Mandayam 2022)", budget.DecimalUp(spent.Delta, plan.Significant), budget.DecimalUp(reserved, plan.Significant))
		}
		plain, err := budget.RhoForEpsilonDelta(spent.Epsilon, spent.Delta)
		if err != nil {
			return g, fmt.Errorf("budget: %w", err)
		}
		g.PlainRho = budget.FormatRat(plain)
		judged, err := judge(p.Mechanisms(), spent.Epsilon, spent.Delta)
		if judged {
			g.Method += ", and judged again by a contour integral"
		}
		return g, err
	case b.Epsilon != nil:
		g.Definition, g.Epsilon = "pure", budget.FormatRat(p.Cost.Epsilon)
		g.Method = "the ε of all measurements" + rounds + sampled + " added up (Dwork, McSherry, Nissim and Smith 2006)"
		return g, nil
	default:
		g.Definition, g.Rho = "zcdp", budget.FormatRat(p.Cost.Rho)
		g.Method = "the ρ of all measurements" + rounds + sampled + " added up (Bun and Steinke 2016)"
	}
	var err error
	g.Equivalents, err = equivalents(p.Mechanisms())
	return g, err
}

// judge returns an error if the second accountant, which shares no code with the first, finds that the mechanisms
// exceed ε and δ. It reports whether it could judge them: not all kinds of mechanism, and not to enough digits at
// every ε.
//
// Contract: a plan that New returns without an error has been judged by two accountants, or by one, and then its
// method does not speak of the second. Argument: docs/proofs/contour.md.
func judge(all []budget.Mechanism, epsilon, delta *big.Rat) (bool, error) {
	e, _ := epsilon.Float64()
	d, _ := delta.Float64()
	second, err := contour.Delta(all, e)
	switch {
	case errors.Is(err, contour.ErrCannotJudge):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("judging the plan a second time: %w", err)
	case second.Delta-second.Error > d*(1+1e-9):
		return false, fmt.Errorf(
			"the two accountants disagree: the plan has δ = %g by one of them, %g by the other: nothing was planned, please report this", d, second.Delta)
	}
	return second.Delta+second.Error <= d*(1+decisive), nil
}

// equivalents returns the ε that mechanisms in ρ imply at the usual δ.
func equivalents(all []budget.Mechanism) ([]plan.Equivalent, error) {
	loss, err := budget.Compose(all...)
	if err != nil {
		return nil, fmt.Errorf("composing the plan: %w", err)
	}
	out := make([]plan.Equivalent, len(equivalentDeltas))
	for i, d := range equivalentDeltas {
		delta, err := budget.ParseRat(d)
		if err != nil {
			return nil, err
		}
		bound, err := loss.EpsilonAt(delta)
		if err != nil {
			return nil, fmt.Errorf("ε at δ = %s: %w", d, err)
		}
		out[i] = plan.Equivalent{Delta: d, Epsilon: budget.RoundUp(bound.Value, plan.Significant), Method: bound.Method}
	}
	return out, nil
}

// setUnit states what a release protects: with several confidential tables, a unit's rows in all of them.
//
// Guarantee: two inputs that differ in one unit differ in rows of one id alone, at most MaxRows of which are counted,
// in all tables together. Neighbours: both relations. Argument: docs/proofs/sensitivity.md.
func setUnit(g *plan.Guarantee, r *spec.Release) {
	g.Unit, g.MaxRows = "each row", 0
	var names []string
	for _, t := range r.Tables {
		g.MaxRows += t.Unit.MaxRows
		if t.Unit.Null == spec.Drop {
			g.WithoutID = plan.LeftOut
		}
		names = append(names, t.Name)
	}
	first := r.Tables[0].Unit
	switch {
	case len(r.Tables) == 1 && first.Row:
		return
	case len(r.Tables) == 1:
		g.Unit = "all rows with the same " + first.ID
		return
	}
	for _, t := range r.Tables {
		g.Rows = append(g.Rows, plan.UnitRows{Table: t.Name, ID: t.Unit.ID, MaxRows: t.Unit.MaxRows})
	}
	if !slices.ContainsFunc(r.Tables, func(t *spec.Table) bool { return t.Unit.ID != first.ID }) {
		g.Unit = "all rows with the same " + first.ID + " in " + budget.InWords(names)
		return
	}
	for i, t := range r.Tables {
		names[i] = t.Unit.ID + " in " + t.Name
	}
	g.Unit = "all rows with the same id (" + budget.InWords(names) + ")"
}
