package budget

import (
	"math"
	"testing"
)

// bruteForceDelta goes through every outcome of every step: tell everything, ε or
// −ε.
func bruteForceDelta(c PureComposition, epsilon float64) float64 {
	type outcome struct{ loss, mass float64 }
	outcomes, told := []outcome{{0, 1}}, 0.0
	for _, s := range c {
		for range s.Count {
			var next []outcome
			p := (1 - s.Delta) / (1 + math.Exp(-s.Epsilon))
			for _, o := range outcomes {
				told += o.mass * s.Delta
				next = append(next, outcome{o.loss + s.Epsilon, o.mass * p},
					outcome{o.loss - s.Epsilon, o.mass * (1 - s.Delta - p)})
			}
			outcomes = next
		}
	}
	for _, o := range outcomes {
		told += math.Max(0, o.mass*-math.Expm1(epsilon-o.loss))
	}
	return told
}

func TestOptimalCompositionGoesThroughEveryOutcome(t *testing.T) {
	for _, c := range []PureComposition{
		{{0.7, 0, 1}}, {{0.7, 0.01, 6}}, {{0.2, 0, 11}}, {{0, 0.1, 3}}, {{3, 0, 4}, {0, 1e-3, 2}},
		{{0.5, 0, 2}, {0.3, 0.02, 3}, {0.5, 1e-4, 2}}, {{0.1, 0, 1}, {0.2, 0, 1}, {0.3, 0, 1}, {0.4, 0, 1}, {0.5, 0, 1},
			{1.1, 0, 1}, {2.2, 0.3, 1}},
		{}, {{1, 1, 1}}, {{1, 0.5, 0}},
	} {
		for _, epsilon := range []float64{0, 0.05, 0.4, 0.7, 1, 1.5, 2.9, 4.4, 40} {
			want := bruteForceDelta(c, epsilon)
			if got := c.Delta(epsilon); math.Abs(got-want) > 1e-13 || got < want-1e-15 {
				t.Errorf("%v: δ(%v) = %v, every outcome gives %v", c, epsilon, got, want)
			}
		}
	}
}

func TestNegativeEpsilonOfOptimalComposition(t *testing.T) {
	c := PureComposition{{0.5, 0, 3}, {0.25, 0.125, 1}}
	for _, epsilon := range []float64{-0.1, -0.8, -5} {
		want := -math.Expm1(epsilon) + math.Exp(epsilon)*bruteForceDelta(c, -epsilon)
		assertRelative(t, "δ", c.Delta(epsilon), want, 1e-13)
	}
}

func TestOptimalEpsilonIsLeast(t *testing.T) {
	for _, c := range []PureComposition{{{0.1, 1e-8, 40}}, {{0.5, 0, 3}, {0.2, 0, 5}, {0.01, 0, 2}}} {
		for _, delta := range []float64{1e-6, 1e-3, 0.2} {
			epsilon := c.Epsilon(delta)
			if got := c.Delta(epsilon); got > delta {
				t.Errorf("%v: δ(ε(%v)) = %v", c, delta, got)
			}
			if got := c.Delta(epsilon * (1 - 1e-9)); got <= delta {
				t.Errorf("%v: ε(%v) = %v is not least", c, delta, epsilon)
			}
		}
	}
	impossible := PureComposition{{0.1, 0.01, 40}}
	if !math.IsInf(impossible.Epsilon(0.3), 1) || !math.IsInf(impossible[0].GridEpsilon(0.3), 1) {
		t.Error("1 − 0.99^40 is above 0.3")
	}
	if got := (PureComposition{{0.1, 0, 3}}).Epsilon(0); math.Abs(got-0.3) > 1e-15 {
		t.Errorf("ε at δ = 0 is %v", got)
	}
}

// TestRoundedStepsOnlyLoseMore takes so many different ε that they are rounded up.
func TestRoundedStepsOnlyLoseMore(t *testing.T) {
	var many PureComposition
	var variance float64
	for i := range 60 {
		e := 0.05 + 0.001*float64(i)
		many = append(many, PureStep{e, 0, 3})
		variance += 3 * e * e
	}
	if groups := many.groups(); len(groups) >= 60 {
		t.Fatalf("%d groups", len(groups))
	}
	// The same steps with every ε rounded down or up to hundredths.
	down, up := PureComposition{}, PureComposition{}
	for _, s := range many {
		down = append(down, PureStep{math.Floor(s.Epsilon*50) / 50, 0, s.Count})
		up = append(up, PureStep{0.11, 0, s.Count})
	}
	for _, epsilon := range []float64{0, 0.5, 2, 4} {
		if got := many.Delta(epsilon); got < down.Delta(epsilon) || got > up.Delta(epsilon) {
			t.Errorf("δ(%v) = %v, not within %v and %v", epsilon, got, down.Delta(epsilon), up.Delta(epsilon))
		}
	}
}

func TestManyStepsAreNearlyGaussian(t *testing.T) {
	// Of 10^8 steps of 1e-4 the loss is N(μ²/2, μ²) with μ = 1, but for terms of 1e-8.
	c := PureComposition{{1e-4, 0, 1e8}}
	for _, epsilon := range []float64{0, 1, 3, 6} {
		assertRelative(t, "δ", c.Delta(epsilon), Gaussian{1, 1}.Delta(epsilon), 1e-5)
	}
}

func TestGridStepIsTheLargest(t *testing.T) {
	for _, c := range []struct {
		count                     int64
		stepDelta, epsilon, delta float64
	}{{1, 0, 1, 1e-6}, {2, 0, 1, 0.1}, {50, 0, 5, 0.01}, {30, 1e-3, 22, 0.06}, {1000, 0, 1, 1e-9}, {7, 0.01, 2, 0.3}} {
		s := GridStepFor(c.count, c.stepDelta, c.epsilon, c.delta)
		if got := s.GridEpsilon(c.delta); got > c.epsilon || s.Epsilon <= 0 {
			t.Errorf("%+v: %+v gives ε %v", c, s, got)
		}
		s.Epsilon *= 1 + 1e-9
		if got := s.GridEpsilon(c.delta); got <= c.epsilon {
			t.Errorf("%+v: %+v is not the largest: ε %v", c, s, got)
		}
	}
	if s := GridStepFor(30, 0.01, 22, 0.06); s.Epsilon != 0 {
		t.Errorf("1 − 0.99^30 is above 0.06, but %+v", s)
	}
	if s := GridStepFor(0, 0, 1, 0.1); s.Epsilon != 0 {
		t.Errorf("no steps: %+v", s)
	}
}

func TestStepsThatAreNone(t *testing.T) {
	for _, s := range []PureStep{{-1, 0, 1}, {math.NaN(), 0, 1}, {math.Inf(1), 0, 1}, {1, -0.1, 1}, {1, 1.1, 1},
		{1, 0, -1}, {1e300, 0, 1 << 60}} {
		c := PureComposition{{1, 0, 1}, s}
		if c.Delta(100) != 1 || !math.IsInf(c.Epsilon(0.5), 1) || !math.IsInf(s.GridEpsilon(0.5), 1) {
			t.Errorf("%+v protects", s)
		}
	}
	if got := (PureComposition{{800, 0, 3}}).Delta(799); got < 1-1e-12 {
		t.Errorf("δ(799) of three steps of 800 is %v", got)
	}
}

func TestTwoProductIsExact(t *testing.T) {
	for _, c := range []struct{ x, y float64 }{{0.1, 0.3}, {1 << 40, 1e-7}, {-3, 1. / 3}, {12345.678, 9.87e-5}, {0, 5}} {
		high, low := twoProduct(c.x, c.y)
		exact := exactly(c.x)
		exact.Mul(exact, exactly(c.y))
		sum := exactly(high)
		if sum.Add(sum, exactly(low)).Cmp(exact) != 0 {
			t.Errorf("%v·%v = %v + %v", c.x, c.y, high, low)
		}
	}
	if high, low := twoProduct(1e200, 1e200); !math.IsInf(high, 1) || low != 0 {
		t.Errorf("overflow gives %v + %v", high, low)
	}
}
