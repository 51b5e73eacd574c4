package budget

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// skellamOf returns the Skellam mechanism of a variance whose shifts are the given ones.
func skellamOf(t *testing.T, variance *big.Rat, shifts ...Shift) Mechanism {
	t.Helper()
	m := Mechanism{Kind: Skellam, Parameter: variance, L1: new(big.Int), L2Squared: new(big.Int), Shifts: shifts}
	for _, shift := range shifts {
		sum, squares := sumAndSquares(shift)
		if sum.Cmp(m.L1) > 0 {
			m.L1 = sum
		}
		if squares.Cmp(m.L2Squared) > 0 {
			m.L2Squared = squares
		}
	}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	return m
}

// skellamEpsilon returns the ε of mechanisms by their losses, at a δ.
func skellamEpsilon(t *testing.T, delta float64, steps ...Mechanism) float64 {
	t.Helper()
	loss, err := Compose(steps...)
	if err != nil {
		t.Fatal(err)
	}
	epsilon, _ := loss.composedEpsilon(delta, usual)
	return epsilon
}

// TestSkellamLosesWhatIsCalculatedApart compares ε and ρ with testdata/skellam.py, which lists the losses of all
// outcomes of a vector without a grid. No figure is below.
func TestSkellamLosesWhatIsCalculatedApart(t *testing.T) {
	data, err := os.ReadFile("testdata/skellam.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Variance            string
		Shifts              []Shift
		Delta, Epsilon, Rho float64
	}
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) < 20 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	var worst, worstRho float64
	for _, c := range cases {
		variance, err := ParseRat(c.Variance)
		if err != nil {
			t.Fatal(err)
		}
		m := skellamOf(t, variance, c.Shifts...)
		got, rho := skellamEpsilon(t, c.Delta, m), nearest(m.Rho())
		over, overRho := got/c.Epsilon-1, rho/c.Rho-1
		worst, worstRho = max(worst, over), max(worstRho, overRho)
		if !(over >= -1e-10 && over <= 2e-4) {
			t.Errorf("variance %s, shifts %v: ε at δ = %g is %v, want %v", c.Variance, c.Shifts, c.Delta, got,
				c.Epsilon)
		}
		if !(overRho >= 0 && overRho <= 1e-3) {
			t.Errorf("variance %s, shifts %v: ρ is %v, want %v", c.Variance, c.Shifts, rho, c.Rho)
		}
		if len(c.Shifts) > 1 {
			continue
		}
		var apart []Mechanism // one coordinate each
		for _, d := range c.Shifts[0] {
			apart = append(apart, skellamOf(t, variance, Shift{d}))
		}
		if again := skellamEpsilon(t, c.Delta, apart...); math.Abs(again/got-1) > 1e-6 {
			t.Errorf("variance %s, shifts %v: ε is %v, and %v coordinate by coordinate", c.Variance, c.Shifts, got,
				again)
		}
	}
	t.Logf("ε is above by up to %.2g of it, ρ by %.2g", worst, worstRho)
}

// TestSkellamDependsOnTheWholeShift checks the ways in which a unit can change four counts by 1 in all, or one by 2:
// a shift of the same L2 norm loses less in one cell, and of the same L1 norm more.
func TestSkellamDependsOnTheWholeShift(t *testing.T) {
	four := big.NewRat(4, 1)
	epsilon := func(shift Shift) float64 { return skellamEpsilon(t, 1e-6, skellamOf(t, four, shift)) }
	for _, c := range []struct {
		shift Shift
		want  float64
	}{{Shift{2}, 3.46}, {Shift{1, 1, 1, 1}, 4.29}} {
		if got := epsilon(c.shift); math.Abs(got-c.want) > 0.005 {
			t.Errorf("%v: ε at 1e-6 is %v, want %v", c.shift, got, c.want)
		}
	}
	merged := []float64{epsilon(Shift{1, 1, 1, 1}), epsilon(Shift{2, 1, 1}), epsilon(Shift{2, 2}), epsilon(Shift{3, 1}),
		epsilon(Shift{4})}
	if !slices.IsSorted(merged) {
		t.Errorf("merging coordinates makes ε %v, not ever larger", merged)
	}
}

// TestSkellamIsSymmetricInSigns compares δ of a shift (+1, −1), by its definition over pairs of outcomes, with the loss
// of (+1, +1).
func TestSkellamIsSymmetricInSigns(t *testing.T) {
	for _, variance := range []*big.Rat{big.NewRat(1, 2), big.NewRat(4, 1)} {
		m := massesOf(skellam{}, nearest(variance))
		loss, err := Compose(skellamOf(t, variance, Shift{1, 1}))
		if err != nil {
			t.Fatal(err)
		}
		for _, epsilon := range []float64{0, 0.5, 1, 2, 3} {
			var want float64
			for x := -m.most - 1; x <= m.most+1; x++ {
				for y := -m.most - 1; y <= m.most+1; y++ {
					want += max(0, m.at(x-1)*m.at(y+1)-math.Exp(epsilon)*m.at(x)*m.at(y))
				}
			}
			if got := loss.numericalDelta(epsilon); !(got >= want*(1-1e-6)-1e-12 && got <= want*1.001+1e-9) {
				t.Errorf("variance %v: δ(%v) is %v, want %v", variance, epsilon, got, want)
			}
		}
	}
}

// TestSkellamRhoBoundsEveryOrder compares the ρ of shifts with Rényi divergences by their definition, at orders from 1
// to far beyond where they matter.
func TestSkellamRhoBoundsEveryOrder(t *testing.T) {
	for _, variance := range []float64{1. / 64, 0.3, 1, 4, 33, 1000} {
		parameter := new(big.Rat).SetFloat64(variance)
		last := skellamReach(variance, 700)
		for _, d := range []int64{1, 2, 3, 10} {
			rho := shiftRho(parameter, d)
			var logs []float64
			for _, w := range skellamWeights(parameter, last+int(d)) {
				logs = append(logs, logOf(w))
			}
			var whole, most float64
			for k := last; k > 0; k-- {
				whole += 2 * math.Exp(logs[k])
			}
			normaliser := math.Log(whole + 1)
			at := func(x int) float64 { return logs[max(x, -x)] - normaliser }
			for theta := 1e-6; theta < 3*math.Sqrt(variance)+3; theta *= 1.1 {
				var sum float64
				for x := -last; x <= last; x++ {
					loss := at(x) - at(x+int(d))
					if power := theta * loss; power > 0 {
						sum -= math.Exp(at(x)+power) * math.Expm1(-power)
					} else {
						sum += math.Exp(at(x)) * math.Expm1(power)
					}
				}
				ratio := math.Log1p(sum) / (theta * (theta + 1))
				if most = max(most, ratio); theta > 1e-3 && ratio > rho*(1+1e-9) {
					t.Errorf("variance %v, shift %d: ρ is %v, and the divergence of order 1+%v over it %v", variance,
						d, rho,
						theta, ratio)
				}
			}
			if rho > most*1.001 {
				t.Errorf("variance %v, shift %d: ρ is %v, and no divergence over its order above %v", variance, d, rho,
					most)
			}
		}
	}
	for _, c := range []struct{ variance, want float64 }{{1, 1.053}, {4, 1.004}} {
		rho := shiftRho(new(big.Rat).SetFloat64(c.variance), 1)
		if ratio := rho * 2 * c.variance; math.Abs(ratio-c.want) > 1e-3 {
			t.Errorf("variance %v: ρ is %v of that of Gaussian noise, want %v", c.variance, ratio, c.want)
		}
	}
}

// TestSkellamRhoBeyondTheOrdersComputed checks the bound of large orders, which no test of a finite number of orders
// reaches, at the first order for which it is used and beyond.
func TestSkellamRhoBeyondTheOrdersComputed(t *testing.T) {
	for _, variance := range []float64{1. / 64, 1, 20, 500} {
		for _, d := range []int64{1, 2, 7} {
			for _, lambda := range []float64{0.9, 0.99, 1, 1.001} {
				from := orderBeyond(variance, float64(d), lambda)
				for _, times := range []float64{1, 1.01, 1.5, 4} {
					theta := float64(from * times)
					all, _ := listRenyiLosses(new(big.Rat).SetFloat64(variance), d, theta+1)
					limit := lambda * float64(d*d) / (2 * variance)
					if got := all.ratio(theta); got > limit {
						t.Errorf("variance %v, shift %d: at θ = %v it is %v, above %v", variance, d, theta, got, limit)
					}
				}
			}
		}
	}
}

// TestUnequalCoordinatesAreNotMerged takes two coordinates whose least losses are the same number, as the one leads to
// an outcome beyond 0 and the other to its mirror image.
func TestUnequalCoordinatesAreNotMerged(t *testing.T) {
	one := big.NewRat(1, 1)
	reach := int64(skellamReach(1, negligibleExponent))
	large, small := skellam{}.coordinatePair(one, reach+1).(scattered),
		skellam{}.coordinatePair(one, reach-1).(scattered)
	if large.loss[0] != small.loss[0] || len(large.loss) != len(small.loss) {
		t.Fatal("their least losses differ")
	}
	together := skellamEpsilon(t, 1e-6, skellamOf(t, one, Shift{reach + 1, reach - 1}))
	apart := skellamEpsilon(t, 1e-6, skellamOf(t, one, Shift{reach + 1}), skellamOf(t, one, Shift{reach - 1}))
	if math.Abs(together/apart-1) > 1e-6 {
		t.Errorf("ε is %v, and %v coordinate by coordinate", together, apart)
	}
}

// TestSkellamWeightsAreBesselFunctions compares P(k)/P(0) with sums of products of Poisson probabilities.
func TestSkellamWeightsAreBesselFunctions(t *testing.T) {
	for _, variance := range []float64{1. / 1024, 0.5, 1, 7, 60, 900} {
		half, last := variance/2, 30+int(4*math.Sqrt(variance))
		terms := 200 + int(2*variance)
		logPoisson := func(n int) float64 {
			factorial, _ := math.Lgamma(float64(n) + 1)
			return float64(n)*math.Log(half) - half - factorial
		}
		probability := func(k int) (sum float64) {
			for n := terms; n >= 0; n-- {
				sum += math.Exp(logPoisson(n) + logPoisson(n+k))
			}
			return sum
		}
		weights := skellamWeights(new(big.Rat).SetFloat64(variance), last)
		zero := probability(0)
		for k, w := range weights {
			got, _ := w.Float64()
			if want := probability(k) / zero; math.Abs(got/want-1) > 1e-10 {
				t.Errorf("variance %v: P(%d)/P(0) is %v, want %v", variance, k, got, want)
			}
		}
	}
}

// TestSkellamIsRefusedWithoutItsShifts goes through the mechanisms whose loss is not known.
func TestSkellamIsRefusedWithoutItsShifts(t *testing.T) {
	one := big.NewRat(1, 1)
	long, thirteen := slices.Repeat(Shift{1}, 1000), slices.Repeat(Shift{1}, 13)
	for _, c := range []struct {
		name          string
		l1, l2Squared int64
		shifts        []Shift
		variance      *big.Rat
		says          string
	}{
		{"many shapes", 13, 20, nil, one, "restrict the shifts"},
		{"a large L1", 1 << 40, 5, nil, one, "restrict the shifts"},
		{"a large shift", 5000, 25000000, nil, one, "at most 4096"},
		{"long shifts", 16, 16, []Shift{{4}, thirteen}, one, "may change 12 answers"},
		{"many shifts", 64, 64, slices.Repeat([]Shift{{1}}, 65), one, "at most 64 may be listed"},
		{"too wide", 1, 1, nil, big.NewRat(1<<24+1, 1), "2^24"},
		{"no noise", 1, 1, nil, new(big.Rat), "positive"},
		{"next to no noise", 5, 9, nil, big.NewRat(1, 4097), "below 2^-12"},
		{"hardly any noise", 1, 1, nil, big.NewRat(1, 4096), ""},
		{"many shapes that fit", 12, 20, nil, one, ""},
		{"all in one cell", 4096, 4096 * 4096, nil, one, ""},
		{"one long shift", 1000, 1000, []Shift{long}, one, ""},
		{"replace", 200, 20000, []Shift{{100, 100}}, one, ""},
	} {
		m := Mechanism{Kind: Skellam, Parameter: c.variance, L1: big.NewInt(c.l1), L2Squared: big.NewInt(c.l2Squared),
			Shifts: c.shifts}
		err := m.Validate()
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, expected %q", c.name, err, c.says)
		}
		if _, composed := Compose(m); (composed == nil) != (err == nil) {
			t.Errorf("%s: composed with error %v", c.name, composed)
		}
		if (m.Rho() == nil) != (err != nil) {
			t.Errorf("%s: ρ is %v", c.name, m.Rho())
		}
	}
}

// TestSkellamForSpendsAtMostItsBudget makes mechanisms and checks that they waste little.
func TestSkellamForSpendsAtMostItsBudget(t *testing.T) {
	for _, c := range []struct {
		l1, l2Squared int64
		shifts        []Shift
		rho           *big.Rat
	}{
		{1, 1, nil, big.NewRat(1, 2)}, {1, 1, nil, big.NewRat(1, 100)}, {2, 2, nil, big.NewRat(1, 10)},
		{5, 9, nil, big.NewRat(1, 10)}, {4, 16, nil, big.NewRat(2, 1)}, {10, 10, nil, big.NewRat(1, 3)},
		{4, 16, []Shift{{2, 2}}, big.NewRat(1, 7)}, {100, 10000, nil, big.NewRat(3, 1)},
	} {
		m, err := SkellamFor(big.NewInt(c.l1), big.NewInt(c.l2Squared), c.shifts, c.rho)
		if err != nil {
			t.Error(err)
			continue
		}
		if spent := nearest(m.Rho()) / nearest(c.rho); m.Rho().Cmp(c.rho) > 0 || spent < 0.99 {
			t.Errorf("l1 %d, l2² %d: spends %v of its ρ", c.l1, c.l2Squared, spent)
		}
		if !new(big.Rat).Mul(m.Parameter, big.NewRat(4096, 1)).IsInt() {
			t.Errorf("variance %v is not on the grid", m.Parameter)
		}
	}
	for _, c := range []struct {
		l1, l2Squared *big.Int
		rho           *big.Rat
	}{
		{nil, big.NewInt(1), big.NewRat(1, 1)}, {big.NewInt(1), nil, big.NewRat(1, 1)},
		{big.NewInt(1), big.NewInt(1), nil}, {big.NewInt(1), big.NewInt(1), new(big.Rat)},
		{big.NewInt(1), big.NewInt(1), big.NewRat(1, 1<<40)}, {big.NewInt(40), big.NewInt(50), big.NewRat(1, 1)},
	} {
		if m, err := SkellamFor(c.l1, c.l2Squared, nil, c.rho); err == nil {
			t.Errorf("%v, %v, %v: %+v, want an error", c.l1, c.l2Squared, c.rho, m)
		}
	}
}

// TestSkellamIsNoChoiceOfAPlan checks that neither a spec nor a plan meets the law by a list or a name.
func TestSkellamIsNoChoiceOfAPlan(t *testing.T) {
	if slices.Contains(Laws(), Skellam) || DefaultLaw(true) == Skellam || DefaultLaw(false) == Skellam {
		t.Error("a plan may choose Skellam noise by itself")
	}
	if kind, named := LawNamed(Skellam.SpecName()); !named || kind != Skellam || !slices.Contains(AllLaws(), Skellam) {
		t.Error("a budget cannot name Skellam noise")
	}
	if Skellam.Name() != "Skellam" || Skellam.Pure() || Skellam.Normal() {
		t.Error("the law's name or price is another")
	}
	if _, err := skellamOf(t, big.NewRat(1, 1), Shift{1}).Epsilon(); err == nil {
		t.Error("Skellam noise gave a pure ε")
	}
}

// TestSkellamSharesAddUpToTheirVariance compares the law of shares, as a sum of fractions of draws, with that of one
// draw of their whole variance.
func TestSkellamSharesAddUpToTheirVariance(t *testing.T) {
	for _, variance := range []*big.Rat{big.NewRat(1, 3), big.NewRat(4, 1), big.NewRat(300, 1)} {
		shared := skellamOf(t, variance, Shift{1})
		shared.Shares = Shares{Needed: 2, Added: 5}
		whole := skellamOf(t, new(big.Rat).Mul(variance, big.NewRat(5, 2)), Shift{1})
		if got, want := shared.Variance(), nearest(whole.Parameter); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("variance %v, want %v", got, want)
		}
		for _, confidence := range []float64{0.5, 0.95, 0.999} {
			margin, attained := shared.Margin(confidence)
			want, attains := whole.Margin(confidence)
			if margin != want || math.Abs(attained-attains) > 1e-10 {
				t.Errorf("variance %v at %v: margin %d attaining %v, want %d and %v", variance, confidence, margin,
					attained,
					want, attains)
			}
		}
		if got, want := shared.Above(2), whole.Above(2); math.Abs(got-want) > 1e-10 {
			t.Errorf("P(X > 2) is %v, want %v", got, want)
		}
		plain := skellamOf(t, variance, Shift{1})
		if shared.Rho().Cmp(plain.Rho()) != 0 {
			t.Error("shares change the loss")
		}
	}
}

// TestSumsOfSkellamAreSkellam compares margins of sums of several variances with the law of their total, and bounds
// from moments with both.
func TestSumsOfSkellamAreSkellam(t *testing.T) {
	terms := []NoiseTerm{{Weight: 1, Count: 3, Kind: Skellam, Parameter: 2},
		{Weight: -1, Count: 1.5, Kind: Skellam, Parameter: 10}}
	tail := skellam{}.tailFunction(21)
	sum := NewNoiseSum(terms)
	for m := int64(0); m < 40; m++ {
		if got, want := sum.Within(float64(m)), 1-tail(m); math.Abs(got-want) > 1e-11 {
			t.Errorf("P(|S| ≤ %d) is %v, want %v", m, got, want)
		}
	}
	for _, confidence := range []float64{0.5, 0.95, 0.999999} {
		margin, _ := sum.Margin(confidence)
		if want, _ := leastMargin(confidence, tail); margin != float64(want) {
			t.Errorf("margin at %v is %v, want %d", confidence, margin, want)
		}
		if bound := MomentsOf(terms).Bound(confidence); bound < margin-1 {
			t.Errorf("the bound from moments at %v is %v, below %v", confidence, bound, margin)
		}
	}
	wide := NewNoiseSum([]NoiseTerm{{Weight: 0.37, Count: 4, Kind: Skellam, Parameter: 50},
		{Weight: math.Sqrt2, Count: 2,
			Kind: Skellam, Parameter: 9}})
	margin, attained := wide.Margin(0.95)
	if normal := 1.96 * wide.Deviation(); !(attained >= 0.95 && math.Abs(margin/normal-1) < 0.02) {
		t.Errorf("the margin of a weighted sum is %v attaining %v, and near %v", margin, attained, normal)
	}
}

// TestSkellamHasOneJSONForm writes and reads a mechanism.
func TestSkellamHasOneJSONForm(t *testing.T) {
	m := skellamOf(t, big.NewRat(9, 2), Shift{1, 1})
	m.Shares = Shares{Needed: 3, Added: 4}
	data, err := json.Marshal(m)
	if want := `{"kind":"skellam","parameter":"9/2","l1":"2","l2_squared":"2","shifts":[[1,1]],` +
		`"shares":{"needed":3,"added":4}}`; err != nil || string(data) != want {
		t.Fatalf("%s, %v; want %s", data, err, want)
	}
	var back Mechanism
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, m) {
		t.Errorf("read back %+v, %v", back, err)
	}
	for _, bad := range []string{
		`{"kind":"skellam","parameter":"1","l1":"20","l2_squared":"30"}`,
		`{"kind":"skellam","parameter":"16777217","l1":"1","l2_squared":"1"}`,
	} {
		if err := json.Unmarshal([]byte(bad), new(Mechanism)); err == nil {
			t.Errorf("%s was read without an error", bad)
		}
	}
}

// TestSkellamRunsTogether composes many runs and other laws, and holds them to no less than fewer runs, and to no more
// than the ρ of all.
func TestSkellamRunsTogether(t *testing.T) {
	m := skellamOf(t, big.NewRat(100, 1), Shift{1, 1})
	gaussian, err := GaussianFor(big.NewInt(1), big.NewInt(1), big.NewRat(1, 100))
	if err != nil {
		t.Fatal(err)
	}
	before := 0.0
	many := append(slices.Repeat([]Mechanism{m}, 100), gaussian)
	for _, steps := range [][]Mechanism{{m}, {m, m}, {m, m, gaussian}, many} {
		loss, err := Compose(steps...)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := loss.EpsilonAt(big.NewRat(1, 1000000))
		if err != nil || bound.Value <= before || bound.Method != MethodPLD {
			t.Errorf("%d steps: %+v, %v; fewer lose %v", len(steps), bound, err, before)
		}
		before = bound.Value
		if converted := ZCDPEpsilon(nearest(loss.Rho()), 1e-6); converted < bound.Value {
			t.Errorf("%d steps: by ρ it is %v, below %v", len(steps), converted, bound.Value)
		}
	}
}
