package budget

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

const (
	// calibrationDigits is how many significant digits the ρ that [Calibrate] returns
	// has: few enough for people to read, and to add up in an account.
	calibrationDigits = 7
	// calibrationGap is how close to the largest ρ it comes, relatively.
	calibrationGap = 1e-6
	// mostTrials bounds its trials.
	mostTrials = 60
)

// ErrExceeded is the error of [Calibrate] for a budget that is less than what is
// spent at the ρ that the search is to begin at.
var ErrExceeded = errors.New("what is spent in any case is not within epsilon and delta")

// Calibrate returns the largest ρ for which the mechanisms of build(ρ), composed,
// are (ε, δ)-differentially private, with those mechanisms: the least noise that
// the budget allows, whatever shares of ρ and kinds of mechanism build hands out.
// build is called with decimal ρ > 0; more ρ must not mean more noise, and build
// must round towards more noise, as [GaussianFor] and [LaplaceFor] do.
//
// Guarantee: Compose(mechanisms).EpsilonAt(δ) ≤ ε holds for the mechanisms
// returned, so the promise does not rest on the search; ρ is within 1e-6 of the
// largest, relatively, but for the grid that the parameters are rounded to, and no
// further below [RhoForEpsilonDelta]'s. For the neighbours of the
// mechanisms' sensitivities. Theorem: as for [Loss.EpsilonAt]. Argument:
// docs/proofs/sensitivity.md.
//
// The search begins at ρ = from, for which build must spend at least something of
// every part, or, where that is nil or less, at [RhoForEpsilonDelta]'s. It returns the errors of build, one for ε ≤ 0 or δ
// outside (0, 1), and [ErrExceeded] where the mechanisms of build(from) are not
// (ε, δ)-differentially private.
func Calibrate(epsilon, delta, from *big.Rat, build func(rho *big.Rat) ([]Mechanism, error)) (*big.Rat, []Mechanism, error) {
	start, err := RhoForEpsilonDelta(epsilon, delta)
	if err != nil {
		return nil, nil, err
	}
	raised := from != nil && from.Cmp(start) > 0
	if raised {
		start = from
	}
	target := roundDown(epsilon)
	// excess is ln(ε(ρ)/ε): it rises with ρ, nearly in a straight line in ln ρ.
	excess := func(rho *big.Rat) (float64, []Mechanism, error) {
		steps, err := build(rho)
		if err != nil {
			return 0, nil, err
		}
		loss, err := Compose(steps...)
		if err != nil {
			return 0, nil, err
		}
		bound, err := loss.EpsilonAt(delta)
		if err != nil {
			return 0, nil, err
		}
		if bound.Value <= 0 {
			return math.Inf(-1), steps, nil
		}
		return Log(bound.Value / target), steps, nil
	}
	fits := decimalBelow(nearest(start), calibrationDigits)
	if raised {
		fits = start
	}
	below, best, err := excess(fits)
	if err != nil {
		return nil, nil, err
	}
	if below > 0 && raised {
		return nil, nil, ErrExceeded
	}
	if below > 0 { // the parameters' rounding cannot cause that, nor can the conversion
		return nil, nil, errors.New("the mechanisms lose more than the rho that they were given")
	}
	exceeds, above := (*big.Rat)(nil), math.Inf(1)
	for range mostTrials {
		next := nextTrial(fits, exceeds, below, above)
		if next == nil {
			break
		}
		e, steps, err := excess(next)
		if err != nil {
			return nil, nil, fmt.Errorf("trying rho %s: %w", DecimalNearest(nearest(next), 6), err)
		}
		if e <= 0 {
			fits, below, best = next, e, steps
		} else {
			exceeds, above = next, e
		}
	}
	return fits, best, nil
}

// nextTrial returns a ρ between the largest that fits and the least that exceeds,
// where the excess is likely to be 0, or nil if they are close enough. Without an
// upper end it goes up.
func nextTrial(fits, exceeds *big.Rat, below, above float64) *big.Rat {
	low := nearest(fits)
	if exceeds == nil {
		step := 1.05
		if !math.IsInf(below, -1) {
			step = max(step, float64(Exp(-2*below)*1.001)) // ε rises at least as √ρ
		}
		return decimalBelow(float64(low*min(step, 16)), calibrationDigits)
	}
	high := nearest(exceeds)
	if high-low <= float64(calibrationGap*low) {
		return nil
	}
	part := 0.5
	if above < 1 && below > -1 {
		// By the straight line, a little inside, so that both ends close in.
		part = min(max(-below/(above-below), 0.001), 0.999)
		part = float64(part*0.98) + 0.01
		if above-below < 1e-12 {
			part = 0.5
		}
	}
	next := decimalBelow(low+float64(part*(high-low)), calibrationDigits)
	if next.Cmp(fits) <= 0 || next.Cmp(exceeds) >= 0 {
		return nil
	}
	return next
}
