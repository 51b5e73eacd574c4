package planner

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// This file holds the search for the smallest budget that meets all targets.

// Solution is the smallest budget of four digits that meets all targets of a release.
type Solution struct {
	Key    string   `json:"key"` // epsilon or rho
	Amount string   `json:"amount"`
	Binds  []string `json:"binds"` // the tables that just meet their targets
	// WithoutTarget are the tables whose errors the search ignores.
	WithoutTarget []WithoutTarget `json:"without_target,omitempty"`
	Plan          *plan.Plan      `json:"-"` // with that budget, without its guarantee
}

// WithoutTarget is a table without a target, with its margins.
type WithoutTarget struct {
	Table string `json:"table"`
	// Margin is its widest 95% margin with the smallest budget, and Now with the budget of the spec: 0 if that does
	// not pay for what leaves of targets need.
	Margin float64 `json:"margin"`
	Now    float64 `json:"now,omitempty"`
}

// Amounts of four digits are numbered in ascending order, from 1e-9 on: mantissas of 1000 to 9999 for every power of
// ten.
const (
	leastMantissa = 1000
	mantissas     = 9 * leastMantissa
	leastPower    = -12
	powers        = 15
	mostAmount    = "1e6"
)

// amountAt returns the amount of a number.
func amountAt(number int) *big.Rat {
	amount := new(big.Rat).SetInt64(int64(leastMantissa + number%mantissas))
	ten, power := big.NewRat(10, 1), leastPower+number/mantissas
	for ; power < 0; power++ {
		amount.Quo(amount, ten)
	}
	for ; power > 0; power-- {
		amount.Mul(amount, ten)
	}
	return amount
}

// numberOf returns the number of the least amount that is x or more, up to rounding of x; the first or last for an x
// beyond.
func numberOf(x float64) int {
	const rounding = 1 - 1e-12
	most := powers*mantissas - 1
	value := func(number int) float64 { f, _ := amountAt(number).Float64(); return f }
	if !(x > value(0)) {
		return 0
	}
	if x >= value(most) {
		return most
	}
	power := int(math.Floor(math.Log10(x))) - 3 // one off at most, near powers of ten
	number := (power-leastPower)*mantissas + int(float64(x*math.Pow10(-power))) - leastMantissa
	number = max(0, min(number, most))
	for number < most && value(number) < float64(x*rounding) {
		number++
	}
	return number
}

// search finds the least number from which on a property holds. The property does not hold at low, -1 if nothing is
// known, and holds at high, one beyond the last if nothing is known.
type search struct{ low, high, tried int }

// done reports whether no number is left between the two.
func (s *search) done() bool { return s.high-s.low <= 1 }

// recordTrial records whether the property holds at a number, and returns the number to try next: the guess, 0 for
// none, or the remaining number nearest to it. Guesses that do not end the search soon give way to bisection.
func (s *search) recordTrial(number int, holds bool, guess int) int {
	const guesses, fourTimes = 8, 6000 // fourTimes is about how far an amount and four times it lie apart
	if holds {
		s.high = number
	} else {
		s.low = number
	}
	if s.tried++; guess == 0 || s.tried >= guesses {
		switch {
		case s.low < 0:
			guess = s.high - fourTimes
		case s.high == powers*mantissas:
			guess = s.low + fourTimes
		default:
			guess = s.low + (s.high-s.low)/2
		}
	}
	return max(s.low+1, min(guess, s.high-1))
}

// Solve finds the smallest ε, or ρ, of four digits with which every target of a release is met, with all shares and δ
// unchanged. It returns an error for a release without targets, and if no budget meets them.
//
// Margins are whole numbers and fall in steps as the budget grows: many budgets share one, which does not show how
// far away the least of them is. The search therefore uses the noise, and ends when an amount meets the targets and
// the one before it does not.
func Solve(r *spec.Release) (*Solution, error) {
	if !slices.ContainsFunc(r.Marginals, func(m spec.Marginal) bool { return m.Target != nil }) {
		return nil, errors.New("no marginal has a target: give one a target, as target: {margin: 500}")
	}
	if r.Collection != nil {
		return nil, r.Problem("collect", document.Problem{
			Message:  "the smallest budget is not searched for a collection",
			Expected: "`dprelease plan SPEC --what-if epsilon=1,2,4`, which plans it with other amounts"})
	}
	s := &Solution{Key: budgetKey(r.Budget)}
	budgeted := r.Budget.Epsilon
	if budgeted == nil {
		budgeted = r.Budget.Rho
	}
	start, _ := budgeted.Float64()
	left, number := search{low: -1, high: powers * mantissas}, numberOf(start)
	noises := widestNoises{}
	var now *plan.Plan
	var failed error
	for !left.done() {
		d, err := s.planAmount(r, number)
		if err != nil { // the budget is too small, as for fixed amounts of leaves, or too large
			d, failed = nil, fmt.Errorf("%s %s: %w", s.Key, amountText(number), err)
		}
		meets, guess := false, 0
		if d != nil {
			if left.tried == 0 {
				now = d.plan
			}
			if meets = len(missedTables(d.plan)) == 0; meets {
				s.Plan = d.plan
			}
			x, _ := amountAt(number).Float64()
			if factor := d.growthFactor(s.Key, noises); factor > 0 {
				guess = numberOf(float64(x * factor))
			}
		}
		number = left.recordTrial(number, meets, guess)
	}
	if s.Plan == nil {
		return nil, errors.Join(fmt.Errorf("no %s below %s meets them", s.Key, mostAmount), failed)
	}
	s.Amount, s.Binds = amountText(left.high), bindingTables(s.Plan)
	s.WithoutTarget = withoutTarget(s.Plan, now)
	return s, nil
}

// amountText returns the amount of a number as a spec writes it.
func amountText(number int) string {
	const digits = 4
	return strings.ReplaceAll(budget.DecimalUp(amountAt(number), digits), "\u202f", "")
}

// planAmount plans with an amount. It returns nil if the amount is less than what leaves of targets need.
func (s *Solution) planAmount(r *spec.Release, number int) (*draftPlan, error) {
	other, err := r.WithBudget(s.Key, amountText(number))
	if err != nil {
		return nil, err
	}
	if other, err = withInnerBudget(other); err != nil {
		return nil, err
	}
	d, err := (&draftPlan{}).meetTargets(other, func(string, *draftPlan) {})
	if errors.Is(err, optimise.ErrTooLittle) {
		return nil, nil
	}
	return d, err
}

// widestNoises caches the widest noises that keep goals.
type widestNoises map[workload.Goal]map[budget.Kind]*big.Rat

// widestFor returns the widest parameter of a noise that keeps a goal, nil for none.
func (w widestNoises) widestFor(r *spec.Release, g workload.Goal, noise budget.Kind) *big.Rat {
	if w[g] == nil {
		w[g] = map[budget.Kind]*big.Rat{}
	}
	parameter, known := w[g][noise]
	if !known {
		parameter = optimise.Parameter(r, g, noise)
		w[g][noise] = parameter
	}
	return parameter
}

// growthFactor returns the factor by which the budget would have to grow, or may shrink, for the most demanding table
// to just meet its target, if all leaves grew with it. It returns 0 if no table with a target has a share.
func (d *draftPlan) growthFactor(key string, noises widestNoises) float64 {
	needed, most := neededLeaves(d.plan), 0.0
	for i, t := range d.tables {
		goal, ok := t.Goal()
		if !ok || needed[leafOf(d.plan, i)] {
			continue
		}
		shown := d.plan.Tables[i]
		factor, perAmount := targetRatio(*shown.Target), 1.0 // of standard errors, which go as 1/ε and 1/√ρ
		if m, ok := d.plan.Measurement(shown.Statistics[0].Measurement); ok {
			if widest := noises.widestFor(d.plan.Release(), goal, m.Mechanism.Kind); widest != nil {
				factor, _ = new(big.Rat).Quo(m.Mechanism.Parameter, widest).Float64()
				if m.Mechanism.Kind.Normal() {
					factor = math.Sqrt(factor)
				}
			}
		}
		if key == "rho" {
			perAmount = factor
		}
		most = max(most, float64(factor*perAmount))
	}
	return most
}

// withoutTarget returns the tables that have no target, with their current margins.
func withoutTarget(p *plan.Plan, now *plan.Plan) []WithoutTarget {
	var out []WithoutTarget
	for i, t := range p.Tables {
		if t.Target != nil {
			continue
		}
		w := WithoutTarget{Table: t.Path, Margin: t.Statistics[0].Margin}
		if now != nil {
			w.Now = now.Tables[i].Statistics[0].Margin
		}
		out = append(out, w)
	}
	return out
}

// bindingTables returns the tables whose targets are met with the least to spare.
func bindingTables(p *plan.Plan) []string {
	const tight = 0.99 // of the nearest
	var out []string
	closest := 0.0
	for _, t := range p.Tables {
		if t.Target != nil {
			closest = max(closest, targetRatio(*t.Target))
		}
	}
	for _, t := range p.Tables {
		if t.Target != nil && targetRatio(*t.Target) >= float64(closest*tight) {
			out = append(out, t.Path)
		}
	}
	return out
}
