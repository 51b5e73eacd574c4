package budget

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
)

const (
	// calibrationDigits is how many significant digits the ρ that [Calibrate] returns
	// has: few enough for people to read, and to add up in an account.
	calibrationDigits = 7
	// calibrationGap is how close to the largest ρ it comes, relatively. ε rises at least as √ρ,
	// so that half of it is enough for ln ε.
	calibrationGap = 1e-6
	// calibrationAim is the ln(ε(ρ)/ε) that it aims at, but for the grid of the parameters; 2½ times that is close enough.
	calibrationAim = -0.2 * calibrationGap
	// mostTrials bounds its trials, and mostRough those by rough compositions.
	mostTrials, mostRough = 60, 6
	// roughError is beyond what the ε of a rough composition is off, relatively.
	roughError = 1e-3
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
// every part, or, where that is nil or less, at [RhoForEpsilonDelta]'s. It goes by rough
// compositions to where the budget is spent, and composes there in full: twice, most often. It returns the errors of
// build, one for ε ≤ 0 or δ outside (0, 1), and [ErrExceeded] where the mechanisms of build(from) are not
// (ε, δ)-differentially private.
func Calibrate(epsilon, delta, from *big.Rat, build func(rho *big.Rat) ([]Mechanism, error)) (*big.Rat, []Mechanism,
	error) {
	c, err := newCalibration(epsilon, delta, from, build)
	if err != nil {
		return nil, nil, err
	}
	if c.raised {
		switch excess, _, err := c.excess(c.start, Loss.EpsilonAt); {
		case err != nil:
			return nil, nil, err
		case excess > 0:
			return nil, nil, ErrExceeded
		}
	}
	rough, slope, err := c.roughly()
	if err != nil {
		return nil, nil, err
	}
	return c.certified(rough, slope)
}

// CalibrateRoughly returns about the ρ of [Calibrate], mostly to within 1e-5 of it, in a fraction of the time: to
// compare ways to spend a budget, not to spend it. It returns the errors of Calibrate, ErrExceeded where build(from)
// exceeds by 1e-3 of ε.
func CalibrateRoughly(epsilon, delta, from *big.Rat, build func(rho *big.Rat) ([]Mechanism, error)) (*big.Rat, error) {
	c, err := newCalibration(epsilon, delta, from, build)
	if err != nil {
		return nil, err
	}
	rho, _, err := c.roughly()
	return rho, err
}

// calibration is a budget and what can be bought for it.
type calibration struct {
	target float64  // ε
	delta  *big.Rat // δ
	start  *big.Rat // the least ρ
	raised bool     // it is one that was asked for
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

// excess is ln(ε(ρ)/ε) by an account of the loss, with the mechanisms. It rises with ρ, nearly in a straight line in ln
// ρ.
func (c calibration) excess(rho *big.Rat, account func(Loss, *big.Rat) (Bound, error)) (float64, []Mechanism, error) {
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

// roughly is about where the budget is spent, by rough compositions, and how fast the excess rises there in ln ρ.
func (c calibration) roughly() (rho *big.Rat, slope float64, err error) {
	var b bracket
	rho = c.start
	for range mostRough {
		excess, steps, err := c.excess(rho, Loss.roughEpsilonAt)
		if err != nil {
			return nil, 0, err
		}
		if c.raised && rho == c.start && excess > roughError {
			return nil, 0, ErrExceeded
		}
		b.note(rho, excess, steps)
		next := b.next()
		if next == nil || math.Abs(excess-b.aim) <= -b.aim {
			break
		}
		rho = next
	}
	return rho, b.slope, nil
}

// certified is the ρ that fits, with its mechanisms: the search begins at a guess.
func (c calibration) certified(guess *big.Rat, slope float64) (*big.Rat, []Mechanism, error) {
	b := bracket{fits: c.start, below: math.Inf(-1), slope: slope}
	var best []Mechanism
	for rho, trials := guess, 0; rho != nil && trials < mostTrials; trials++ {
		excess, steps, err := c.excess(rho, Loss.EpsilonAt)
		if err != nil {
			return nil, nil, err
		}
		if b.note(rho, excess, steps); excess <= 0 {
			if best = steps; excess >= float64(2.5*b.aim) {
				break
			}
		}
		rho = b.next()
	}
	if best != nil {
		return b.fits, best, nil
	}
	excess, steps, err := c.excess(c.start, Loss.EpsilonAt)
	if err == nil && excess > 0 { // the parameters' rounding cannot cause that, nor can the conversion
		err = errors.New("the mechanisms lose more than the rho that they were given")
	}
	return c.start, steps, err
}

// coarseness is the largest part of a mechanism's noise that one step of the grid of parameters is.
func coarseness(steps []Mechanism) float64 {
	var most float64
	for _, m := range steps {
		if m.Kind.addsNoise() {
			most = max(most, 0x1p-12/nearest(m.Parameter))
		}
	}
	return most
}

// bracket is between which ρ a budget is spent.
type bracket struct {
	fits, exceeds *big.Rat // nil where none is known
	below, above  float64  // the excesses there
	last          *big.Rat // the last trial, and its excess
	excess        float64
	slope         float64 // of the excess in ln ρ, as the last trials have it; 0 where they do not tell
	aim           float64 // the excess that is wanted
}

// note moves the end that a trial was better than.
func (b *bracket) note(rho *big.Rat, excess float64, steps []Mechanism) {
	b.aim = calibrationAim - float64(coarseness(steps)/2)
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

// leastSlope is that of ln ε in ln ρ, which rises at least as √ρ.
const leastSlope = 0.5

// next returns a ρ between the ends where the excess is likely to be what is aimed
// at, or nil if they are close enough. Without an upper end it goes up.
func (b *bracket) next() *big.Rat {
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
