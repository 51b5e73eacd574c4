package local

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"testing"
)

// mustNew returns the randomiser of ε for so many categories.
func mustNew(t testing.TB, epsilon *big.Rat, categories int64) Randomiser {
	t.Helper()
	r, err := New(epsilon, categories)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// exponential returns e^x between two rationals, by 80 terms of its series. The rest is below twice the next term.
func exponential(x *big.Rat) (low, high *big.Rat) {
	low, term := new(big.Rat), big.NewRat(1, 1)
	for i := int64(1); i <= 80; i++ {
		low.Add(low, term)
		term.Mul(term, new(big.Rat).Quo(x, big.NewRat(i, 1)))
	}
	return low, new(big.Rat).Add(low, term.Add(term, term))
}

// listedReports are the probabilities of all reports by each answer, as a device draws them: it keeps the answer with
// chance p, and fills the report with others, uniformly. Reports are sets of categories, by their bits.
func listedReports(r Randomiser) []map[uint]*big.Rat {
	keep := big.NewRat(r.Keep, chances)
	all := make([]map[uint]*big.Rat, r.Categories)
	for v := range all {
		all[v] = map[uint]*big.Rat{}
		var with, without []uint
		for report := uint(0); report < 1<<r.Categories; report++ {
			switch {
			case bits.OnesCount(report) != int(r.Support):
			case report>>v&1 == 1:
				with = append(with, report)
			default:
				without = append(without, report)
			}
		}
		for _, report := range with {
			all[v][report] = new(big.Rat).Quo(keep, big.NewRat(int64(len(with)), 1))
		}
		lie := new(big.Rat).Sub(big.NewRat(1, 1), keep)
		for _, report := range without {
			all[v][report] = new(big.Rat).Quo(lie, big.NewRat(int64(len(without)), 1))
		}
	}
	return all
}

// checkListed compares the listed reports with an ε, and with the chances of a category to be in a report.
func checkListed(r Randomiser, epsilon, p, q *big.Rat) error {
	all := listedReports(r)
	worst := new(big.Rat)
	for v := range all {
		for u := range all {
			held := new(big.Rat)
			for report, chance := range all[v] {
				if ratio := new(big.Rat).Quo(chance, all[u][report]); ratio.Cmp(worst) > 0 {
					worst = ratio
				}
				if report>>u&1 == 1 {
					held.Add(held, chance)
				}
			}
			if want := map[bool]*big.Rat{true: p, false: q}[u == v]; held.Cmp(want) != 0 {
				return fmt.Errorf("a report of %d holds %d with chance %s, expected %s", v, u, held, want)
			}
		}
	}
	least, most := exponential(epsilon)
	if worst.Cmp(least) > 0 {
		return errors.New("a report costs more than ε")
	}
	if worst.Cmp(most.Mul(most, new(big.Rat).SetFloat64(1-1e-9))) < 0 {
		return errors.New("all reports cost less than ε")
	}
	if worst.Cmp(r.Ratio()) != 0 {
		return fmt.Errorf("the worst ratio is %s, and not %s", worst, r.Ratio())
	}
	return nil
}

func TestReportsCostNoMoreThanTheirEpsilon(t *testing.T) {
	for k := int64(2); k <= 8; k++ {
		for _, text := range []string{"0.05", "0.1", "1/3", "0.5", "1", "2", "4", "10"} {
			epsilon, _ := new(big.Rat).SetString(text)
			r := mustNew(t, epsilon, k)
			p, q := r.Chances()
			if err := checkListed(r, epsilon, p, q); err != nil {
				t.Errorf("k = %d, ε = %s: %v", k, text, err)
			}
			if err := r.Check(epsilon); err != nil {
				t.Errorf("k = %d, ε = %s: %v", k, text, err)
			}
			over := r
			over.Keep += chances / 1_000_000
			overP, overQ := over.Chances()
			if checkListed(over, epsilon, overP, overQ) == nil || over.Check(epsilon) == nil {
				t.Errorf("k = %d, ε = %s: a millionth more truth is not noticed", k, text)
			}
			over = r
			over.Keep += 2
			if over.Check(epsilon) == nil {
				t.Errorf("k = %d, ε = %s: one step of probability too many is not noticed", k, text)
			}
			if wrong := big.NewRat(r.Support, k); checkListed(r, epsilon, p, wrong) == nil {
				t.Errorf("k = %d, ε = %s: a wrong q is not noticed", k, text)
			}
		}
	}
}

// TestChancesAreTheFormulas compares with the formulas for probabilities that are not rounded.
func TestChancesAreTheFormulas(t *testing.T) {
	for _, k := range []int64{2, 3, 10, 100, 1000, 100_000, MaxCategories} {
		for _, epsilon := range []float64{0.05, 0.5, 1, 2, 4, 6, 10} {
			r := mustNew(t, new(big.Rat).SetFloat64(epsilon), k)
			e, n, w := math.Exp(epsilon), float64(k), float64(r.Support)
			p := w * e / (w*e + n - w)
			q := (p*(w-1) + (1-p)*w) / (n - 1)
			gotP, gotQ := r.floats()
			exactP, exactQ := r.Chances()
			if nearP, _ := exactP.Float64(); nearP != gotP {
				t.Errorf("k = %d, ε = %g: p = %g is not the nearest number to %s", k, epsilon, gotP, exactP)
			}
			if nearQ, _ := exactQ.Float64(); nearQ != gotQ {
				t.Errorf("k = %d, ε = %g: q = %g is not the nearest number to %s", k, epsilon, gotQ, exactQ)
			}
			step := 1. / chances
			if math.Abs(gotP-p) > 1e-12*p+step || math.Abs(gotQ-q) > 1e-12*q+step/(n-1) {
				t.Errorf("k = %d, ε = %g: p = %g, q = %g, expected %g, %g", k, epsilon, gotP, gotQ, p, q)
			}
			p, q = gotP, gotQ
			for _, f := range []float64{0, 0.3, 1} {
				v := (f*p*(1-p) + (1-f)*q*(1-q)) / (p - q) / (p - q)
				if math.Abs(r.Variance(f)-v) > 1e-12*v || f == 0 && r.EmptyVariance() != r.Variance(f) {
					t.Errorf("k = %d, ε = %g: variance %g, expected %g", k, epsilon, r.Variance(f), v)
				}
			}
		}
	}
}

// TestVariancesAreTheTable compares with a table that was computed by itself. Randomised response has one category in a
// report.
func TestVariancesAreTheTable(t *testing.T) {
	for _, row := range []struct {
		k        int64
		epsilon  string
		response string
		best     string
		support  int64
	}{
		{2, "1", "0.921", "0.921", 1}, {10, "0.5", "22.9", "12.6", 4}, {10, "1", "3.63", "2.82", 2},
		{10, "2", "0.377", "0.377", 1}, {100, "1", "34.1", "3.59", 27}, {100, "2", "2.58", "0.69", 12},
		{100, "4", "0.0531", "0.0531", 1}, {1000, "1", "339", "3.67", 269}, {1000, "4", "0.366", "0.0739", 18},
		{1000, "6", "0.00865", "0.00782", 2}, {100_000, "2", "2.45e+03", "0.724", 11_920},
	} {
		epsilon, _ := new(big.Rat).SetString(row.epsilon)
		r := mustNew(t, epsilon, row.k)
		one := Randomiser{row.k, 1, keepFor(expDown(epsilon), row.k, 1)}
		if got := fmt.Sprintf("%.3g", one.EmptyVariance()); got != row.response {
			t.Errorf("%+v: randomised response has variance %s", row, got)
		}
		if got := fmt.Sprintf("%.3g", r.EmptyVariance()); got != row.best || r.Support != row.support {
			t.Errorf("%+v: variance %s of %d", row, got, r.Support)
		}
	}
}

func TestNewTakesTheBestSupport(t *testing.T) {
	for _, k := range []int64{2, 3, 4, 5, 7, 10, 30, 101, 400} {
		for epsilon := 0.05; epsilon <= 10; epsilon *= 1.25 {
			exact := new(big.Rat).SetFloat64(epsilon)
			r, e := mustNew(t, exact, k), expDown(exact)
			for w := int64(1); w < k; w++ {
				other := Randomiser{k, w, keepFor(e, k, w)}
				if other.check() == nil && other.EmptyVariance() < r.EmptyVariance() {
					t.Errorf("k = %d, ε = %g: %d is better than %d", k, epsilon, w, r.Support)
				}
			}
		}
	}
}

func TestExponentialIsRoundedAsNamed(t *testing.T) {
	closeTo := new(big.Rat).SetFloat64(1 - 0x1p-53)
	closeTo.Mul(closeTo, closeTo)
	for _, text := range []string{"1e-12", "0.05", "1/3", "1", "2.718281828", "7", "10"} {
		x, _ := new(big.Rat).SetString(text)
		low, high := exponential(x)
		down, up := expDown(x), expUp(x)
		if down.Cmp(low) > 0 || up.Cmp(high) < 0 {
			t.Errorf("e^%s is not between %s and %s", text, down.FloatString(40), up.FloatString(40))
		}
		if down.Cmp(new(big.Rat).Mul(low, closeTo)) < 0 || up.Cmp(new(big.Rat).Quo(high, closeTo)) > 0 {
			t.Errorf("e^%s is further than 2^−52 from %s or %s", text, down.FloatString(40), up.FloatString(40))
		}
	}
}

func TestRandomisersThatAreNone(t *testing.T) {
	for _, c := range []struct {
		epsilon string
		k       int64
	}{{"0", 2}, {"-1", 2}, {"10.0001", 2}, {"1", 1}, {"1", MaxCategories + 1}, {"1e-16", 2}} {
		epsilon, _ := new(big.Rat).SetString(c.epsilon)
		if r, err := New(epsilon, c.k); err == nil {
			t.Errorf("ε = %s, k = %d: %+v", c.epsilon, c.k, r)
		}
	}
	for _, r := range []Randomiser{{}, {2, 1, 0}, {2, 1, chances}, {2, 2, 1}, {2, 0, 1}, {2, 1, chances / 2},
		{4, 1, chances / 5}, {MaxCategories + 1, 1, chances / 2}} {
		if r.Check(big.NewRat(MaxEpsilon, 1)) == nil {
			t.Errorf("%+v passes", r)
		}
	}
}

func TestOneReportMovesTheEstimateByItsInfluence(t *testing.T) {
	for _, k := range []int64{2, 10, 100} {
		c := Count{mustNew(t, big.NewRat(1, 1), k), 3000, 1000, 0}
		p, q := c.floats()
		worst := 3 * math.Max(1-q, q) / (p - q)
		if got := (Weighted{Randomiser: c.Randomiser, Respondents: 3, Reports: 1,
			Weights: []float64{1}}).MostInfluence(); math.Abs(got-worst) > 1e-12*worst {
			t.Errorf("k = %d: %g, expected %g", k, got, worst)
		}
		if step := c.Estimate(1) - c.Estimate(0); !(step <= 2*worst && step >= worst) {
			t.Errorf("k = %d: a report moves an estimate by %g, and its influence is %g", k, step, worst)
		}
	}
}
