package budget

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
)

const (
	// calibrationDigits is the number of significant digits of the ρ that [Calibrate] returns: few enough for people to
	// read and for an account to add up.
	calibrationDigits = 7
	// calibrationGap is the relative distance to the largest ρ that ends the search. ε rises at least as √ρ, so half
	// of it suffices for ln ε.
	calibrationGap = 1e-6
	// calibrationAim is the ln(ε(ρ)/ε) that the search aims at, apart from the grid of the parameters. A trial within
	// 2½ times that is close enough.
	calibrationAim = -0.2 * calibrationGap
	// maxTrials bounds the number of trials, and maxRoughTrials the number of trials by rough composition.
	maxTrials, maxRoughTrials = 60, 6
	// roughError bounds the relative error of the ε of a rough composition.
	roughError = 1e-3
)

// ErrExceeded is the error of [Calibrate] for a budget that the mechanisms at the initial ρ of the search already
// exceed.
var ErrExceeded = errors.New("what is spent in any case is not within epsilon and delta")

// Calibrate returns the largest ρ for which the mechanisms of build(ρ), composed, are (ε, δ)-differentially private,
// together with those mechanisms: the least noise that the budget allows, for any shares of ρ and kinds of mechanism
// that build assigns. It calls build with decimal ρ > 0. More ρ must not mean more noise, and build must round towards
// more noise, as [GaussianFor] and [LaplaceFor] do.
//
// Guarantee: Compose(mechanisms).EpsilonAt(δ) ≤ ε holds for the mechanisms returned, so the promise does not rest on
// the search. The relative distance of ρ to the largest ρ is at most 1e-6, apart from the grid that the parameters are
// rounded to, and ρ is no further below that of [RhoForEpsilonDelta]. For the neighbours of the mechanisms'
// sensitivities. Theorem: as for [Loss.EpsilonAt]. Argument: docs/proofs/sensitivity.md.
//
// The search begins at ρ = from, at which build must spend something on every part. If from is nil or smaller than the
// ρ of [RhoForEpsilonDelta], the search begins there. Rough compositions lead it to where the budget is spent; there it
// composes in full, most often twice. Calibrate returns the errors of build, an error for ε ≤ 0 or δ outside (0, 1),
// and [ErrExceeded] if the mechanisms of build(from) are not (ε, δ)-differentially private.
func Calibrate(epsilon, delta, from *big.Rat, build func(rho *big.Rat) ([]Mechanism, error)) (*big.Rat, []Mechanism,
	error) {
	c, err := newCalibration(epsilon, delta, from, build)
	if err != nil {
		return nil, nil, err
	}
	if c.raised {
		switch excess, _, err := c.epsilonExcess(c.start, Loss.EpsilonAt); {
		case err != nil:
			return nil, nil, err
		case excess > 0:
			return nil, nil, ErrExceeded
		}
	}
	rough, slope, err := c.roughRho()
	if err != nil {
		return nil, nil, err
	}
	return c.certifiedRho(rough, slope)
}

// CalibrateRoughly returns an approximation of the ρ of [Calibrate], mostly to within 1e-5 of it, in a fraction of the
// time: to compare ways to spend a budget, not to spend it. It returns the errors of Calibrate, and ErrExceeded if
// build(from) exceeds ε by a factor of more than e^{1e-3}.
func CalibrateRoughly(epsilon, delta, from *big.Rat, build func(rho *big.Rat) ([]Mechanism, error)) (*big.Rat, error) {
	c, err := newCalibration(epsilon, delta, from, build)
	if err != nil {
		return nil, err
	}
	rho, _, err := c.roughRho()
	return rho, err
}

// calibration is the problem of one call to Calibrate.
type calibration struct {
	target float64  // ε
	delta  *big.Rat // δ
	start  *big.Rat // the least ρ
	raised bool     // whether the caller asked for the start
	build  func(rho *big.Rat) ([]Mechanism, error)
}

func newCalibration(epsilon, delta, from *big.Rat, build func(rho *big.Rat) ([]Mechanism, error)) (calibration, error) {
	c := calibration{delta: delta, build: build}
	plain, err := RhoForEpsilonDelta(epsilon, delta)
	if err != nil {
		return c, err
	}
	c.target = roundDown(epsilon)
	c.start, c.raised = decimalBelow(nearest(plain), calibrationDigits), from != nil && from.Cmp(plain) > 0
	if c.raised {
		c.start = from
	}
	return c, nil
}

// epsilonExcess returns ln(ε(ρ)/ε), with ε(ρ) computed by account, and the mechanisms. It rises with ρ, nearly linearly
// in ln ρ.
func (c calibration) epsilonExcess(rho *big.Rat, account func(Loss, *big.Rat) (Bound, error)) (float64, []Mechanism,
	error) {
	steps, err := c.build(rho)
	if err != nil {
		return 0, nil, fmt.Errorf("trying rho %s: %w", DecimalNearest(nearest(rho), 6), err)
	}
	loss, err := Compose(steps...)
	if err != nil {
		return 0, nil, err
	}
	bound, err := account(loss, c.delta)
	if err != nil {
		return 0, nil, err
	}
	if bound.Value <= 0 {
		return math.Inf(-1), steps, nil
	}
	return Log(bound.Value / c.target), steps, nil
}

// roughRho returns about the ρ at which the budget is spent, by rough compositions, and the slope of the excess there
// in ln ρ.
func (c calibration) roughRho() (rho *big.Rat, slope float64, err error) {
	var b bracket
	rho = c.start
	for range maxRoughTrials {
		excess, steps, err := c.epsilonExcess(rho, Loss.roughEpsilonAt)
		if err != nil {
			return nil, 0, err
		}
		if c.raised && rho == c.start && excess > roughError {
			return nil, 0, ErrExceeded
		}
		b.record(rho, excess, steps)
		next := b.nextTrial()
		if next == nil || math.Abs(excess-b.aim) <= -b.aim {
			break
		}
		rho = next
	}
	return rho, b.slope, nil
}

// certifiedRho returns a ρ whose mechanisms fit the budget, with these mechanisms. The search begins at the guess.
func (c calibration) certifiedRho(guess *big.Rat, slope float64) (*big.Rat, []Mechanism, error) {
	b := bracket{fits: c.start, below: math.Inf(-1), slope: slope}
	var best []Mechanism
	for rho, trials := guess, 0; rho != nil && trials < maxTrials; trials++ {
		excess, steps, err := c.epsilonExcess(rho, Loss.EpsilonAt)
		if err != nil {
			return nil, nil, err
		}
		if b.record(rho, excess, steps); excess <= 0 {
			if best = steps; excess >= float64(2.5*b.aim) {
				break
			}
		}
		rho = b.nextTrial()
	}
	if best != nil {
		return b.fits, best, nil
	}
	excess, steps, err := c.epsilonExcess(c.start, Loss.EpsilonAt)
	if err == nil && excess > 0 { // the parameters' rounding cannot cause that, nor can the conversion
		err = errors.New("the mechanisms lose more than the rho that they were given")
	}
	return c.start, steps, err
}

// gridCoarseness returns the largest ratio of one step of the parameter grid to the parameter of a mechanism.
func gridCoarseness(steps []Mechanism) float64 {
	var most float64
	for _, m := range steps {
		if m.Kind.addsNoise() {
			most = max(most, 0x1p-12/nearest(m.Parameter))
		}
	}
	return most
}

// bracket holds the ρ between which the budget is spent.
type bracket struct {
	fits, exceeds *big.Rat // nil if none is known
	below, above  float64  // the excesses there
	last          *big.Rat // the last trial, and its excess
	excess        float64
	slope         float64 // of the excess in ln ρ, from the last two trials; 0 if unusable
	aim           float64 // the excess to aim at
}

// record moves the end of the bracket that a trial improves.
func (b *bracket) record(rho *big.Rat, excess float64, steps []Mechanism) {
	b.aim = calibrationAim - float64(gridCoarseness(steps)/2)
	if b.last != nil {
		rise := (excess - b.excess) / Log(nearest(rho)/nearest(b.last))
		if b.slope = rise; !(rise >= leastSlope/2 && rise < 4) { // on one step of a parameter, or of two methods
			b.slope = 0
		}
	}
	if b.last, b.excess = rho, excess; excess <= 0 {
		b.fits, b.below = rho, excess
	} else {
		b.exceeds, b.above = rho, excess
	}
}

// leastSlope is the least slope of ln ε in ln ρ: ε rises at least as √ρ.
const leastSlope = 0.5

// nextTrial returns the ρ to try next, or nil if the search is over. Between the ends it is the ρ whose excess the
// slope at the last trial puts at the aim, or else the middle; the search is over when the ends are close. Without an
// upper end it is a larger ρ than the lower end. Without a lower end there is none.
func (b *bracket) nextTrial() *big.Rat {
	if b.fits == nil {
		return nil
	}
	low := nearest(b.fits)
	if b.exceeds == nil {
		step := 1.05
		if !math.IsInf(b.below, -1) {
			step = Exp((b.aim - b.below) / cmp.Or(b.slope, leastSlope))
		}
		next := decimalBelow(float64(low*min(max(step, 1+calibrationGap), 16)), calibrationDigits)
		if next.Cmp(b.fits) <= 0 {
			return nil
		}
		return next
	}
	high := nearest(b.exceeds)
	if high-low <= float64(calibrationGap*low) {
		return nil
	}
	within := func(x float64) *big.Rat {
		next := decimalBelow(x, calibrationDigits)
		if next.Cmp(b.fits) <= 0 || next.Cmp(b.exceeds) >= 0 {
			return nil
		}
		return next
	}
	if b.slope > 0 && math.Abs(b.excess) < 1 {
		if next := within(float64(nearest(b.last) * Exp((b.aim-b.excess)/b.slope))); next != nil {
			return next
		}
	}
	return within(low + float64((high-low)/2))
}
