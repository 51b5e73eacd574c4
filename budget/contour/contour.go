package contour

import (
	"errors"
	"fmt"
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

// Epsilon returns the least ε ≥ 0 at which [Delta] is at most delta. The search
// itself is good to 1e-13 in log δ or in max(ε, 1), whichever it meets first; an
// error of Delta moves ε by Error/delta over the slope of log δ there.
//
// It returns the errors of Delta, ErrCannotJudge where Error exceeds delta, and an
// error for a delta outside [0, 1) or of 0 where a step has no pure ε.
func Epsilon(steps []budget.Mechanism, delta float64) (float64, error) {
	if !(delta >= 0 && delta < 1) {
		return 0, errors.New("delta must be at least 0 and below 1")
	}
	compositions, err := assignments(steps)
	if err != nil {
		return 0, err
	}
	above := 0.0
	for _, p := range compositions {
		above = max(above, p.ceiling(delta))
	}
	if math.IsInf(above, 1) {
		return 0, fmt.Errorf("no epsilon holds at delta %g", delta)
	}
	if delta == 0 {
		return above, nil
	}
	epsilon := root(0, above, func(epsilon float64) float64 {
		r := worst(compositions, epsilon)
		if r.Error > max(delta, r.Delta) {
			return math.NaN() // ends the search
		}
		return math.Log(r.Delta) - math.Log(delta)
	})
	if r := worst(compositions, epsilon); r.Error > delta || r.Delta-r.Error > delta*(1+1e-6) {
		return 0, fmt.Errorf("%w: its delta is off by up to %g near epsilon %g", ErrCannotJudge, r.Error, epsilon)
	}
	return epsilon, nil
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

// ceiling is an ε at which δ(ε) ≤ delta for certain: the greatest loss, or
// Chernoff's bound.
func (p *composition) ceiling(delta float64) float64 {
	bound := math.Inf(1)
	if p.most != nil {
		bound = float(p.most)
	}
	if delta == 0 {
		return bound
	}
	j := &judgement{composition: p, epsilon: new(big.Rat), excess: float(p.anchor)}
	chernoff := func(u float64) float64 {
		c := math.Exp(u)
		return (j.moment(c) + hockey(c) - math.Log(delta)) / c
	}
	return max(0, min(bound, chernoff(least(-80, 120, 1e-3, chernoff))))
}

// root is where a falling function turns from positive to negative between a and
// b, or a if it is not positive there: by regula falsi with the Illinois rule,
// and bisection where that stalls. A value of f that is no number ends the search.
func root(a, b float64, f func(float64) float64) float64 {
	fa, fb := f(a), f(b)
	if !(fa > 0) {
		return a
	}
	for turn := 0; b-a > 1e-13*max(b, 1); turn++ {
		x := a + (b-a)*fa/(fa-fb)
		if turn%4 == 3 || !(a < x && x < b) {
			x = a + (b-a)/2
		}
		fx := f(x)
		switch {
		case fx > 0:
			a, fa, fb = x, fx, fb/2
		case fx < 0:
			b, fb, fa = x, fx, fa/2
		default:
			return x
		}
		if math.Abs(fx) < 1e-13 {
			return x
		}
	}
	return b
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
