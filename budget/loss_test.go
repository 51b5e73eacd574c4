package budget

import (
	"math"
	"math/big"
	"testing"
)

func laplaceStep(t *testing.T, epsilon string) Mechanism {
	t.Helper()
	m, err := LaplaceFor(big.NewInt(1), mustRat(t, epsilon))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func gaussianStep(t *testing.T, rho string) Mechanism {
	t.Helper()
	m, err := GaussianFor(big.NewInt(1), big.NewInt(1), mustRat(t, rho))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mustCompose(t *testing.T, steps ...Mechanism) Loss {
	t.Helper()
	loss, err := Compose(steps...)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

func TestLaplaceStepsAddUpInEpsilonAndInRho(t *testing.T) {
	loss := mustCompose(t, laplaceStep(t, "1/2"), laplaceStep(t, "1/4"), laplaceStep(t, "1/4"))
	if got := FormatRat(loss.Epsilon()); got != "1" {
		t.Errorf("ε = %s, want 1", got)
	}
	if got := FormatRat(loss.Rho()); got != "3/16" {
		t.Errorf("ρ = %s, want 1/8 + 1/32 + 1/32", got)
	}
}

func TestOneGaussianStepLeavesOnlyRho(t *testing.T) {
	loss := mustCompose(t, laplaceStep(t, "1/2"), gaussianStep(t, "1/8"), laplaceStep(t, "1/2"))
	if loss.Epsilon() != nil || FormatRat(loss.Rho()) != "3/8" {
		t.Errorf("ε %v, ρ %v", loss.Epsilon(), loss.Rho())
	}
	if _, err := loss.EpsilonAt(nil); err == nil {
		t.Error("an epsilon at delta 0")
	}
	bound, err := loss.EpsilonAt(mustRat(t, "1e-9"))
	if err != nil || bound.Method != MethodPLD || bound.Value > ZCDPEpsilon(0.375, 1e-9) || bound.Value < 1 {
		t.Errorf("%+v, %v", bound, err)
	}
}

func TestEpsilonAtTakesTheSmallerBound(t *testing.T) {
	one := mustCompose(t, laplaceStep(t, "1"))
	// Of randomized response δ = (1 − e^{ε−1})/(1 + e^{−1}).
	exact := 1 + math.Log1p(-1e-9*(1+math.Exp(-1)))
	if bound, err := one.EpsilonAt(mustRat(t, "1e-9")); err != nil || bound.Method != MethodPLD ||
		math.Abs(bound.Value-exact) > 1e-13 {
		t.Errorf("one step: %+v, %v, want %v", bound, err, exact)
	}
	if bound, err := one.EpsilonAt(new(big.Rat)); err != nil || bound != (Bound{1, MethodPure}) {
		t.Errorf("δ = 0: %+v, %v", bound, err)
	}
	var steps []Mechanism
	for range 1000 {
		steps = append(steps, laplaceStep(t, "1/10"))
	}
	many := mustCompose(t, steps...)
	bound, err := many.EpsilonAt(mustRat(t, "1e-9"))
	// The exact composition (Kairouz, Oh & Viswanath 2015), summed in another way.
	optimal := optimalEpsilon(0.1, 1000, 1e-9)
	if err != nil || bound.Method != MethodPLD || math.Abs(bound.Value-optimal) > 1e-9 {
		t.Errorf("1000 steps: %+v, %v; optimal is %v, pure ε is %v", bound, err, optimal, many.Epsilon())
	}
	for _, delta := range []*big.Rat{big.NewRat(-1, 2), big.NewRat(1, 1), big.NewRat(2, 1)} {
		if bound, err := many.EpsilonAt(delta); err == nil {
			t.Errorf("EpsilonAt(%v) = %+v", delta, bound)
		}
	}
}

// optimalDelta returns δ of count runs of randomized response of ε₀, which lose as much as any ε₀-private mechanisms
// can (Kairouz, Oh & Viswanath 2015, theorem 3.3): a sum over the number of runs with the loss −ε₀.
func optimalDelta(epsilon0 float64, count int, epsilon float64) float64 {
	var delta float64
	all, _ := math.Lgamma(float64(count) + 1)
	for low := range count + 1 {
		of, _ := math.Lgamma(float64(low) + 1)
		rest, _ := math.Lgamma(float64(count-low) + 1)
		mass := math.Exp(all - of - rest - float64(low)*epsilon0 - float64(count)*math.Log1p(math.Exp(-epsilon0)))
		delta += mass * math.Max(0, -math.Expm1(epsilon-float64(count-2*low)*epsilon0))
	}
	return delta
}

// optimalEpsilon returns the ε at which optimalDelta is delta.
func optimalEpsilon(epsilon0 float64, count int, delta float64) float64 {
	low, high := 0.0, epsilon0*float64(count)
	for range 60 {
		if middle := (low + high) / 2; optimalDelta(epsilon0, count, middle) <= delta {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

func TestEpsilonIsRoundedUp(t *testing.T) {
	loss := mustCompose(t, laplaceStep(t, "1/3"))
	bound, err := loss.EpsilonAt(nil)
	if err != nil || exactly(bound.Value).Cmp(loss.Epsilon()) < 0 {
		t.Errorf("%v is below %v (%v)", bound.Value, loss.Epsilon(), err)
	}
}

func TestComposeNamesTheStepThatIsWrong(t *testing.T) {
	if _, err := Compose(laplaceStep(t, "1"), Mechanism{}); err == nil {
		t.Error("an invalid step was composed")
	}
	nothing := mustCompose(t)
	if nothing.Epsilon().Sign() != 0 || nothing.Rho().Sign() != 0 {
		t.Errorf("no steps lose %v and %v", nothing.Epsilon(), nothing.Rho())
	}
}

func TestLossCannotBeChangedFromOutside(t *testing.T) {
	loss := mustCompose(t, laplaceStep(t, "1"))
	loss.Epsilon().SetInt64(0)
	loss.Rho().SetInt64(0)
	if loss.Epsilon().Sign() == 0 || loss.Rho().Sign() == 0 {
		t.Error("a caller changed a loss")
	}
}
