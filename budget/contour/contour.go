package contour

import (
	"errors"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

// Result is a δ and a bound on its distance from the exact δ.
type Result struct {
	Delta float64
	// Error is absolute. The error of the step of the trapezoid rule and of terms left out of a sum is a bound, with
	// one exception: steps whose losses lie on no common lattice of a manageable size, have no density and have too
	// many values to list. For these the end of the contour is estimated from what precedes it. The rounding error is
	// an estimate, on the safe side.
	Error float64
}

// ErrCannotJudge is wrapped by the errors of steps that validate, but whose loss this accountant cannot compute.
var ErrCannotJudge = errors.New("the contour integral cannot judge this")

// Delta returns δ(ε) = max over outputs S of P(S) − e^ε·Q(S) for steps fixed in advance and run on the same data. P is
// the law of the outputs on the data, and Q on the neighbour that differs by the worst shift that the sensitivities
// allow.
//
// Permute-and-flip is treated as randomized response of its ε, the exponential mechanism by a loss that dominates all
// of bounded range ε (Dong, Durfee & Rogers 2020), Gaussian noise with too many shapes of shifts as continuous noise of
// a variance smaller by 3: all are upper bounds. ε must be finite and at least 0.
//
// Theorem: Laplace inversion of the hockey-stick divergence. Argument: docs/proofs/contour.md. It returns an error for
// a step that does not validate, and ErrCannotJudge in three cases: an adaptive block, of which only ρ is known;
// quantiles, for whose many choices ρ is tighter than bounds on each; and little noise with so many shapes of shifts
// that the worst cannot be determined.
func Delta(steps []budget.Mechanism, epsilon float64) (Result, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return Result{}, errors.New("epsilon must be finite and at least 0")
	}
	compositions, err := listCompositions(steps)
	if err != nil {
		return Result{}, err
	}
	return worstResult(compositions, epsilon), nil
}

// worstResult returns the largest δ(ε) of several compositions.
func worstResult(compositions []*composition, epsilon float64) Result {
	var all Result
	for _, p := range compositions {
		r := p.deltaAt(epsilon)
		r.Error += 3 * p.slack // |e^s·δ(ε−2s) − δ(ε)| for a δ that is at most 1 and falls by at most 1 a unit of ε
		all.Delta, all.Error = max(all.Delta, r.Delta), max(all.Error, r.Error)
	}
	return all
}

const (
	// targetError is the relative error that the choice of a method aims at.
	targetError = 1e-10
	// quickWork, thorough: how often a sum may evaluate laws before other ways are
	// tried, and at all.
	quickWork, maxWork = 1 << 17, 1 << 22
	// smallestDelta is the least δ that is distinguished from 0.
	smallestDelta = 1e-290
)

// deltaAt returns δ(ε) of a composition.
func (p *composition) deltaAt(epsilon float64) Result {
	if p.maxLoss != nil && p.maxLoss.Cmp(new(big.Rat).SetFloat64(epsilon)) <= 0 {
		return Result{}
	}
	j := p.newIntegrand(epsilon)
	aim := j.roughDelta
	for {
		if math.IsNaN(aim) {
			return Result{Error: 1} // nothing is known of a δ whose computation overflows
		}
		r := j.integrate(max(aim, smallestDelta) * 1e-15)
		if math.IsNaN(r.Delta + r.Error) {
			return Result{Error: 1}
		}
		if r.Error <= targetError*r.Delta || aim <= max(r.Delta, smallestDelta) {
			return r
		}
		aim = r.Delta // the first guess was too high
	}
}

// integrate uses the cheapest method that reaches the target error, or the most exact one if none does: around a period
// of a lattice, by listing losses, along the line. The aliases stay below a bound.
func (j *integrand) integrate(aliases float64) Result {
	circle, ok := j.newCircle(j.aliasPeriod(aliases))
	if ok && circle.estimateWork() <= quickWork {
		return circle.sumPoints()
	}
	if r, ok := j.deltaByListing(); ok {
		return r
	}
	far := j.leftOfZero()
	r := far.newLine(far.aliasPeriod(aliases)).sumPoints()
	if ok && circle.estimateWork() <= maxWork && r.Error > targetError*r.Delta {
		return circle.sumPoints()
	}
	return r
}
