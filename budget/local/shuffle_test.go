package local

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// mustShuffle returns ε of shuffled reports, of texts of fractions.
func mustShuffle(t testing.TB, epsilon string, honest int64, delta string) float64 {
	t.Helper()
	e, _ := new(big.Rat).SetString(epsilon)
	d, _ := new(big.Rat).SetString(delta)
	got, err := Shuffled(e, honest, d)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestShuffledReportsAreTheTable compares with a table that was computed by itself, for δ = 10^−6.
func TestShuffledReportsAreTheTable(t *testing.T) {
	for _, row := range []struct {
		honest        int64
		epsilon, want string
	}{
		{1000, "0.5", "0.0705"}, {1000, "1", "0.182"}, {1000, "2", "0.545"}, {1000, "3", "1.26"},
		{1000, "4", "3.99"}, {10_000, "0.5", "0.0204"}, {10_000, "1", "0.053"}, {10_000, "2", "0.155"},
		{10_000, "3", "0.321"}, {10_000, "4", "0.601"},
		{100_000, "1", "0.0153"}, {100_000, "2", "0.045"},
	} {
		if got := fmt.Sprintf("%.3g", mustShuffle(t, row.epsilon, row.honest, "1e-6")); got != row.want {
			t.Errorf("%d reports, ε₀ = %s: ε = %s, expected %s", row.honest, row.epsilon, got, row.want)
		}
	}
}

// precise returns a number with 240 bits.
func precise(x float64) *big.Float { return new(big.Float).SetPrec(240).SetFloat64(x) }

func product(all ...*big.Float) *big.Float {
	out := precise(1)
	for _, x := range all {
		out.Mul(out, x)
	}
	return out
}

// powers returns x^0, …, x^(n−1).
func powers(x *big.Float, n int64) []*big.Float {
	all := []*big.Float{precise(1)}
	for int64(len(all)) < n {
		all = append(all, product(all[len(all)-1], x))
	}
	return all
}

// listedDivergence returns the hockey-stick divergences of the two pairs of counts, in both orders, at e^ε = E: over
// every number of clones C and every A, with 240 bits.
func listedDivergence(ratio, bigE *big.Float, honest int64) (forth, back *big.Float) {
	one := precise(1)
	truth := new(big.Float).Quo(ratio, new(big.Float).Add(ratio, one))
	lie := new(big.Float).Sub(one, truth)
	clone := new(big.Float).Quo(one, ratio)
	other := new(big.Float).Sub(one, clone)
	forth, back = precise(0), precise(0)
	clones, nonClones, halves := powers(clone, honest), powers(other, honest), powers(precise(0.5), honest)
	choose := func(n, k int64) *big.Float { return precise(0).SetInt(new(big.Int).Binomial(n, k)) }
	for c := int64(0); c < honest; c++ {
		weight := product(choose(honest-1, c), clones[c], nonClones[honest-1-c], halves[c])
		for first := int64(0); first <= c+1; first++ { // the first count; the second is c + 1 less it
			with, without := choose(c, first-1), choose(c, first) // A = first − 1, and A = first
			if first == 0 {
				with = precise(0)
			}
			p := product(weight, new(big.Float).Add(product(truth, with), product(lie, without)))
			q := product(weight, new(big.Float).Add(product(lie, with), product(truth, without)))
			if d := new(big.Float).Sub(p, product(bigE, q)); d.Sign() > 0 {
				forth.Add(forth, d)
			}
			if d := new(big.Float).Sub(q, product(bigE, p)); d.Sign() > 0 {
				back.Add(back, d)
			}
		}
	}
	return forth, back
}

// preciseExp returns e^x between two numbers.
func preciseExp(x *big.Rat) (low, high *big.Float) {
	below, above := exponential(x)
	return precise(0).SetRat(below), precise(0).SetRat(above)
}

// TestShuffledIsTheLeastEpsilon compares with the divergence that is listed: it is at most δ at the ε that is returned,
// and above δ where ε is less by 10^−9 of it.
func TestShuffledIsTheLeastEpsilon(t *testing.T) {
	for _, c := range []struct {
		honest         int64
		epsilon, delta string
	}{
		{1, "1", "1e-6"}, {1, "10", "0.3"}, {2, "1/3", "1e-3"}, {3, "4", "1e-9"}, {7, "0.05", "1e-4"},
		{20, "1", "1e-12"},
		{50, "2", "0.01"}, {51, "0.5", "1e-6"}, {100, "1", "1e-6"}, {120, "3", "1e-10"}, {150, "0.01", "1e-5"},
		{200, "1", "1e-3"}, {200, "1", "1e-30"}, {200, "2", "1e-90"}, {200, "10", "1e-8"}, {200, "6", "0.9"},
		{199, "0.001", "0.0001"},
	} {
		exact, _ := new(big.Rat).SetString(c.epsilon)
		delta, _ := new(big.Rat).SetString(c.delta)
		got := mustShuffle(t, c.epsilon, c.honest, c.delta)
		if got < 0 || got > floatUp(exact) {
			t.Errorf("%+v: ε = %g", c, got)
		}
		ratio, _ := preciseExp(exact)
		bound := precise(0).SetRat(delta)
		low, _ := preciseExp(new(big.Rat).SetFloat64(got))
		if forth, back := listedDivergence(ratio, low, c.honest); got < floatUp(exact) &&
			(forth.Cmp(bound) > 0 || back.Cmp(bound) > 0) {
			t.Errorf("%+v: at ε = %.17g, δ is %g and %g", c, got, forth, back)
		}
		if got == 0 {
			continue
		}
		_, less := preciseExp(new(big.Rat).SetFloat64(got * (1 - 1e-9)))
		if forth, _ := listedDivergence(ratio, less, c.honest); forth.Cmp(bound) <= 0 {
			t.Errorf("%+v: at an ε below %.17g, δ is %g", c, got, forth)
		}
	}
}

// TestShuffledBoundsRealReports lists the multisets of randomised responses of three categories, when the respondent
// has the first or the second, for every mixture of the others. Their divergence must be at most δ.
func TestShuffledBoundsRealReports(t *testing.T) {
	for _, epsilon := range []string{"0.5", "1", "2.5"} {
		exact, _ := new(big.Rat).SetString(epsilon)
		p := float64(keepFor(expDown(exact), 3, 1)) / chances
		for _, honest := range []int{1, 2, 6, 14} {
			for _, delta := range []float64{0.1, 0.01, 1e-4} {
				e := math.Exp(mustShuffle(t, epsilon, int64(honest), fmt.Sprint(delta)))
				for firsts := 0; firsts < honest; firsts++ {
					for seconds := 0; firsts+seconds < honest; seconds++ {
						others := []int{firsts, seconds, honest - 1 - firsts - seconds}
						if got := realDivergence(p, e, others); got > delta {
							t.Errorf("ε₀ = %s, δ = %g, others %v: %g", epsilon, delta, others, got)
						}
					}
				}
			}
		}
	}
}

// realDivergence returns the larger hockey-stick divergence of the shuffled reports of the others and of a respondent
// with the first or the second category.
func realDivergence(p, e float64, others []int) float64 {
	law := map[[2]int]float64{{}: 1} // of the reports of the first and of the second category
	add := func(law map[[2]int]float64, answer int) map[[2]int]float64 {
		next := map[[2]int]float64{}
		for counts, m := range law {
			for report := range 3 {
				chance := (1 - p) / 2
				if report == answer {
					chance = p
				}
				to := counts
				if report < 2 {
					to[report]++
				}
				next[to] += m * chance
			}
		}
		return next
	}
	for answer, n := range others {
		for range n {
			law = add(law, answer)
		}
	}
	a, b := add(law, 0), add(law, 1)
	var forth, back float64
	for counts := range a {
		forth += math.Max(0, a[counts]-e*b[counts])
		back += math.Max(0, b[counts]-e*a[counts])
	}
	return math.Max(forth, back)
}

func TestShuffledIsMonotone(t *testing.T) {
	last := 2.0
	for honest := int64(1); honest <= 1<<24; honest *= 4 {
		got := mustShuffle(t, "2", honest, "1e-8")
		if got > last {
			t.Errorf("%d reports: %g, and %g of fewer", honest, got, last)
		}
		last = got
	}
	last = 0
	for _, epsilon := range []string{"0.001", "0.1", "0.5", "1", "2", "4", "6", "8", "10"} {
		got := mustShuffle(t, epsilon, 30_000, "1e-8")
		if got < last {
			t.Errorf("ε₀ = %s: %g, and %g of less", epsilon, got, last)
		}
		last = got
	}
	last = 1
	for _, delta := range []string{"1e-99", "1e-50", "1e-12", "1e-6", "0.001", "0.5"} {
		got := mustShuffle(t, "1", 30_000, delta)
		if got > last || delta != "0.5" && got == 0 {
			t.Errorf("δ = %s: %g, and %g of a smaller one", delta, got, last)
		}
		last = got
	}
	if last != 0 {
		t.Errorf("with δ = ½, ε is %g", last)
	}
}

func TestShuffledAtTheEdges(t *testing.T) {
	for _, epsilon := range []string{"0.0001", "1", "10"} {
		exact, _ := new(big.Rat).SetString(epsilon)
		most := floatUp(exact)
		if got := mustShuffle(t, epsilon, 1, "1e-20"); got > most || got < most*(1-1e-12) {
			t.Errorf("one report of ε₀ = %s: %g", epsilon, got)
		}
		if got := mustShuffle(t, epsilon, 1_000_000, "1e-101"); got != most {
			t.Errorf("ε₀ = %s, next to no δ: %g", epsilon, got)
		}
	}
	if mustShuffle(t, "10", 1<<40, "1e-9") != mustShuffle(t, "10", mostHonest, "1e-9") {
		t.Error("more than 2^30 reports are not counted as so many")
	}
	for _, c := range []struct {
		epsilon, delta string
		honest         int64
	}{{"0", "1e-6", 10}, {"-1", "1e-6", 10}, {"10.1", "1e-6", 10}, {"1", "0", 10}, {"1", "1", 10}, {"1", "-1", 10},
		{"1", "1e-6", 0}} {
		e, _ := new(big.Rat).SetString(c.epsilon)
		d, _ := new(big.Rat).SetString(c.delta)
		if got, err := Shuffled(e, c.honest, d); err == nil {
			t.Errorf("%+v: %g", c, got)
		}
	}
}

// TestShuffledHasTheSameBitsEverywhere pins results that were computed on amd64.
func TestShuffledHasTheSameBitsEverywhere(t *testing.T) {
	for _, c := range []struct {
		epsilon string
		honest  int64
		want    float64
	}{{"1", 1000, 0x1.01bea89d0aca1p-02}, {"0.3", 100_000, 0x1.3e9eb37db0951p-08},
		{"4", 5_000_000, 0x1.f4efbe973445p-06}} {
		if got := mustShuffle(t, c.epsilon, c.honest, "1e-9"); got != c.want {
			t.Errorf("%+v: %x", c, got)
		}
	}
}

func BenchmarkShuffled(b *testing.B) {
	for _, honest := range []int64{1e4, 1e6, 1e7, 1 << 30} {
		b.Run(fmt.Sprint(honest), func(b *testing.B) {
			for b.Loop() {
				mustShuffle(b, "1", honest, "1e-8")
			}
		})
	}
}
