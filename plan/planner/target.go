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

// predictTargets says of every table with a target what margin it will have: of the widest cell, by the law of its
// noise.
func predictTargets(p *plan.Plan, tables []*workload.Table, estimates []compiled.Estimate) {
	reached := func(i int, confidence float64) float64 {
		if m, ok := p.Measurement(p.Tables[i].Statistics[0].Measurement); ok {
			margin, _ := m.Mechanism.Margin(confidence)
			return float64(margin)
		}
		for _, e := range estimates {
			if marginal := slices.Index(e.Tables, i); marginal >= 0 {
				return e.Intervals(marginal, 0, math.Sqrt(e.Largest(marginal, e.Variances)), confidence, compiled.Laws{}).Margin
			}
		}
		return math.Inf(1)
	}
	for i, t := range tables {
		asked, ok := t.Goal()
		if !ok {
			continue
		}
		target := t.Marginal.Target
		p.Tables[i].Target = &plan.Target{
			Margin: budget.Decimal(target.Margin), Confidence: budget.Decimal(target.Confidence), AllCells: target.AllCells,
			Relative: workload.Relative(target),
			Reached:  budget.RoundUp(reached(i, asked.Confidence), plan.Significant),
		}
	}
}

// targetRatio is the margin that is reached over the one that is asked for.
func targetRatio(t plan.Target) float64 {
	asked, err := budget.ParseRat(t.Margin)
	if err != nil || asked.Sign() <= 0 {
		return math.Inf(1)
	}
	margin, _ := asked.Float64()
	return t.Reached / margin
}

// missesTarget tells that a table will not be as good as its target asks.
func missesTarget(t plan.Table) bool { return t.Target != nil && targetRatio(*t.Target) > 1+1e-6 }

// missedTables lists the tables that will not be as good as their targets ask.
func missedTables(p *plan.Plan) []plan.Table {
	var out []plan.Table
	for _, t := range p.Tables {
		if missesTarget(t) {
			out = append(out, t)
		}
	}
	return out
}

// missedInNeeded is the least ratio of a target to the margin that is reached, of the tables of leaves that get what
// their targets need: 1 where none is missed.
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

// TooLittle is the error for a budget with which targets are missed. Least is the smallest that meets them all, in the
// terms of Key; "" where none was found. Nothing has been planned.
type TooLittle struct {
	Key     string       // epsilon or rho
	Asked   string       // the budget's own
	Least   string       // rounded up
	Missed  []plan.Table // with the budget as it is; none where it does not even pay for what is needed
	Binds   []string     // the tables whose targets are met with nothing to spare by the least budget
	problem error
}

// Error is the problem where it stands in the spec.
func (e *TooLittle) Error() string { return e.problem.Error() }

// Unwrap is the problem in the spec.
func (e *TooLittle) Unwrap() error { return e.problem }

// refuse says what budget would do.
func refuse(r *spec.Release, missed []plan.Table, why error) error {
	e := &TooLittle{Key: key(r.Budget), Missed: missed}
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

// key is which amount of a budget is solved for.
func key(b spec.Budget) string {
	if b.Epsilon != nil {
		return "epsilon"
	}
	return "rho"
}

// neededLeaves are the leaves that get what their targets need, by their paths.
func neededLeaves(p *plan.Plan) map[string]bool {
	needed := map[string]bool{}
	for _, l := range p.Leaves {
		needed[l.Path] = l.Needed
	}
	return needed
}

// leafOf is the leaf that pays for a table.
func leafOf(p *plan.Plan, table int) string {
	for _, m := range p.Release().Marginals {
		if m.Name == p.Tables[table].Marginal {
			return m.Leaf
		}
	}
	return ""
}
