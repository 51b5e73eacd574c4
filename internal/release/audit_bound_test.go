package release

import (
	"math"
	"testing"

	"github.com/dprelease/dprelease/internal/releasetest"
	"gonum.org/v1/gonum/stat/distuv"
)

// This file holds what an audit concludes from how often an event happened.

// confidenceError is how often each of the two Clopper–Pearson bounds of an audit
// may fail.
const confidenceError = 1e-10

// frequency is how often an event happened in independent trials.
type frequency struct{ hits, trials int }

// low returns the lower bound of Clopper and Pearson (1934): the largest probability under which so many hits or more
// have a probability of at most confidenceError.
func (f frequency) low() float64 {
	low, high := 0.0, float64(f.hits)/float64(f.trials)
	for range 44 {
		if p := (low + high) / 2; releasetest.AtLeast(f.hits, f.trials, p) <= confidenceError {
			low = p
		} else {
			high = p
		}
	}
	return low
}

// high is their upper bound.
func (f frequency) high() float64 { return 1 - frequency{f.trials - f.hits, f.trials}.low() }

// figure is what an audit bounds from below: the ε of pure privacy, or the δ at ε₀.
type figure struct {
	pure     bool
	epsilon0 float64
}

// of is the least figure that allows an event the probabilities p1 and p0 on
// neighbouring inputs: ln(p1/p0), or p1 − e^ε₀·p0.
func (f figure) of(p1, p0 float64) float64 {
	if f.pure {
		return math.Log(p1 / p0)
	}
	return p1 - math.Exp(f.epsilon0)*p0
}

// most returns the largest p1 that a value of the figure allows for p0.
func (f figure) most(value, p0 float64) float64 {
	if f.pure {
		return math.Exp(value) * p0
	}
	return value + math.Exp(f.epsilon0)*p0
}

// bound is the figure's lower bound. It is above the truth with probability at
// most 2·confidenceError, whatever the program audited.
func (f figure) bound(present, absent frequency) float64 { return f.of(present.low(), absent.high()) }

// chances bounds from above the probabilities that [figure.bound] is above value,
// and that it is not, where the event has the probabilities p1 and p0 and each
// side as many trials. The hits of the absent side are cut into 128 blocks; within
// a block the bound is taken at the worse end.
func (f figure) chances(value, p1, p0 float64, trials int) (above, notAbove float64) {
	spread := 9*math.Sqrt(float64(trials)*p0*(1-p0)) + 9
	first := max(0, int(float64(trials)*p0-spread))
	last := min(trials, int(float64(trials)*p0+spread))
	outside := releasetest.AtLeast(trials-first+1, trials, 1-p0) + releasetest.AtLeast(last+1, trials, p0)
	above, notAbove = outside, outside
	step := max(1, (last-first)/128)
	for from := first; from <= last; from += step {
		to := min(from+step-1, last)
		mass := max(0, releasetest.AtLeast(from, trials, p0)-releasetest.AtLeast(to+1, trials, p0))
		above += mass * releasetest.AtLeast(f.hitsAbove(value, frequency{from, trials}), trials, p1)
		notAbove += mass * releasetest.AtLeast(trials-f.hitsAbove(value, frequency{to, trials})+1, trials, 1-p1)
	}
	return above, notAbove
}

// hitsAbove returns the least number of hits on the present side, in as many trials as on the absent side, that lifts
// the bound above value; one more than the trials if none does.
func (f figure) hitsAbove(value float64, absent frequency) int {
	p := f.most(value, absent.high())
	low, high := 0, absent.trials+1
	for low < high {
		if hits := (low + high) / 2; releasetest.AtLeast(hits, absent.trials, p) < confidenceError {
			high = hits
		} else {
			low = hits + 1
		}
	}
	return low
}

// TestAuditBounds holds the bounds against closed forms, against the quantiles of
// the beta law, and the chances against a sum over every outcome.
func TestAuditBounds(t *testing.T) {
	near := func(what string, got, want, relative float64) {
		t.Helper()
		if !(math.Abs(got-want) <= relative*math.Abs(want)) {
			t.Errorf("%s is %g, expected %g", what, got, want)
		}
	}
	root := math.Pow(confidenceError, 1./1000)
	near("low of none", frequency{0, 1000}.low(), 0, 0)
	near("high of none", frequency{0, 1000}.high(), 1-root, 1e-8)
	near("low of all", frequency{1000, 1000}.low(), root, 1e-8)
	for _, f := range []frequency{{3, 1000}, {700, 1000}, {2300, 100000}, {62000, 100000}} {
		k, n := float64(f.hits), float64(f.trials)
		near("low", f.low(), distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(confidenceError), 1e-6)
		near("high", 1-f.high(), distuv.Beta{Alpha: n - k, Beta: k + 1}.Quantile(confidenceError), 1e-6)
	}
	for _, trials := range []int{200, 2000} {
		for _, f := range []figure{{pure: true}, {epsilon0: 0.5}} {
			chancesAreBounds(t, f, 0.9, 0.1, trials)
		}
	}
}

// chancesAreBounds holds the chances that a bound is above some values, and that
// it is not, against sums over every outcome: never below, and not far above.
func chancesAreBounds(t *testing.T, f figure, p1, p0 float64, trials int) {
	t.Helper()
	var mass1, mass0, low, high []float64
	for x := range trials + 1 {
		mass1 = append(mass1, math.Exp(releasetest.LogChoose(trials,
			x)+float64(x)*math.Log(p1)+float64(trials-x)*math.Log(1-p1)))
		mass0 = append(mass0, math.Exp(releasetest.LogChoose(trials,
			x)+float64(x)*math.Log(p0)+float64(trials-x)*math.Log(1-p0)))
		low = append(low, frequency{x, trials}.low())
		high = append(high, frequency{x, trials}.high())
	}
	expected := f.bound(frequency{int(p1 * float64(trials)), trials}, frequency{int(p0 * float64(trials)), trials})
	for _, share := range []float64{0.9, 1.001, 1.1} { // none of them the bound of an outcome itself
		var above, notAbove float64
		for x := range low {
			for y := range high {
				if f.of(low[x], high[y]) > share*expected {
					above += mass1[x] * mass0[y]
				} else {
					notAbove += mass1[x] * mass0[y]
				}
			}
		}
		gotAbove, gotNot := f.chances(share*expected, p1, p0, trials)
		for _, c := range []struct{ got, want float64 }{{gotAbove, above}, {gotNot, notAbove}} {
			if c.got < c.want*(1-1e-6) || c.got > 1.4*c.want {
				t.Errorf("%v, %d trials, bound %g: the chance is %g, expected %g to 1.4 times that", f, trials,
					share*expected,
					c.got, c.want)
			}
		}
	}
}
