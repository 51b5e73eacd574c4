package contour

import (
	"errors"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

// Result is a δ and how far from the exact one it may be.
type Result struct {
	Delta float64
	// Error is absolute. Its parts for the step of the trapezoid rule and for what
	// is left out of a sum are bounds, with one exception: steps whose losses lie
	// on no common lattice of a manageable size, have no density and have too many
	// values to list. There the end of the contour is estimated from what lies
	// before it. The part for rounding is an estimate, on the safe side.
	Error float64
}

// ErrCannotJudge is wrapped by the errors of steps that validate, and whose loss
// this accountant has no way to work out.
var ErrCannotJudge = errors.New("the contour integral cannot judge this")

// Delta returns δ(ε) = max over outputs S of P(S) − e^ε·Q(S) for steps fixed in
// advance and run on the same data, Q being the outputs of the neighbour that a
// unit turns the data into by the worst shift that the sensitivities allow.
//
// Permute-and-flip is judged as randomized response of its ε, the exponential
// mechanism by a loss that dominates all of bounded range ε (Dong, Durfee &
// Rogers 2020), Gaussian noise with too many shapes of shifts as continuous noise
// of a variance smaller by 3: all are upper bounds. ε must be finite and at least 0.
//
// Theorem: Laplace inversion of the hockey-stick divergence. Argument:
// docs/proofs/contour.md. It returns an error for a step that does not validate,
// and ErrCannotJudge for an adaptive block, of which only ρ is known, for quantiles,
// of whose many choices ρ tells more than bounds on each, and for little noise with so
// many shapes of shifts that the worst cannot be told.
func Delta(steps []budget.Mechanism, epsilon float64) (Result, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return Result{}, errors.New("epsilon must be finite and at least 0")
	}
	compositions, err := assignments(steps)
	if err != nil {
		return Result{}, err
	}
	return worst(compositions, epsilon), nil
}

// worst is the largest δ(ε) of several compositions.
func worst(compositions []*composition, epsilon float64) Result {
	var all Result
	for _, p := range compositions {
		r := p.delta(epsilon)
		r.Error += 3 * p.slack // |e^s·δ(ε−2s) − δ(ε)| for a δ that is at most 1 and falls by at most 1 a unit of ε
		all.Delta, all.Error = max(all.Delta, r.Delta), max(all.Error, r.Error)
	}
	return all
}

const (
	// wanted is the relative error that the choice of a method aims at.
	wanted = 1e-10
	// quick, thorough: how often a sum may evaluate laws before other ways are
	// tried, and at all.
	quick, thorough = 1 << 17, 1 << 22
	// faintest is the least δ that is told from 0.
	faintest = 1e-290
)

// delta is δ(ε) of a composition.
func (p *composition) delta(epsilon float64) Result {
	if p.most != nil && p.most.Cmp(new(big.Rat).SetFloat64(epsilon)) <= 0 {
		return Result{}
	}
	j := p.judge(epsilon)
	aim := j.expects
	for {
		if math.IsNaN(aim) {
			return Result{Error: 1} // all that is known of a δ whose figures overflow
		}
		r := j.integrate(max(aim, faintest) * 1e-15)
		if math.IsNaN(r.Delta + r.Error) {
			return Result{Error: 1}
		}
		if r.Error <= wanted*r.Delta || aim <= max(r.Delta, faintest) {
			return r
		}
		aim = r.Delta // the first guess was too high
	}
}

// integrate takes the cheapest way to the accuracy that is wanted, or else the
// most exact: around a period of a lattice, by listing losses, along the line;
// with aliases below a bound.
func (j *judgement) integrate(aliases float64) Result {
	circle, ok := j.newCircle(j.period(aliases))
	if ok && circle.work() <= quick {
		return circle.sum()
	}
	if r, ok := j.list(); ok {
		return r
	}
	far := j.leftward()
	r := far.newLine(far.period(aliases)).sum()
	if ok && circle.work() <= thorough && r.Error > wanted*r.Delta {
		return circle.sum()
	}
	return r
}
