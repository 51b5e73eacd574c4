package budget

import (
	"math"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// hockeyStickOf is the hockey stick of outcomes listed one by one.
func hockeyStickOf(all []outcome, epsilon float64) float64 {
	var sum float64
	for _, o := range all {
		sum += math.Max(0, o.p-math.Exp(epsilon)*o.q)
	}
	return sum
}

// TestSmoothedNoiseLosesNoLess lists the outcomes of vector shifts one by one and compares their δ with that of the
// norm. The list omits at most 1e-12. The mutant does not subtract s² from σ²: somewhere it must promise too much.
func TestSmoothedNoiseLosesNoLess(t *testing.T) {
	testkit.SkipPassed(t)
	caught := false
	for _, c := range []struct {
		parameter int64
		shift     Shift
	}{
		{24, Shift{1}}, {24, Shift{7}}, {30, Shift{3, 1}}, {40, Shift{5, 5}}, {40, Shift{4, 2, 1}},
		{25, Shift{2, 2, 2}},
		{100, Shift{30}}, {200, Shift{9, 8}},
	} {
		var l1, l2 int64
		for _, d := range c.shift {
			l1, l2 = l1+d, l2+d*d
		}
		m := Mechanism{Kind: DiscreteGaussian, Parameter: big.NewRat(c.parameter, 1), L1: big.NewInt(l1),
			L2Squared: big.NewInt(l2)}
		muSquared, slack, ok := m.smoothedGaussian()
		if !ok {
			t.Fatalf("σ² = %d is not smoothed", c.parameter)
		}
		s := smoothing{}
		s.addTerm(muSquared, slack, 1)
		one := step{s.composedGaussian().dominatingPair(), 1}
		loss := Loss{steps: []step{one}, sketch: []sketch{one.sketchOf()}, slack: slack}
		mutant := Gaussian{Sigma: math.Sqrt(float64(c.parameter)), L2: math.Sqrt(float64(l2))}
		all := outcomesOfShift(m, c.shift)
		for epsilon := 0.0; epsilon < 6; epsilon += 0.1875 {
			exact, bound := hockeyStickOf(all, epsilon), loss.numericalDelta(epsilon)
			if bound < exact*(1-1e-9)-1e-12 {
				t.Errorf("σ² = %d, shift %v, ε = %v: δ is %g, the norm allows only %g", c.parameter, c.shift, epsilon,
					exact, bound)
			}
			caught = caught || exact > 1e-9 && mutant.Delta(epsilon) < exact*(1-1e-6)-1e-12
		}
	}
	if !caught {
		t.Error("continuous noise of the same variance passes for discrete noise: this test sees nothing")
	}
}

// TestAbsorbedNoiseLosesTheSame runs one mechanism, whose outcomes are listed one by one, with a Gaussian of the least
// permitted μ², and more. δ equals the δ of the sum of all μ², up to rounding. The mutant has a hundredth of the
// Gaussian: its steps show, and somewhere the sum promises too much.
func TestAbsorbedNoiseLosesTheSame(t *testing.T) {
	caught := false
	for _, c := range []struct {
		parameter int64
		shift     Shift
	}{
		{4, Shift{1}}, {7, Shift{5}}, {30, Shift{3, 1}}, {40, Shift{5, 5}}, {25, Shift{2, 2, 2}}, {100, Shift{30}},
	} {
		l1, l2 := sumAndSquares(c.shift)
		m := Mechanism{Kind: DiscreteGaussian, Parameter: big.NewRat(c.parameter, 1), L1: l1, L2Squared: l2,
			Shifts: []Shift{c.shift}}
		all := outcomesOfShift(m, c.shift)
		apart := float64(c.shift[0]) / float64(c.parameter)
		least := apart * apart / (1./3 - 1/float64(c.parameter))
		if _, _, ok := m.absorbedGaussian(least * (1 - 1e-12)); ok {
			t.Errorf("σ² = %d, shift %v: absorbed by too little", c.parameter, c.shift)
		}
		for _, besides := range []float64{least * (1 + 1e-12), least * 3, least / 1e4} {
			muSquared, _, ok := m.absorbedGaussian(max(besides, least*(1+1e-12)))
			if !ok {
				t.Fatalf("σ² = %d, shift %v: not absorbed by μ² = %v", c.parameter, c.shift, besides)
			}
			together := Gaussian{Sigma: 1, L2: math.Sqrt(muSquared + besides)}
			for epsilon := -1.0; epsilon < 6; epsilon += 0.1875 {
				var exact float64
				for _, o := range all {
					exact += o.p * gaussianHockeyStick(math.Sqrt(besides), epsilon-math.Log(o.p/o.q))
				}
				bound := together.Delta(epsilon)
				if exact < 1e-9 { // what the listing leaves out
					break
				}
				off := bound/exact - 1
				if besides < least {
					caught = caught || off < -1e-6
				} else if math.Abs(off) > 1e-7 {
					t.Errorf("σ² = %d, shift %v with μ² = %v, ε = %v: δ is %g, and %g by the sum", c.parameter,
						c.shift, besides,
						epsilon, exact, bound)
				}
			}
		}
	}
	if !caught {
		t.Error("noise on a lattice passes for continuous noise with hardly any beside it: this test sees nothing")
	}
}

// TestSmoothedStepsAddUp composes hundreds of different laws, known by their norms alone, with one that has its shift:
// ε must be that of the Gaussians, in a short time. The expected figure adds up μ² by hand.
func TestSmoothedStepsAddUp(t *testing.T) {
	var steps []Mechanism
	muSquared := 0.0
	for i := range int64(400) {
		steps = append(steps, Mechanism{Kind: DiscreteGaussian, Parameter: big.NewRat(50_000+977*i, 1),
			L1:        big.NewInt(400),
			L2Squared: big.NewInt(300)})
		muSquared += 300 / float64(50_000+977*i-3)
	}
	steps = append(steps, Mechanism{Kind: DiscreteGaussian, Parameter: big.NewRat(60, 1), L1: big.NewInt(1),
		L2Squared: big.NewInt(1), Shifts: []Shift{{1}}})
	muSquared += 1. / 60
	loss := mustCompose(t, steps...)
	bound, err := loss.EpsilonAt(mustRat(t, "1e-9"))
	want := Gaussian{Sigma: 1, L2: math.Sqrt(muSquared)}.Epsilon(1e-9)
	if err != nil || bound.Value < want || bound.Value > want*(1+1e-10) {
		t.Errorf("ε = %v, %v; the Gaussians together have %v", bound, err, want)
	}
	if bound.Method != MethodGDP {
		t.Errorf("it comes from %q", bound.Method)
	}
	if loss.slack <= 0 || loss.slack > 1e-12 {
		t.Errorf("slack %g", loss.slack)
	}
}

// TestSlackIsInEpsilon checks that factors e^{±slack} on the probabilities of outputs change the loss by up to twice
// the slack. No mechanism has a slack this large; it makes the effect visible.
func TestSlackIsInEpsilon(t *testing.T) {
	exact := mustCompose(t, noiseStep(DiscreteGaussian, "1000", 400, 500))
	slack := exact
	slack.slack, slack.identity = 0.05, identity{} // not the one whose ε is remembered
	var found [2]float64
	for i, loss := range []Loss{exact, slack} {
		bound, err := loss.EpsilonAt(mustRat(t, "1e-3"))
		if err != nil {
			t.Fatal(err)
		}
		found[i] = bound.Value
	}
	if found[1] < found[0]+0.1 || found[1] > found[0]+0.15 {
		t.Errorf("ε is %v, and %v with a slack of 0.05: expected a little above 0.1 more", found[0], found[1])
	}
}
