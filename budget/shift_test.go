package budget

import (
	"math"
	"math/big"
	"slices"
	"testing"
)

// An outcome is what a mechanism can answer: its probability on the data and on
// the neighbour.
type outcome struct{ p, q float64 }

// outcomesOf returns the outcomes of noise on one coordinate that changes by d, from the definition of the noise: its
// weight up to a factor.
func outcomesOf(weight func(x float64) float64, d, reach int) []outcome {
	var total float64
	for x := -reach - d; x <= reach+d; x++ {
		total += weight(float64(x))
	}
	var all []outcome
	for x := -reach; x <= reach+d; x++ {
		all = append(all, outcome{weight(float64(x)) / total, weight(float64(x-d)) / total})
	}
	return all
}

// outcomesOfShift returns the outcomes of all coordinates together, without those of a probability below 1e-18.
func outcomesOfShift(m Mechanism, shift Shift) []outcome {
	parameter := nearest(m.Parameter)
	weight, reach := func(x float64) float64 { return math.Exp(-x * x / (2 * parameter)) },
		int(9*math.Sqrt(parameter))+2
	if m.Kind == DiscreteLaplace {
		weight, reach = func(x float64) float64 { return math.Exp(-math.Abs(x) / parameter) }, int(40*parameter)+2
	}
	all := []outcome{{1, 1}}
	for _, d := range shift {
		var next []outcome
		for _, b := range outcomesOf(weight, int(d), reach) {
			for _, a := range all {
				if o := (outcome{a.p * b.p, a.q * b.q}); o.p > 1e-18 {
					next = append(next, o)
				}
			}
		}
		all = byLoss(next)
	}
	return all
}

// byLoss merges outcomes of equal loss (to 1e-9), which are indistinguishable to a test.
func byLoss(all []outcome) []outcome {
	joined := map[int64]outcome{}
	for _, o := range all {
		key := int64(math.Round(math.Log(o.p/o.q) * 1e9))
		joined[key] = outcome{joined[key].p + o.p, joined[key].q + o.q}
	}
	var list []outcome
	for _, o := range joined {
		list = append(list, o)
	}
	return list
}

// stickOf is Σ max(0, P − e^ε·Q), the definition of δ(ε).
func stickOf(all []outcome, epsilon float64) float64 {
	var sum float64
	for _, o := range all {
		sum += math.Max(0, o.p-math.Exp(epsilon)*o.q)
	}
	return sum
}

func noiseStep(kind Kind, parameter string, l1, l2Squared int64) Mechanism {
	r, err := ParseRat(parameter)
	if err != nil {
		panic(err)
	}
	return Mechanism{Kind: kind, Parameter: r, L1: big.NewInt(l1), L2Squared: big.NewInt(l2Squared)}
}

// TestTheWorseOfTwoShapesCounts compares with the ε of either shape, computed elsewhere by direct convolution to three
// decimals: which shape is worse depends on the noise.
func TestTheWorseOfTwoShapesCounts(t *testing.T) {
	for _, c := range []struct {
		variance, delta string
		wide, spread    float64 // of (2) and of (1, 1, 1, 1)
	}{
		{"0.49", "0.01", 8.161, 10.005},
		{"4", "1e-9", 6.140, 6.187},
	} {
		both := noiseStep(DiscreteGaussian, c.variance, 4, 4)
		for _, given := range []struct {
			shifts []Shift
			want   float64
		}{
			{[]Shift{{2}}, c.wide},
			{[]Shift{{1, 1, 1, 1}}, c.spread},
			{nil, max(c.wide, c.spread)},
			{[]Shift{{1, 1, 1, 1}, {2}}, max(c.wide, c.spread)},
		} {
			m := both
			m.Shifts = given.shifts
			got, err := mustCompose(t, m).EpsilonAt(mustRat(t, c.delta))
			if err != nil || math.Abs(got.Value-given.want) > 6e-4 {
				t.Errorf("σ² = %s, shifts %v: ε = %+v, %v; want %v", c.variance, given.shifts, got, err, given.want)
			}
		}
	}
}

func TestWorstShiftsAreThoseThatCannotGrow(t *testing.T) {
	for _, c := range []struct {
		l1, l2Squared int64
		want          []Shift
	}{
		{1, 1, []Shift{{1}}},
		{4, 16, []Shift{{4}}},
		{4, 4, []Shift{{2}, {1, 1, 1, 1}}},
		{4, 9, []Shift{{3}, {2, 2}}},
		{3, 3, []Shift{{1, 1, 1}}},
		{5, 6, []Shift{{2, 1, 1}, {1, 1, 1, 1, 1}}},
	} {
		got, ok := noiseStep(DiscreteGaussian, "1", c.l1, c.l2Squared).worstShifts()
		if !ok || !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("L1 %d, L2² %d: %v, %v; want %v", c.l1, c.l2Squared, got, ok, c.want)
		}
	}
}

// TestNoShiftLosesMoreThanTheWorst compares, for every shift within the norms, δ by its definition with that of the
// mechanism.
func TestNoShiftLosesMoreThanTheWorst(t *testing.T) {
	for _, m := range []Mechanism{
		noiseStep(DiscreteGaussian, "1/3", 4, 6), noiseStep(DiscreteGaussian, "5/2", 4, 9),
		noiseStep(DiscreteGaussian, "1", 5, 25), noiseStep(DiscreteGaussian, "9", 4, 4),
		noiseStep(DiscreteLaplace, "2/3", 3, 5), noiseStep(DiscreteLaplace, "7/5", 3, 9),
	} {
		loss := mustCompose(t, m)
		// The worst of all shifts is attained, but for an envelope that joins the
		// profiles of several at multiples of the unit.
		for _, epsilon := range []float64{0, 0.37, 1, 2.2, 4.1} {
			var most float64
			listShifts(nil, m.L1.Int64(), m.L1.Int64(), m.L2Squared.Int64(), func(s Shift) bool {
				most = max(most, stickOf(outcomesOfShift(m, s), epsilon))
				return true
			})
			got := loss.numericalDelta(epsilon)
			// What the outcomes leave out sums to 1e-15, and their joining is to 1e-9.
			if got < most*(1-1e-8)-1e-14 || got > 1.2*most+1e-14 {
				t.Errorf("%s %v within %v, %v at ε = %v: δ = %v, worst shift %v", m.Kind, m.Parameter, m.L1,
					m.L2Squared, epsilon,
					got, most)
			}
		}
	}
}

// TestMergedCoordinatesLoseMore checks the lemma: two coordinates that change by a and b lose no more than one that
// changes by a + b, and one coordinate no more than a larger one.
func TestMergedCoordinatesLoseMore(t *testing.T) {
	for _, m := range []Mechanism{
		noiseStep(DiscreteGaussian, "1/5", 1, 1), noiseStep(DiscreteGaussian, "3", 1, 1),
		noiseStep(DiscreteLaplace, "1/2", 1, 1), noiseStep(DiscreteLaplace, "3", 1, 1),
	} {
		for a := int64(1); a <= 3; a++ {
			for b := int64(1); b <= a; b++ {
				apart, one, merged := outcomesOfShift(m, Shift{a, b}), outcomesOfShift(m, Shift{a}),
					outcomesOfShift(m, Shift{a + b})
				for epsilon := -3.0; epsilon < 6; epsilon += 0.31 {
					together := stickOf(merged, epsilon)
					if stickOf(apart, epsilon) > together+1e-14 || stickOf(one, epsilon) > together+1e-14 {
						t.Errorf("%s %v: %d and %d lose more than their sum at ε = %v", m.Kind, m.Parameter, a, b,
							epsilon)
					}
				}
			}
		}
	}
}

// TestUnlistedShiftsAreChargedByTheirNorms takes norms that allow too many shapes. Gaussian noise then loses as much as
// a Gaussian mechanism whose σ² is smaller by 3.
func TestUnlistedShiftsAreChargedByTheirNorms(t *testing.T) {
	many := noiseStep(DiscreteGaussian, "10000", 1000, 5000)
	bound, err := mustCompose(t, many).EpsilonAt(mustRat(t, "1e-9"))
	norm := Gaussian{Sigma: math.Sqrt(9997), L2: math.Sqrt(5000)}.Epsilon(1e-9)
	if err != nil || bound.Value < norm || bound.Value > norm*(1+1e-6) {
		t.Errorf("Gaussian: %+v, %v; its norm allows %v", bound, err, norm)
	}
	little := noiseStep(DiscreteGaussian, "20", 1000, 50)
	bound, err = mustCompose(t, little).EpsilonAt(mustRat(t, "1e-9"))
	if norm = ZCDPEpsilon(nearest(little.Rho()), 1e-9); err != nil || !(math.Abs(bound.Value-norm) < 1e-3*norm) {
		t.Errorf("little Gaussian noise: %+v, %v; its ρ allows %v", bound, err, norm)
	}
	laplace := noiseStep(DiscreteLaplace, "1000", 1000, 5000)
	bound, err = mustCompose(t, laplace).EpsilonAt(mustRat(t, "1e-9"))
	if err != nil || bound.Value > 1 || bound.Value < 0.99 {
		t.Errorf("Laplace: %+v, %v", bound, err)
	}
}

func TestImproperShiftsAreRefused(t *testing.T) {
	for _, shifts := range [][]Shift{{}, {{}}, {{0}}, {{1, 2}}, {{2, 1}, {-1}}, {{3, 1}}, {{2, 2, 1}}} {
		m := noiseStep(DiscreteGaussian, "1", 4, 9)
		m.Shifts = shifts
		if _, err := Compose(m); err == nil {
			t.Errorf("shifts %v were accepted within L1 4, L2² 9", shifts)
		}
	}
}
