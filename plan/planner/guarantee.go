package planner

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/contour"
	"github.com/dprelease/dprelease/plan"
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
	g.Holders = holdersOf(r)
	g.Sample = p.Sample.Share
	switch b := r.Budget; {
	case b.Delta != nil:
		g.Definition, g.Epsilon, g.Delta = "approximate", budget.FormatRat(b.Epsilon), budget.FormatRat(b.Delta)
		g.Rho = budget.FormatRat(p.Cost.Rho)
		if workload.Reserved(p) != nil {
			g.DeltaMeasured = budget.FormatRat(spent.Delta)
		}
		plain, err := budget.RhoForEpsilonDelta(spent.Epsilon, spent.Delta)
		if err != nil {
			return g, fmt.Errorf("budget: %w", err)
		}
		g.PlainRho = budget.FormatRat(plain)
		g.Judged, err = checkWithSecondAccountant(p.Mechanisms(), spent.Epsilon, spent.Delta)
		return g, err
	case b.Epsilon != nil:
		g.Definition, g.Epsilon = "pure", budget.FormatRat(p.Cost.Epsilon)
		return g, nil
	default:
		g.Definition, g.Rho = "zcdp", budget.FormatRat(p.Cost.Rho)
	}
	var err error
	g.Equivalents, err = equivalents(p.Mechanisms())
	return g, err
}

// checkWithSecondAccountant returns an error if the second accountant, which shares no code with the first, finds that
// the mechanisms exceed ε and δ. It reports whether the second accountant could judge them: it knows some kinds of
// mechanism only, and its digits do not suffice at every ε.
//
// Contract: a plan that New returns without an error has been judged by two accountants, or by one, and then its method
// does not speak of the second. Argument: docs/proofs/contour.md.
func checkWithSecondAccountant(all []budget.Mechanism, epsilon, delta *big.Rat) (bool, error) {
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
			"the two accountants disagree: the plan has δ = %g by one of them, %g by the other: nothing was planned, "+
				"please report this", d, second.Delta)
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
	g.MaxRows = 0
	for _, t := range r.Tables {
		g.MaxRows += t.Unit.AllRows()
		if t.Unit.Null == spec.Drop {
			g.WithoutID = plan.LeftOut
		}
	}
	if len(r.Tables) == 1 {
		g.ID = r.Tables[0].Unit.ID
		return
	}
	for _, t := range r.Tables {
		g.Rows = append(g.Rows, plan.UnitRows{Table: t.Name, ID: t.Unit.ID, MaxRows: t.Unit.AllRows()})
	}
}
