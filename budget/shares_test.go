package budget

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
)

// laplaceInShares returns discrete Laplace noise for an L1 sensitivity of 1, of which shares are added.
func laplaceInShares(t *testing.T, scale *big.Rat, shares Shares) Mechanism {
	t.Helper()
	m, err := LaplaceFor(big.NewInt(1), new(big.Rat).Inv(scale))
	if err != nil {
		t.Fatal(err)
	}
	if m.Parameter.Cmp(scale) != 0 {
		t.Fatalf("scale %v, expected %v", m.Parameter, scale)
	}
	m.Shares = shares
	return m
}

// negativeBinomialDifference returns P(X = x) for x = 0, 1 … of the difference X of two negative binomial draws of an
// order, by adding up the products of their probabilities.
func negativeBinomialDifference(scale, order float64) []float64 {
	a := math.Exp(-1 / scale)
	one := make([]float64, int(scale*(60+12*order))+60)
	one[0] = math.Pow(-math.Expm1(-1/scale), order)
	for k := 1; k < len(one); k++ {
		one[k] = one[k-1] * a * (order + float64(k-1)) / float64(k)
	}
	out := make([]float64, len(one))
	for x := range out {
		for k := range len(one) - x {
			out[x] += one[k] * one[k+x]
		}
	}
	return out
}

// withinOf returns P(|X| ≤ m) for a law of this kind.
func withinOf(law []float64, m int) float64 {
	sum := law[0]
	for x := 1; x <= m; x++ {
		sum += 2 * law[x]
	}
	return sum
}

// sharesOfTests has K/t of 3/2, 2, 5/2, 10/3 and 5.
var (
	sharesOfTests = []Shares{{2, 3}, {3, 6}, {2, 5}, {3, 10}, {1, 5}}
	scalesOfTests = []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1), big.NewRat(4, 1), big.NewRat(20, 1)}
)

// TestSharesHaveTheirExactLaw compares probabilities, margins and variances with the law itself.
func TestSharesHaveTheirExactLaw(t *testing.T) {
	for _, shares := range sharesOfTests {
		for _, scale := range scalesOfTests {
			m := laplaceInShares(t, scale, shares)
			name := fmt.Sprintf("%v shares of scale %v", shares, scale)
			law := negativeBinomialDifference(nearest(scale), m.Draws())
			var variance float64
			for x, p := range law {
				variance += 2 * p * float64(x) * float64(x)
			}
			if got := m.Variance(); math.Abs(got/variance-1) > 1e-12 {
				t.Errorf("%s: variance %v, by the law %v", name, got, variance)
			}
			s := NewNoiseSum([]NoiseTerm{m.NoiseTerm(1, 1)})
			if !s.Whole() || math.Abs(s.Deviation()/math.Sqrt(variance)-1) > 1e-12 {
				t.Errorf("%s: whole is %v, deviation %v", name, s.Whole(), s.Deviation())
			}
			for _, n := range []int{0, 1, 2, 5, 17, 60} {
				want := withinOf(law, n)
				if got := s.Within(float64(n)); math.Abs(got-want) > 1e-10 {
					t.Errorf("%s: P(|X| ≤ %d) = %v, by the law %v", name, n, got, want)
				}
				if got := m.Above(int64(n)); math.Abs(got-(1-want)/2) > 1e-10 {
					t.Errorf("%s: P(X > %d) = %v, by the law %v", name, n, got, (1-want)/2)
				}
				if got := m.Above(int64(-n - 1)); math.Abs(got-(1+want)/2) > 1e-10 {
					t.Errorf("%s: P(X > %d) = %v, by the law %v", name, -n-1, got, (1+want)/2)
				}
			}
			for _, confidence := range []float64{0.1, 0.5, 0.9, 0.95, 0.999, 1 - 1e-7} {
				least := 0
				for withinOf(law, least) < confidence {
					least++
				}
				margin, attained := m.Margin(confidence)
				if margin != int64(least) || math.Abs(attained-withinOf(law, least)) > 1e-10 {
					t.Errorf("%s: margin %d attaining %v at %v, by the law %d and %v", name, margin, attained,
						confidence, least,
						withinOf(law, least))
				}
			}
			if margin, attained := m.Margin(1); margin != math.MaxInt64 || attained != 1 {
				t.Errorf("%s: a sure margin is %d, attaining %v", name, margin, attained)
			}
		}
	}
}

// TestSumsOfSharesHaveTheirExactLaw adds up noise of several mechanisms, some in shares, with weights.
func TestSumsOfSharesHaveTheirExactLaw(t *testing.T) {
	term := func(weight float64, answers int64, scale *big.Rat, shares Shares) NoiseTerm {
		return laplaceInShares(t, scale, shares).NoiseTerm(weight, answers)
	}
	half, four := big.NewRat(1, 2), big.NewRat(4, 1)
	for name, terms := range map[string][]NoiseTerm{
		"equal weights":       {term(1, 3, four, Shares{2, 3}), term(-1, 1, half, Shares{3, 4})},
		"with a single draw":  {term(1, 1, four, Shares{}), term(1, 2, half, Shares{3, 10})},
		"of multiples":        {term(0.5, 1, four, Shares{2, 5}), term(1.5, 1, half, Shares{2, 3})},
		"less than one draw":  {{0.25, 1. / 3, DiscreteLaplace, 4}, {0.5, 0.7, DiscreteLaplace, 1}},
		"whole, of one scale": {term(0.3, 3, four, Shares{3, 10})},
	} {
		unit := math.Abs(terms[0].Weight)
		if name == "with a single draw" {
			unit = 1
		}
		law := map[int]float64{0: 1}
		for _, one := range terms {
			times, own := int(math.Round(math.Abs(one.Weight)/unit)),
				negativeBinomialDifference(one.Parameter, one.Count)
			next := map[int]float64{}
			for x, p := range law {
				for y, q := range own {
					if q < 1e-17 {
						continue
					}
					next[x+y*times] += p * q
					if y > 0 {
						next[x-y*times] += p * q
					}
				}
			}
			law = next
		}
		within := func(multiple float64) (sum float64) {
			for x, p := range law {
				if math.Abs(float64(x)) <= multiple {
					sum += p
				}
			}
			return sum
		}
		var variance, fourth float64
		for x, p := range law {
			y := float64(x) * unit
			variance, fourth = variance+p*y*y, fourth+p*y*y*y*y
		}
		moments := MomentsOf(terms)
		if math.Abs(moments.Deviation/math.Sqrt(variance)-1) > 1e-9 || math.Abs(moments.fourth/fourth-1) > 1e-9 {
			t.Errorf("%s: moments %v and %v, by the law %v and %v", name, moments.Deviation, moments.fourth,
				math.Sqrt(variance), fourth)
		}
		s := NewNoiseSum(terms)
		for _, multiple := range []float64{0, 1, 4, 11, 40} {
			if got, want := s.Within((multiple+0.1)*unit), within(multiple); math.Abs(got-want) > 1e-10 {
				t.Errorf("%s: P(|S| ≤ %v units) = %v, by the law %v", name, multiple, got, want)
			}
		}
		for _, confidence := range []float64{0.5, 0.95, 0.999} {
			least := 0.0
			for within(least) < confidence {
				least++
			}
			margin, attained := s.Margin(confidence)
			if math.Abs(attained-within(least)) > 1e-10 || margin < least*unit || margin >= (least+1)*unit {
				t.Errorf("%s: margin %v attaining %v at %v, by the law %v and %v", name, margin, attained, confidence,
					least*unit,
					within(least))
			}
		}
	}
}

// TestSumsOfSharesOfUnequalWeights checks a bound of noise with weights that have no common unit: it is near the
// probability for the same weights rounded to a unit.
func TestSumsOfSharesOfUnequalWeights(t *testing.T) {
	terms := func(weight float64) []NoiseTerm {
		return []NoiseTerm{{1, 1.5, DiscreteLaplace, 20}, {weight, 10. / 3, DiscreteLaplace, 20}}
	}
	bound, exact := NewNoiseSum(terms(math.Sqrt2/2)), NewNoiseSum(terms(0.7))
	if bound.unit != 0 || exact.unit == 0 {
		t.Fatalf("units %v and %v", bound.unit, exact.unit)
	}
	for _, deviations := range []float64{0.5, 1, 2, 3} {
		got, want := bound.Within(deviations*bound.Deviation()), exact.Within(deviations*exact.Deviation())
		if math.Abs(got-want) > 2e-3 {
			t.Errorf("within %v deviations: %v, expected about %v", deviations, got, want)
		}
	}
}

// TestSharesOfManyScalesHaveMargins checks that margins are exact for counts from 1.6 on and for scales up to 4000, and
// that others are close to the exact ones of a smaller scale.
func TestSharesOfManyScalesHaveMargins(t *testing.T) {
	exact := func(count, scale float64) bool {
		s := NewNoiseSum([]NoiseTerm{{1, count, DiscreteLaplace, scale}})
		_, _, ok := s.wholeMargin(1 - 1e-9)
		return ok
	}
	for _, scale := range []float64{0.01, 4000, 1e9, 0x1p50} {
		for _, count := range []float64{1.001, 1.25, 1.6, 2, 7.5, 1000} {
			if (count >= 1.6 || scale <= 4000) && !exact(count, scale) {
				t.Errorf("the margin of %v draws of scale %v is not exact", count, scale)
			}
		}
	}
	for _, shares := range []Shares{{999, 1000}, {3, 4}, {2, 3}, {1, 1000}} {
		small := laplaceInShares(t, big.NewRat(4000, 1), shares)
		for _, wide := range []int64{1 << 13, 1 << 50} {
			m := laplaceInShares(t, big.NewRat(wide, 1), shares)
			for _, confidence := range []float64{0.95, 0.9999} {
				margin, attained := m.Margin(confidence)
				least, _ := small.Margin(confidence)
				ratio, deviations := float64(margin)/float64(least)*4000/float64(wide),
					float64(margin)/math.Sqrt(m.Variance())
				if ratio < 1-1e-3 || (ratio-1)*deviations > 2e-3 || attained < confidence-1e-11 {
					t.Errorf("%v shares of scale %d: margin %d attaining %v at %v, %v times that of 4000", shares,
						wide, margin,
						attained, confidence, ratio)
				}
			}
		}
	}
}

// TestSharesHaveOneJSONForm reads and writes mechanisms with shares, and checks that others are written as ever.
func TestSharesHaveOneJSONForm(t *testing.T) {
	m := laplaceInShares(t, big.NewRat(4, 1), Shares{2, 3})
	const without = `"kind":"discrete-laplace","parameter":"4","l1":"1","l2_squared":"1"`
	data, err := json.Marshal(m)
	if want := `{` + without + `,"shares":{"needed":2,"added":3}}`; err != nil || string(data) != want {
		t.Fatalf("%s, %v; want %s", data, err, want)
	}
	var back Mechanism
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, m) {
		t.Errorf("read back %+v, %v", back, err)
	}
	m.Shares = Shares{}
	if data, err := json.Marshal(m); err != nil || string(data) != `{`+without+`}` {
		t.Errorf("without shares: %s, %v", data, err)
	}
	for _, bad := range []string{`{}`, `{"needed":0,"added":0}`, `{"needed":2}`, `{"needed":2,"added":3,"of":4}`, `2`,
		`{"needed":3,"added":2}`, `{"needed":1.5,"added":2}`, `{"needed":-1,"added":2}`, `{"needed":1,"added":1001}`} {
		if err := json.Unmarshal([]byte(`{`+without+`,"shares":`+bad+`}`), new(Mechanism)); err == nil {
			t.Errorf("shares %s were read without an error", bad)
		}
	}
}

func TestSharesAreRefused(t *testing.T) {
	laplace := laplaceInShares(t, big.NewRat(4, 1), Shares{})
	gaussian, err := GaussianFor(big.NewInt(1), big.NewInt(1), big.NewRat(1, 10))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m      Mechanism
		shares Shares
		says   string
	}{
		{laplace, Shares{0, 3}, "1 or more must be needed"}, {laplace, Shares{3, 2}, "not 3 and 2"},
		{laplace, Shares{-1, 3}, "1 or more"}, {laplace, Shares{1, 1001}, "up to 1000"},
		{laplace, Shares{2, 0}, "as many"},
		{gaussian, Shares{1, 2}, "from 16 to 2^80"},
		{Mechanism{Kind: PermuteAndFlip, Parameter: big.NewRat(1, 1)}, Shares{1, 2},
			"only noise of the discrete Laplace"},
	} {
		c.m.Shares = c.shares
		if err := c.m.Validate(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v shares of %s: %v, expected %q", c.shares, c.m.Kind, err, c.says)
		}
		if c.m.Variance() != 0 {
			t.Errorf("%v shares of %s: an error of what does not validate", c.shares, c.m.Kind)
		}
	}
	for _, shares := range []Shares{{1, 1}, {1, 1000}, {1000, 1000}} {
		laplace.Shares = shares
		if err := laplace.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// TestSharesLeaveTheLossAlone compares every accountant's result with and without shares.
func TestSharesLeaveTheLossAlone(t *testing.T) {
	plain := laplaceInShares(t, big.NewRat(4, 1), Shares{})
	shared := laplaceInShares(t, big.NewRat(4, 1), Shares{2, 7})
	a, errA := plain.Epsilon()
	b, errB := shared.Epsilon()
	if errA != nil || errB != nil || a.Cmp(b) != 0 || plain.Rho().Cmp(shared.Rho()) != 0 ||
		plain.Price().Cmp(shared.Price()) != 0 {
		t.Errorf("ε %v and %v, ρ %v and %v", a, b, plain.Rho(), shared.Rho())
	}
	if plain.identityText() != shared.identityText() {
		t.Error("accountants distinguish shares")
	}
	one, errOne := Compose(plain, plain, plain)
	two, errTwo := Compose(shared, plain, shared)
	if errOne != nil || errTwo != nil {
		t.Fatal(errOne, errTwo)
	}
	want, _ := one.composedEpsilon(1e-6, usual) // not what was remembered
	if got, _ := two.composedEpsilon(1e-6, usual); got != want {
		t.Errorf("ε at δ = 1e-6 is %v in shares, expected %v", got, want)
	}
}

// TestAsManySharesAsNeededAreOneDraw checks that shares change nothing if no more are added than needed.
func TestAsManySharesAsNeededAreOneDraw(t *testing.T) {
	plain, drawn := laplaceInShares(t, big.NewRat(4, 1), Shares{}), laplaceInShares(t, big.NewRat(4, 1), Shares{4, 4})
	want, attains := plain.Margin(0.95)
	if got, attained := drawn.Margin(0.95); got != want || attained != attains ||
		drawn.Variance() != plain.Variance() ||
		drawn.Above(7) != plain.Above(7) || drawn.LeastAbove(1e-9) != plain.LeastAbove(1e-9) {
		t.Errorf("margin %d attaining %v, expected %d and %v", got, attained, want, attains)
	}
}

// TestGaussianSharesAddUp convolves the law of a share with itself. With σ² of 16 in each, the sum of up to 12 shares
// is discrete Gaussian noise to the last digits, and its variance is what the mechanism says; with σ² of ⅓ it is not.
func TestGaussianSharesAddUp(t *testing.T) {
	for _, shares := range []Shares{{1, 1}, {2, 3}, {3, 3}, {5, 12}} {
		m, err := GaussianFor(big.NewInt(1), big.NewInt(1), big.NewRat(1, int64(32*shares.Needed)))
		if err != nil {
			t.Fatal(err)
		}
		m.Shares = shares
		whole := float64(LeastGaussianShare * shares.Added)
		if got := m.Variance(); math.Abs(got/whole-1) > 1e-12 {
			t.Errorf("%v: variance %g, expected %g", shares, got, whole)
		}
		if worst := worstSum(LeastGaussianShare, shares.Added, whole); worst > 1e-13 {
			t.Errorf("%v: a probability is off by %g", shares, worst)
		}
		if worst := worstSum(1.0/3, shares.Added, float64(shares.Added)/3); shares.Added > 1 && worst < 1e-4 {
			t.Errorf("%v of σ² = 1/3: a probability is off by no more than %g", shares, worst)
		}
		if least, _ := m.Margin(.95); math.Abs(float64(least)-1.96*math.Sqrt(whole)) > 1 {
			t.Errorf("%v: a margin of %d, for noise of variance %g", shares, least, whole)
		}
	}
}

// worstSum returns the largest difference between the probabilities of a sum of discrete Gaussian numbers and of one.
func worstSum(each float64, summands int, whole float64) (worst float64) {
	const reach = 400
	law := func(variance float64) []float64 {
		p, sum := make([]float64, 2*reach+1), 0.0
		for i := range p {
			x := float64(i - reach)
			p[i] = math.Exp(-x * x / (2 * variance))
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	one, total := law(each), law(each)
	for range summands - 1 {
		next := make([]float64, 2*reach+1)
		for i := range next {
			for k := max(0, i-reach); k <= min(2*reach, i+reach); k++ {
				next[i] += total[k] * one[i-k+reach]
			}
		}
		total = next
	}
	for i, p := range law(whole) {
		worst = max(worst, math.Abs(p-total[i]))
	}
	return worst
}
