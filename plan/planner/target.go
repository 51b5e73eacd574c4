package planner

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// This file holds the targets of a plan: which are met, and what budget would meet those that are missed.

// predictTargets states the margin of every table with a target: of the widest cell, by the law of its noise.
func predictTargets(p *plan.Plan, tables []*workload.Table, estimates []compiled.Estimate) {
	reached := func(i int, confidence float64) float64 {
		if m, ok := p.Measurement(p.Tables[i].Statistics[0].Measurement); ok {
			margin, _ := m.Mechanism.Margin(confidence)
			return float64(margin)
		}
		for _, e := range estimates {
			if marginal := slices.Index(e.Tables, i); marginal >= 0 {
				return e.Intervals(marginal, 0, math.Sqrt(e.Largest(marginal, e.Variances)), confidence,
					compiled.Laws{}).Margin
			}
		}
		return math.Inf(1)
	}
	for i, t := range tables {
		goal, ok := t.Goal()
		if !ok {
			continue
		}
		target := t.Marginal.Target
		p.Tables[i].Target = &plan.Target{
			Margin: budget.Decimal(target.Margin), Confidence: budget.Decimal(target.Confidence),
			AllCells: target.AllCells,
			Relative: workload.Relative(target),
			Reached:  budget.RoundUp(reached(i, goal.Confidence), plan.Significant),
		}
	}
}

// targetRatio returns the ratio of the margin that is reached to the target's.
func targetRatio(t plan.Target) float64 {
	wanted, err := budget.ParseRat(t.Margin)
	if err != nil || wanted.Sign() <= 0 {
		return math.Inf(1)
	}
	margin, _ := wanted.Float64()
	return t.Reached / margin
}

// missesTarget reports whether a table will miss its target.
func missesTarget(t plan.Table) bool { return t.Target != nil && targetRatio(*t.Target) > 1+1e-6 }

// missedTables returns the tables that will miss their targets.
func missedTables(p *plan.Plan) []plan.Table {
	var out []plan.Table
	for _, t := range p.Tables {
		if missesTarget(t) {
			out = append(out, t)
		}
	}
	return out
}

// missedInNeeded returns the least ratio of a target to the margin that is reached, over the tables of leaves that
// get what their targets need: 1 if none is missed.
func missedInNeeded(p *plan.Plan) float64 {
	needed := neededLeaves(p)
	ratio := 1.0
	for i, t := range p.Tables {
		if missesTarget(t) && needed[leafOf(p, i)] {
			ratio = min(ratio, 1/targetRatio(*t.Target))
		}
	}
	return ratio
}

// BudgetTooSmall is the error for a budget with which targets are missed. Least is the smallest budget that meets them
// all, in terms of Key; "" if none was found. Nothing has been planned.
type BudgetTooSmall struct {
	Key     string       // epsilon or rho
	Asked   string       // the spec's budget
	Least   string       // rounded up
	Missed  []plan.Table // with the spec's budget; none if it does not pay for what is needed
	Binds   []string     // the tables that just meet their targets with the least budget
	problem error
}

// Error describes the problem with its position in the spec.
func (e *BudgetTooSmall) Error() string { return e.problem.Error() }

// Unwrap returns the problem in the spec.
func (e *BudgetTooSmall) Unwrap() error { return e.problem }

// missedTargetsError returns the error for missed targets, with the budget that would meet them.
func missedTargetsError(r *spec.Release, missed []plan.Table, why error) error {
	e := &BudgetTooSmall{Key: budgetKey(r.Budget), Missed: missed}
	problem := document.Problem{Message: "the budget is less than the targets of its leaves need"}
	if len(missed) > 0 {
		var each []string
		for _, t := range missed {
			each = append(each, fmt.Sprintf("%s would have ±%s, its target is ±%s", t.Path,
				budget.DecimalNearest(t.Target.Reached, 4), t.Target.Margin))
		}
		const listed = 5
		if more := len(each) - listed; more > 0 {
			each = append(each[:listed], fmt.Sprintf("and %d more", more))
		}
		problem.Message = "targets would be missed: " + strings.Join(each, "; ")
	} else if why != nil && !errors.Is(why, optimise.ErrTooLittle) {
		return why
	}
	s, err := Solve(r)
	if err != nil {
		problem.Expected = "wider margins, or fewer tables with targets: " + err.Error()
	} else {
		e.Least, e.Binds = s.Amount, s.Binds
		problem.Expected = fmt.Sprintf(
			"%s: %s or more (the smallest that meets every target; it is set by %s), or wider margins", e.Key, s.Amount,
			strings.Join(s.Binds, ", "))
	}
	e.problem = r.Problem("budget."+e.Key, problem)
	return e
}

// budgetKey returns the amount of a budget that is solved for.
func budgetKey(b spec.Budget) string {
	if b.Epsilon != nil {
		return "epsilon"
	}
	return "rho"
}

// neededLeaves returns the leaves that get what their targets need, by path.
func neededLeaves(p *plan.Plan) map[string]bool {
	needed := map[string]bool{}
	for _, l := range p.Leaves {
		needed[l.Path] = l.Needed
	}
	return needed
}

// leafOf returns the leaf that pays for a table.
func leafOf(p *plan.Plan, table int) string {
	t := p.Tables[table]
	for _, m := range p.Release().Marginals {
		if m.Name != t.Marginal {
			continue
		}
		for _, l := range m.Each {
			if l.Attribute.String() == t.By[0] {
				return l.Leaf
			}
		}
		return m.Leaf
	}
	return ""
}
