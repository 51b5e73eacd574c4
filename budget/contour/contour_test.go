package contour

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/testkit"
)

// vectorCase is a case of vectors/accounting.json that this accountant can compute.
type vectorCase struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Expected json.RawMessage `json:"expected"`
	Inputs   struct {
		Sigma2, A, Epsilon, Epsilon0, Delta0 json.Number
		Sensitivity                          int64
		K                                    int
		Epsilons0                            []json.Number
		Parts                                []struct {
			A json.Number
			K int
		}
	} `json:"inputs"`
}

// steps returns the mechanisms that a case composes, or nil for a kind that this accountant does not support.
func (c vectorCase) steps(t *testing.T) []budget.Mechanism {
	in := c.Inputs
	inverse := func(a json.Number) *big.Rat { r := rat(t, a.String()); return r.Inv(r) }
	switch c.Kind {
	case "dgauss.delta_k":
		return times(in.K, gaussianStep(rat(t, in.Sigma2.String()), in.Sensitivity, in.Sensitivity*in.Sensitivity))
	case "dlaplace.delta_k":
		return times(in.K, laplaceStep(inverse(in.A), in.Sensitivity))
	case "dlaplace.delta_k_hetero":
		var all []budget.Mechanism
		for _, part := range in.Parts {
			all = append(all, times(part.K, laplaceStep(inverse(part.A), in.Sensitivity))...)
		}
		return all
	case "rr.delta_k":
		return times(in.K, choice(budget.RandomizedResponse, rat(t, in.Epsilon0.String())))
	case "kov.delta":
		if f, err := in.Delta0.Float64(); err != nil || f != 0 {
			return nil
		}
		return times(in.K, choice(budget.PermuteAndFlip, rat(t, in.Epsilon0.String())))
	case "kov.hetero_delta":
		var all []budget.Mechanism
		for _, e := range in.Epsilons0 {
			all = append(all, choice(budget.RandomizedResponse, rat(t, e.String())))
		}
		return all
	}
	return nil
}

// TestVectors compares δ with values of 25 digits: to 1e-12, and to the error that accompanies it.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile(testkit.Shared(t, "vectors/accounting.json"))
	if err != nil {
		t.Fatal(err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	judged := map[string]int{}
	for _, r := range raw {
		var kind struct{ Kind string }
		if err := json.Unmarshal(r, &kind); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains([]string{"dgauss.delta_k", "dlaplace.delta_k", "dlaplace.delta_k_hetero", "rr.delta_k",
			"kov.delta", "kov.hetero_delta"}, kind.Kind) {
			continue
		}
		var c vectorCase
		if err := json.Unmarshal(r, &c); err != nil {
			t.Fatalf("%s: %v", r, err)
		}
		steps := c.steps(t)
		if steps == nil {
			continue
		}
		judged[c.Kind]++
		epsilon, _ := c.Inputs.Epsilon.Float64()
		var want float64
		if err := json.Unmarshal(c.Expected, &want); err != nil {
			t.Fatal(err)
		}
		got := mustDelta(t, steps, epsilon)
		if !near(got.Delta, want, 1e-12) || math.Abs(got.Delta-want) > got.Error+1e-16*want ||
			got.Error > 1e-11*want+1e-280 {
			t.Errorf("%s: %g ± %g, want %g", c.ID, got.Delta, got.Error, want)
		}
	}
	if len(judged) != 6 || judged["dgauss.delta_k"] < 13 || judged["kov.delta"] < 4 {
		t.Errorf("too few cases: %v", judged)
	}
}

// TestWorstShape compares ε with figures computed for each shape by direct convolution, of three decimals; if only the
// sensitivities are known, with the worse of two.
func TestWorstShape(t *testing.T) {
	for _, c := range []struct {
		variance      string
		l1, l2Squared int64
		shape         budget.Shift
		delta, want   float64
	}{
		{"0.49", 4, 4, budget.Shift{2}, 0.01, 8.161},
		{"0.49", 4, 4, budget.Shift{1, 1, 1, 1}, 0.01, 10.005},
		{"0.49", 4, 4, nil, 0.01, 10.005},
		{"4", 4, 4, budget.Shift{2}, 1e-9, 6.140},
		{"4", 4, 4, budget.Shift{1, 1, 1, 1}, 1e-9, 6.187},
		{"4", 4, 4, nil, 1e-9, 6.187},
		{"4", 4, 9, budget.Shift{3}, 1e-9, 9.770},
		{"4", 4, 9, budget.Shift{2, 2}, 1e-9, 8.997},
		{"4", 4, 9, nil, 1e-9, 9.770},
	} {
		step := gaussianStep(rat(t, c.variance), c.l1, c.l2Squared)
		if c.shape != nil {
			step.Shifts = []budget.Shift{c.shape}
		}
		below, above := mustDelta(t, times(1, step), c.want-0.0005001), mustDelta(t, times(1, step), c.want+0.0005001)
		if below.Delta < c.delta || above.Delta > c.delta {
			t.Errorf("σ² %s, shape %v: δ falls from %g to %g around ε = %.3f, and not through %g", c.variance, c.shape,
				below.Delta, above.Delta, c.want, c.delta)
		}
	}
}

// TestWorstAssignment takes two steps of two shapes each and compares with the worst of the three assignments, each
// computed from named shapes.
func TestWorstAssignment(t *testing.T) {
	step := gaussianStep(rat(t, "0.49"), 4, 4)
	single, spread := step, step
	single.Shifts, spread.Shifts = []budget.Shift{{2}}, []budget.Shift{{1, 1, 1, 1}}
	for _, epsilon := range []float64{0.5, 4, 9, 14} {
		want := 0.0
		for _, steps := range [][]budget.Mechanism{{single, single}, {single, spread}, {spread, spread}} {
			want = max(want, mustDelta(t, steps, epsilon).Delta)
		}
		if got := mustDelta(t, times(2, step), epsilon).Delta; !near(got, want, 1e-12) {
			t.Errorf("ε %g: %g, want %g", epsilon, got, want)
		}
	}
}

// TestAgainstTheDefinition composes a few unequal mechanisms at random and compares with Σ max(0, P − e^ε·Q) over all
// outcomes, whichever method is used.
func TestAgainstTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 120 {
		var steps []budget.Mechanism
		var parts [][]outcome
		for range 1 + random.IntN(3) {
			s := 1 + random.IntN(3)
			switch random.IntN(4) {
			case 0, 1:
				sigma2 := float64(1+random.IntN(32)) / 8
				steps = append(steps, gaussianStep(new(big.Rat).SetFloat64(sigma2), int64(s), int64(s*s)))
				parts = append(parts, gaussianAnswers(sigma2, s))
			case 2:
				rate := float64(4+random.IntN(16)) / 8
				steps = append(steps, laplaceStep(new(big.Rat).Inv(new(big.Rat).SetFloat64(rate)), int64(s)))
				parts = append(parts, laplaceAnswers(1/rate, s))
			case 3:
				e := random.Float64() * 2
				steps = append(steps, choice(budget.RandomizedResponse, new(big.Rat).SetFloat64(e)))
				parts = append(parts, responses(e))
			}
		}
		epsilon := random.Float64() * 5
		want, got := hockeyStick(jointly(parts...), epsilon), mustDelta(t, steps, epsilon)
		// The outcomes left out of the definition weigh below 1e-15.
		if math.Abs(got.Delta-want) > got.Error+1e-13*want+1e-15 || got.Error > 1e-10*want+1e-280 {
			t.Errorf("case %d, ε %g, %v: %g ± %g, want %g", i, epsilon, steps, got.Delta, got.Error, want)
		}
	}
}

// TestWaysAgree computes one composition by every method.
func TestWaysAgree(t *testing.T) {
	for _, c := range []struct {
		name    string
		steps   []budget.Mechanism
		epsilon float64
		want    func() float64
	}{
		{"two Gaussians", []budget.Mechanism{gaussianStep(rat(t, "2.5"), 1, 1), gaussianStep(rat(t, "3"), 2, 4)}, 2,
			func() float64 { return hockeyStick(jointly(gaussianAnswers(2.5, 1), gaussianAnswers(3, 2)), 2) }},
		{"Gaussian and Laplace", []budget.Mechanism{gaussianStep(rat(t, "9"), 2, 4), laplaceStep(rat(t, "8"), 3)}, 0.7,
			func() float64 { return hockeyStick(jointly(gaussianAnswers(9, 2), laplaceAnswers(8, 3)), 0.7) }},
		{"seven Laplaces", together(times(3, laplaceStep(rat(t, "4"), 1)), times(4, laplaceStep(rat(t, "3"), 1))), 1.1,
			func() float64 {
				return hockeyStick(jointly(
					jointly(responses(0.25), responses(0.25), responses(0.25)),
					jointly(responses(1/3.), responses(1/3.), responses(1/3.), responses(1/3.))), 1.1)
			}},
	} {
		want := c.want()
		j := only(t, c.steps...).newIntegrand(c.epsilon)
		d := j.aliasPeriod(1e-14 * want)
		circle, ok := j.newCircle(d)
		if !ok {
			t.Fatalf("%s: no circle", c.name)
		}
		listed, ok := j.deltaByListing()
		if !ok {
			t.Fatalf("%s: no list", c.name)
		}
		for way, got := range map[string]Result{"circle": circle.sumPoints(), "list": listed} {
			if !near(got.Delta, want, 1e-12) || got.Error > 1e-11*want {
				t.Errorf("%s by %s: %g ± %g, want %g", c.name, way, got.Delta, got.Error, want)
			}
		}
		// Atoms: the line is poor here, and has to say so.
		line := j.newLine(d)
		line.patience = 1 << 17
		if got := line.sumPoints(); math.Abs(got.Delta-want) > got.Error || !near(got.Delta, want, 1e-3) {
			t.Errorf("%s by line: %g ± %g, want %g", c.name, got.Delta, got.Error, want)
		}
	}
}

// TestLineAgreesWithCircle where there are returns of unequal Gaussians to add up.
func TestLineAgreesWithCircle(t *testing.T) {
	for _, c := range []struct {
		a, b, third string
		k           int
		epsilon     float64
		left        bool // of 0, where δ is near 1
	}{{"32", "20", "48", 3, 1.2, false}, {"12.5", "10", "30", 4, 3, false}, {"3", "2.5", "4", 9, 30, false},
		{"3", "2.5", "4", 9, 0.5, true}} {
		j := only(t, together(times(c.k, gaussianStep(rat(t, c.a), 1, 1)),
			times(c.k+1, gaussianStep(rat(t, c.b), 1, 1)),
			times(c.k+3, gaussianStep(rat(t, c.third), 2, 4)))...).newIntegrand(c.epsilon)
		d := j.aliasPeriod(1e-15 * j.roughDelta)
		circle, ok := j.newCircle(d)
		if !ok || circle.estimateWork() > 1<<22 {
			t.Fatalf("no circle, or one of %g evaluations", circle.estimateWork())
		}
		far := j.leftOfZero()
		if far.c < 0 != c.left {
			t.Errorf("σ² %s, %s, %s: the line is at %g", c.a, c.b, c.third, far.c)
		}
		line := far.newLine(far.aliasPeriod(1e-15 * j.roughDelta))
		line.patience = 1 << 18
		want, got := circle.sumPoints(), line.sumPoints()
		if math.Abs(got.Delta-want.Delta) > got.Error+want.Error || want.Error > 1e-11*want.Delta ||
			got.Error > 1e-6*want.Delta {
			t.Errorf("σ² %s, %s, %s: %g ± %g by line, %g ± %g by circle", c.a, c.b, c.third, got.Delta, got.Error,
				want.Delta,
				want.Error)
		}
	}
}

// TestContoursAgree checks that any c > 0 gives the same integral, and that the errors of two contours cover their
// difference, for various compositions.
func TestContoursAgree(t *testing.T) {
	testkit.SkipPassed(t)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 100 {
		var steps []budget.Mechanism
		for range 1 + random.IntN(3) {
			k := 1 + random.IntN(1<<random.IntN(8))
			s := int64(1 + random.IntN(1<<random.IntN(6)))
			scale := new(big.Rat).SetFloat64(
				math.Ceil(float64(s)*math.Exp(random.Float64()*6-3)*math.Sqrt(float64(k))*4096) / 4096)
			switch random.IntN(5) {
			case 0, 1:
				steps = append(steps, times(k, gaussianStep(scale.Mul(scale, scale), s, s*s))...)
			case 2, 3:
				steps = append(steps, times(k, laplaceStep(scale, s))...)
			case 4:
				steps = append(steps, times(k+1, choice(budget.ExponentialMechanism, scale.Inv(scale)))...)
			}
		}
		epsilon := math.Exp(random.Float64()*8 - 4)
		p := only(t, steps...)
		at := p.deltaAt(epsilon)
		if at.Delta < 1e-250 {
			continue // the other contour would lose all digits
		}
		j := p.newIntegrand(epsilon)
		j.c *= 0.85
		j.logMoment = j.logMomentAt(j.c)
		beside := j.integrate(1e-14 * at.Delta)
		if math.Abs(at.Delta-beside.Delta) > at.Error+beside.Error || at.Error > 1e-7*at.Delta {
			t.Errorf("case %d, ε %g: %g ± %g at the saddle, %g ± %g beside it", i, epsilon, at.Delta, at.Error,
				beside.Delta,
				beside.Error)
		}
	}
}

// TestLongListsAgreeWithCircle where most of 2³⁶ losses are left out of the lists.
func TestLongListsAgreeWithCircle(t *testing.T) {
	var steps []budget.Mechanism
	for i := range 36 {
		steps = append(steps, choice(budget.RandomizedResponse, big.NewRat(int64(100+2*i), 1000)))
	}
	for _, epsilon := range []float64{2, 3.5} {
		j := only(t, steps...).newIntegrand(epsilon)
		circle, ok := j.newCircle(j.aliasPeriod(1e-15 * j.roughDelta))
		if !ok {
			t.Fatal("no circle")
		}
		want := circle.sumPoints()
		got, ok := j.deltaByListing()
		if !ok || math.Abs(got.Delta-want.Delta) > got.Error+want.Error || got.Error > 1e-10*want.Delta ||
			want.Error > 1e-12*want.Delta {
			t.Errorf("ε %g: %g ± %g by list (%v), %g ± %g by circle", epsilon, got.Delta, got.Error, ok, want.Delta,
				want.Error)
		}
	}
}

// TestLeaderPassesOverNothing compares the sum near the multiples of a leader's period with the sum over all points.
func TestLeaderPassesOverNothing(t *testing.T) {
	j := only(t, together(times(3, gaussianStep(rat(t, "400"), 3, 9)), times(2, gaussianStep(rat(t, "200"), 2, 4)))...).
		newIntegrand(0.6)
	circle, ok := j.newCircle(j.aliasPeriod(1e-15 * j.roughDelta))
	if !ok || circle.lead.group < 0 {
		t.Fatal("no circle with a leader")
	}
	led := circle.sumPoints()
	circle.lead.group = -1
	if full := circle.sumPoints(); !near(led.Delta, full.Delta, 1e-14) {
		t.Errorf("%.17g with a leader, %.17g over all points", led.Delta, full.Delta)
	}
}

// continuousGaussian is δ(ε) of continuous noise of deviation σ against a shift of
// 1 (Balle & Wang 2018, theorem 8).
func continuousGaussian(sigma, epsilon float64) float64 {
	upper := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	return upper(epsilon*sigma-1/(2*sigma)) - math.Exp(epsilon)*upper(epsilon*sigma+1/(2*sigma))
}

// TestWideNoiseIsContinuous checks that at σ = 1e6 the discrete law and the continuous one agree to about 1e-11, and
// that unequal σ add up as 1/σ².
func TestWideNoiseIsContinuous(t *testing.T) {
	wide := rat(t, "1000000000000")
	for _, c := range []struct {
		name  string
		steps []budget.Mechanism
		sigma float64
	}{
		{"one", []budget.Mechanism{gaussianStep(wide, 1, 1)}, 1e6},
		{"100 of shift 10", times(100, gaussianStep(wide, 10, 100)), 1e4},
		{"shift 3e5", []budget.Mechanism{gaussianStep(wide, 3e5, 9e10)}, 10. / 3},
		{"unequal", []budget.Mechanism{gaussianStep(wide, 1e5, 1e10), gaussianStep(rat(t, "4000000000000"), 1e5, 1e10)},
			10 / math.Sqrt(1.25)},
	} {
		for _, x := range []float64{0.3, 1, 2.5} {
			epsilon := x / c.sigma
			// The difference in the closed form loses digits as σ grows.
			got, want := mustDelta(t, c.steps, epsilon), continuousGaussian(c.sigma, epsilon)
			if !near(got.Delta, want, 1e-9+1e-14*c.sigma) || got.Error > 1e-9*want {
				t.Errorf("%s, ε %g: %g ± %g, want %g", c.name, epsilon, got.Delta, got.Error, want)
			}
		}
	}
}

// TestBoundedRange compares with the closed form of one choice, with the losses of a Gaussian and of randomized
// response added by hand, and with Simpson's rule for two choices.
func TestBoundedRange(t *testing.T) {
	const e = 0.75
	one := choice(budget.ExponentialMechanism, rat(t, "0.75"))
	for _, epsilon := range []float64{0, 0.2, 0.7} {
		got, want := mustDelta(t, []budget.Mechanism{one}, epsilon), boundedRange(e, epsilon)
		if math.Abs(got.Delta-want) > got.Error || got.Error > 2e-9*want {
			t.Errorf("one, ε %g: %g ± %g, want %g", epsilon, got.Delta, got.Error, want)
		}
		want = 0
		for _, o := range jointly(gaussianAnswers(4, 1), responses(0.5)) {
			if o.q > 0 {
				want += o.p * boundedRange(e, epsilon-math.Log(o.p/o.q))
			}
		}
		got = mustDelta(t, []budget.Mechanism{one, gaussianStep(rat(t, "4"), 1, 1),
			choice(budget.RandomizedResponse, rat(t, "0.5"))}, epsilon)
		if math.Abs(got.Delta-want) > got.Error+1e-13*want || got.Error > 1e-8*want {
			t.Errorf("three, ε %g: %g ± %g, want %g", epsilon, got.Delta, got.Error, want)
		}
		// ∫ density(x)·δ₁(ε−x) dx, smooth but for a kink at ε−x = −e, beyond the range.
		const n = 20000
		want = 0
		for i := range n + 1 {
			x := e * (2*float64(i)/n - 1)
			weight := []float64{2, 4}[i%2]
			if i == 0 || i == n {
				weight = 1
			}
			want += weight * math.Exp(x/2) / (4 * math.Sinh(e/2)) * boundedRange(e, epsilon-x) * (2 * e / n) / 3
		}
		got = mustDelta(t, times(2, one), epsilon)
		// Simpson's rule meets a kink of the second derivative: below 1e-9.
		if math.Abs(got.Delta-want) > got.Error+1e-9*want || got.Error > 2e-9*want {
			t.Errorf("two, ε %g: %g ± %g, want %g", epsilon, got.Delta, got.Error, want)
		}
	}
}

// TestOrder checks what holds for every δ: it decreases in ε, no faster than convexity in e^ε allows, and increases
// with every further step and every move of a shift.
func TestOrder(t *testing.T) {
	steps := []budget.Mechanism{gaussianStep(rat(t, "6.5"), 2, 4), laplaceStep(rat(t, "7/3"), 2),
		gaussianStep(rat(t, "6.5"), 2, 4),
		choice(budget.PermuteAndFlip, rat(t, "0.4")), gaussianStep(rat(t, "1.25"), 1, 1)}
	for k := 1; k <= len(steps); k++ {
		last, slope := 1.0, math.Inf(-1)
		for i := range 30 {
			epsilon := 0.15 * float64(i)
			delta := mustDelta(t, steps[:k], epsilon).Delta
			if delta > last {
				t.Errorf("%d steps: δ rises at ε %g", k, epsilon)
			}
			if next := (delta - last) / (math.Exp(epsilon) - math.Exp(epsilon-0.15)); i > 0 {
				if next < slope-1e-12 {
					t.Errorf("%d steps: δ bends down at ε %g", k, epsilon)
				}
				slope = next
			}
			if k > 1 && delta < mustDelta(t, steps[:k-1], epsilon).Delta*(1-1e-12) {
				t.Errorf("%d steps lose less than one fewer at ε %g", k, epsilon)
			}
			last = delta
		}
	}
	step := gaussianStep(rat(t, "2"), 9, 81)
	chain := []budget.Shift{{1, 1, 1}, {2, 1}, {2, 2}, {4}, {4, 1}, {5}}
	for _, epsilon := range []float64{0.1, 2, 8} {
		last := 0.0
		for _, shape := range chain {
			step.Shifts = []budget.Shift{shape}
			delta := mustDelta(t, []budget.Mechanism{step}, epsilon).Delta
			if delta < last*(1-1e-12) {
				t.Errorf("shape %v loses less than the one before at ε %g", shape, epsilon)
			}
			last = delta
		}
	}
}

// TestLargestLossAndTotalVariation checks that δ is 0 from the largest loss on, and the total variation distance at ε =
// 0.
func TestLargestLossAndTotalVariation(t *testing.T) {
	pure := together(times(3, laplaceStep(rat(t, "8"), 3)),
		[]budget.Mechanism{choice(budget.ExponentialMechanism, rat(t, "0.25"))})
	const largest = 3*3./8 + 0.25
	if got := mustDelta(t, pure, largest); got != (Result{}) {
		t.Errorf("δ at the largest loss: %+v", got)
	}
	if got := mustDelta(t, pure, largest*(1-1e-9)); !(got.Delta > 0) {
		t.Errorf("δ below the largest loss: %+v", got)
	}
	quarter := []budget.Mechanism{choice(budget.RandomizedResponse, rat(t, "1"))}
	if got := mustDelta(t, quarter, 0).Delta; math.Abs(got-math.Tanh(0.5)) > 1e-9 {
		t.Errorf("δ(0) = %g, want %g", got, math.Tanh(0.5))
	}
}

// TestEdges checks values known without arithmetic.
func TestEdges(t *testing.T) {
	response := []budget.Mechanism{choice(budget.RandomizedResponse, rat(t, "3/2"))}
	for _, c := range []struct {
		name    string
		steps   []budget.Mechanism
		epsilon float64
		want    float64
	}{
		{"no steps", nil, 0, 0},
		{"at the greatest loss", response, 1.5, 0},
		{"beyond it", response, 2, 0},
		{"just below it", response, 1.5 - 0x1p-40, -math.Expm1(-0x1p-40) / (1 + math.Exp(-1.5))},
		{"total variation", response, 0, math.Tanh(0.75)},
		{"almost no noise", []budget.Mechanism{gaussianStep(rat(t, "1/100"), 1, 1)}, 1, 1},
		{"out of reach", []budget.Mechanism{gaussianStep(rat(t, "100"), 1, 1)}, 50, 0},
		{"Laplace, one step of 5", []budget.Mechanism{laplaceStep(rat(t, "4"), 5)}, 1.25 - 0x1p-30,
			-math.Expm1(-0x1p-30) / (1 + math.Exp(-0.25))},
	} {
		if got := mustDelta(t, c.steps, c.epsilon); !near(got.Delta, c.want, 1e-11) &&
			math.Abs(got.Delta-c.want) > 1e-280 {
			t.Errorf("%s: %g ± %g, want %g", c.name, got.Delta, got.Error, c.want)
		}
	}
}

// TestEveryLawOfNoiseIsJudged compares the δ of two measurements of every law of noise with the sum over the law's own
// outcomes that defines it. A law whose loss is not known here is refused; verification would then go by the planner's
// accountant alone.
func TestEveryLawOfNoiseIsJudged(t *testing.T) {
	for _, kind := range budget.Laws() {
		for _, cost := range []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 8)} {
			m, err := kind.MechanismFor(big.NewInt(2), big.NewInt(4), cost)
			if err != nil {
				t.Fatal(err)
			}
			for _, epsilon := range []float64{0, 0.25, 1} {
				got, err := Delta([]budget.Mechanism{m, m}, epsilon)
				if err != nil {
					t.Errorf("%s: %v", kind, err)
					continue
				}
				if want := deltaOfTwo(m, 2, epsilon); !near(got.Delta, want, 1e-6) && math.Abs(got.Delta-want) > 1e-9 {
					t.Errorf("%s at cost %s: δ(%g) = %g, by its outcomes %g", kind, cost, epsilon, got.Delta, want)
				}
			}
		}
	}
}

// TestSkellamIsNotJudged checks that a law whose loss is not known here is refused, and not judged by another's.
func TestSkellamIsNotJudged(t *testing.T) {
	m, err := budget.SkellamFor(big.NewInt(2), big.NewInt(4), nil, big.NewRat(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Delta([]budget.Mechanism{m}, 0.5); !errors.Is(err, ErrCannotJudge) {
		t.Errorf("Skellam noise: %v, want ErrCannotJudge", err)
	}
}

// deltaOfTwo returns the δ at ε of two independent draws of noise against both shifted, by its definition.
func deltaOfTwo(m budget.Mechanism, shift int, epsilon float64) (delta float64) {
	parameter, _ := m.Parameter.Float64()
	o := m.Kind.Outcomes(parameter)
	most := int(o.Size) + shift
	sum := 0.0
	for x := -most; x <= most; x++ {
		sum += o.Weight(math.Abs(float64(x)))
	}
	mass := func(x int) float64 { return o.Weight(math.Abs(float64(x))) / sum }
	factor := math.Exp(epsilon)
	for x := -most; x <= most+shift; x++ {
		p, q := mass(x-shift), mass(x)
		for y := -most; y <= most+shift; y++ {
			delta += max(0, p*mass(y-shift)-factor*q*mass(y))
		}
	}
	return delta
}

func TestRefusals(t *testing.T) {
	gaussian := gaussianStep(rat(t, "4"), 1, 1)
	unequal := make([]budget.Mechanism, 10)
	for i := range unequal {
		unequal[i] = gaussianStep(big.NewRat(int64(i+1), 1), 4, 4)
	}
	for _, c := range []struct {
		name    string
		steps   []budget.Mechanism
		epsilon float64
		want    string
	}{
		{"negative ε", []budget.Mechanism{gaussian}, -1, "epsilon must be"},
		{"infinite ε", []budget.Mechanism{gaussian}, math.Inf(1), "epsilon must be"},
		{"ε that is no number", []budget.Mechanism{gaussian}, math.NaN(), "epsilon must be"},
		{"invalid step", []budget.Mechanism{gaussian, {}}, 1, "step 2: mechanism kind"},
		{"adaptive block", []budget.Mechanism{choice(budget.AdaptiveBlock, rat(t, "1/2"))}, 1,
			"cannot judge this: no law of the loss of adaptive-block"},
		{"too many shapes", []budget.Mechanism{gaussianStep(rat(t, "4"), 1000, 5000)}, 1, "too many shapes"},
		{"too many ways", unequal, 1, "cannot judge this: there are more than 300 ways"},
		{"too many ways of one step", times(400, gaussianStep(rat(t, "4"), 4, 4)), 1,
			"cannot judge this: there are more than 300 ways"},
	} {
		if _, err := Delta(c.steps, c.epsilon); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// TestLineGivesUpInTime checks that a contour whose first stretch would not end, since it is far from where the
// integral is decided, still stops, and reports that it knows nothing.
func TestLineGivesUpInTime(t *testing.T) {
	j := only(t, laplaceStep(rat(t, "5"), 1)).newIntegrand(0.1)
	j.c = 1e-9
	j.logMoment = j.logMomentAt(j.c)
	if got := j.newLine(j.aliasPeriod(1e-10)).sumPoints(); got.Error < 1 {
		t.Errorf("%g ± %g after giving up", got.Delta, got.Error)
	}
}

// TestPruneAccounts checks that dropNegligible accounts for everything that it leaves out of a long list.
func TestPruneAccounts(t *testing.T) {
	var all []weightedLoss
	for i := range 3 * minPruned {
		all = append(all, weightedLoss{0, 1, math.Exp(-float64(i) / 100)})
	}
	total := func(all []weightedLoss) (s float64) {
		for _, m := range all {
			s += m.tilted
		}
		return s
	}
	before := total(all)
	kept, dropped := dropNegligible(all)
	// Shares are told apart by their exponents of two.
	if dropped > maxPruned || dropped < maxPruned/4 || len(kept) >= 2*minPruned ||
		!near(total(kept)+dropped, before, 1e-13) {
		t.Errorf("%d kept of %d, %g left out of %g", len(kept), 3*minPruned, dropped, before)
	}
	if short, dropped := dropNegligible(all[:minPruned]); len(short) != minPruned || dropped != 0 {
		t.Errorf("a short list: %d kept, %g left out", len(short), dropped)
	}
}

// TestErrorIsHonest checks that, where no method is exact, the error covers the distance to the same losses on a
// coarser lattice, which can be summed exactly. Losses of (s, t) and (s/50, t/50) differ by 1/t² relatively.
func TestErrorIsHonest(t *testing.T) {
	j := only(t, times(6, laplaceStep(rat(t, "500000"), 100000))...).newIntegrand(0.3)
	line := j.newLine(j.aliasPeriod(1e-14 * j.roughDelta))
	line.patience = 1 << 17
	fine, coarse := line.sumPoints(), mustDelta(t, times(6, laplaceStep(rat(t, "10000"), 2000)), 0.3)
	if coarse.Error > 1e-11*coarse.Delta || math.Abs(fine.Delta-coarse.Delta) > fine.Error+1e-8*coarse.Delta ||
		fine.Error > 1e-4*coarse.Delta {
		t.Errorf("%g ± %g on the fine lattice, %g ± %g on the coarse one", fine.Delta, fine.Error, coarse.Delta,
			coarse.Error)
	}
}

// TestQuantilesAreNotJudged: the pair that dominates a choice of bounded range ε has a divergence of ε²/6, while the
// choice has at most ε²/8. So a bound of the first accountant may hold that this one would contradict, as it does for
// this many choices.
func TestQuantilesAreNotJudged(t *testing.T) {
	quantiles := budget.Mechanism{
		Kind: budget.ExponentialQuantiles, Parameter: rat(t, "1/8"), L1: big.NewInt(3), L2Squared: big.NewInt(9),
		Shifts: []budget.Shift{{3}},
	}
	if _, err := Delta([]budget.Mechanism{quantiles}, 0.5); !errors.Is(err, ErrCannotJudge) {
		t.Errorf("quantiles: %v", err)
	}
	const many = 60
	loss, err := budget.Compose(times(many, quantiles)...)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := loss.EpsilonAt(rat(t, "1e-6"))
	if err != nil {
		t.Fatal(err)
	}
	if of := mustDelta(t, times(many, choice(budget.ExponentialMechanism, rat(t, "3/8"))),
		bound.Value); of.Delta < 2e-6 {
		t.Errorf("by pairs δ is %v: there would be no contradiction", of)
	}
}

// TestSharesNothingWithTheFirstAccountant checks that of package budget only the types that describe mechanisms are
// used, and none of the figures.
func TestSharesNothingWithTheFirstAccountant(t *testing.T) {
	types := []string{"Kind", "Mechanism", "Shift", "DiscreteLaplace", "DiscreteGaussian", "ExponentialMechanism",
		"ExponentialQuantiles", "PermuteAndFlip", "RandomizedResponse", "SubsetSelection"}
	figures := []string{"Epsilon", "Rho", "Variance", "Margin", "Price", "Outcomes", "Pure", "Normal"}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := selector.X.(*ast.Ident); ok && x.Name == "budget" {
				used++
				if !slices.Contains(types, selector.Sel.Name) {
					t.Errorf("%s uses budget.%s", path, selector.Sel.Name)
				}
			} else if slices.Contains(figures, selector.Sel.Name) {
				t.Errorf("%s uses a %s that is not its own", path, selector.Sel.Name)
			}
			return true
		})
	}
	if used == 0 {
		t.Error("package budget is not used at all")
	}
}

func BenchmarkDelta(b *testing.B) {
	var unequal []budget.Mechanism
	for i := range 100 {
		unequal = append(unequal, laplaceStep(big.NewRat(10007+3*int64(i), 1000+int64(i)), 1))
	}
	for _, c := range []struct {
		name    string
		steps   []budget.Mechanism
		epsilon float64
	}{
		{"Gaussian/100", times(100, gaussianStep(rat(b, "1000"), 1, 1)), 1},
		{"Gaussian/105", times(105, gaussianStep(rat(b, "700.5"), 1, 1)), 1},
		{"Gaussian/5000", times(5000, gaussianStep(rat(b, "50000"), 1, 1)), 1},
		{"Laplace/5000", times(5000, laplaceStep(rat(b, "350"), 1)), 1},
		{"Gaussian/wide", times(7, gaussianStep(rat(b, "1000000000000"), 3, 9)), 3e-6},
		{"ExponentialMechanism/1", times(1, choice(budget.ExponentialMechanism, rat(b, "1"))), 0.5},
		{"Laplace/100-unequal", unequal, 3},
	} {
		b.Run(c.name, func(b *testing.B) {
			var r Result
			for b.Loop() {
				r = mustDelta(b, c.steps, c.epsilon)
			}
			b.ReportMetric(-math.Log10(r.Error/r.Delta), "digits")
		})
	}
}

// If the computation of a law overflows, the result is only that δ is a probability.
func TestFiguresBeyondFloats(t *testing.T) {
	steps := times(16, choice(budget.ExponentialMechanism, rat(t, "90000000")))
	if got, err := Delta(steps, 8192); err != nil || got != (Result{Error: 1}) {
		t.Errorf("Delta is %+v, %v", got, err)
	}
	// With σ = 1/100 the noise is 0 but for e^−5000: the loss is 5000, and δ(ε) that
	// of a certain loss, 1 − e^(ε−5000).
	nearlyNone := []budget.Mechanism{gaussianStep(rat(t, "1/10000"), 1, 1)}
	for _, epsilon := range []float64{100, 4999, 4999.5, 5000.5} {
		got, err := Delta(nearlyNone, epsilon)
		if want := max(0, -math.Expm1(epsilon-5000)); err != nil || math.Abs(got.Delta-want) > got.Error+1e-15 ||
			got.Error > 1e-12 {
			t.Errorf("ε = %g: %+v, %v, want %g", epsilon, got, err, want)
		}
	}
}

// Gaussian noise of which only norms are known is treated as continuous noise whose σ² is smaller by 3. Alone it is
// compared with the closed form (Balle & Wang 2018, theorem 8). Together with steps of other kinds, one of bounded
// range and one on a lattice, it is compared with the composition of privacy loss distributions, which shares no code
// with this one.
func TestNormsAlone(t *testing.T) {
	var steps []budget.Mechanism
	var squares float64
	for i := range int64(50) {
		steps = append(steps, gaussianStep(big.NewRat(9000+731*i, 7), 400, 300))
		squares += 300 / ((9000+731*float64(i))/7 - 3)
	}
	for _, epsilon := range []float64{0, 1, 4, 9} {
		got := mustDelta(t, steps, epsilon)
		want := budget.Gaussian{Sigma: 1, L2: math.Sqrt(squares)}.Delta(epsilon)
		if math.Abs(got.Delta-want) > 1e-9*want || got.Error > 1e-7*want {
			t.Errorf("ε = %v: %+v, the closed form has %g", epsilon, got, want)
		}
	}
	steps = append(steps, choice(budget.ExponentialMechanism, rat(t, "1/3")), gaussianStep(rat(t, "40"), 3, 9))
	loss, err := budget.Compose(steps...)
	if err != nil {
		t.Fatal(err)
	}
	epsilonAt := func(delta float64) float64 {
		bound, err := loss.EpsilonAt(new(big.Rat).SetFloat64(delta))
		if err != nil {
			t.Fatal(err)
		}
		return bound.Value
	}
	for _, epsilon := range []float64{1, 4, 9} {
		// δ composed numerically is at most 1e-4 above that of this accountant, and not below it.
		got := mustDelta(t, steps, epsilon)
		above, below := epsilonAt((got.Delta-got.Error)*(1-1e-9)), epsilonAt((got.Delta+got.Error)*(1+1e-4))
		if above < epsilon || below > epsilon || got.Error > 1e-6*got.Delta {
			t.Errorf("ε = %v: %+v, composed numerically ε is from %g to %g", epsilon, got, below, above)
		}
	}
	if _, err := Delta([]budget.Mechanism{gaussianStep(rat(t, "20"), 400, 300)}, 1); !errors.Is(err, ErrCannotJudge) {
		t.Errorf("little noise: %v, want ErrCannotJudge", err)
	}
}
