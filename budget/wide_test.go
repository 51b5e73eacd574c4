package budget

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// These are mechanisms for sums with very large sensitivities, and as much noise.

// sumStep is noise of one unit's shifts with norms to match.
func sumStep(t *testing.T, kind Kind, amount *big.Rat, shifts ...Shift) Mechanism {
	t.Helper()
	l1, l2Squared := new(big.Int), new(big.Int)
	for _, s := range shifts {
		sum, squares := sumAndSquares(s)
		if sum.Cmp(l1) > 0 {
			l1 = sum
		}
		if squares.Cmp(l2Squared) > 0 {
			l2Squared = squares
		}
	}
	m, err := LaplaceFor(l1, amount)
	if kind == DiscreteGaussian {
		m, err = GaussianFor(l1, l2Squared, amount)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.L2Squared, m.Shifts = l2Squared, shifts
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	return m
}

func deltaAt(t *testing.T, epsilon float64, steps ...Mechanism) float64 {
	t.Helper()
	loss, err := Compose(steps...)
	if err != nil {
		t.Fatal(err)
	}
	return loss.DeltaAt(epsilon).Value
}

// TestWideSumsLoseAsInTheLimit compares with continuous noise: δ(x) = 1 − e^{−(ε−x)/2} for Laplace noise (Balle & Wang
// 2018), and Balle & Wang's formula for Gaussian noise. With a sensitivity of M, discrete noise is within 1/M of it;
// connecting the dots adds at most 1e-6.
func TestWideSumsLoseAsInTheLimit(t *testing.T) {
	for _, m := range []int64{maxLaplaceAtoms + 1, 99_991, 1_000_000, 1 << 40, 1 << 46} {
		tolerance := 1e-6 + 2/float64(m)
		for _, epsilon := range []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 10), big.NewRat(8, 1)} {
			e := nearest(epsilon)
			for _, x := range []float64{0, e / 2, 0.99 * e} {
				got := deltaAt(t, x, sumStep(t, DiscreteLaplace, epsilon, Shift{m}))
				assertRelative(t, fmt.Sprintf("Laplace noise, M = %d, ε = %v, δ(%g)", m, epsilon, x), got,
					-math.Expm1(-(e-x)/2),
					tolerance*(1+e/(e-x)))
				// Half of it in one cell and half in another loses less than all in one.
				both := deltaAt(t, x, sumStep(t, DiscreteLaplace, epsilon, Shift{m}, Shift{m / 2, m / 2}))
				assertRelative(t, fmt.Sprintf("two cells or one, M = %d, ε = %v, δ(%g)", m, epsilon, x), both, got,
					1e-12)
			}
		}
		if m > 1<<45 {
			continue // Gaussian noise on that is beyond 64 bits
		}
		for _, rho := range []*big.Rat{big.NewRat(1, 50), big.NewRat(2, 1)} {
			mu := math.Sqrt(2 * nearest(rho))
			got := deltaAt(t, mu, sumStep(t, DiscreteGaussian, rho, Shift{m}))
			assertRelative(t, fmt.Sprintf("Gaussian noise, M = %d, ρ = %v", m, rho), got,
				Gaussian{Sigma: 1, L2: mu}.Delta(mu),
				1e-5)
		}
	}
}

// TestWideSumsOfSeveralShapes takes shifts of which neither merges into the other: the bound is at least the larger
// loss, and where one is the larger, no more than that but for connecting the dots.
func TestWideSumsOfSeveralShapes(t *testing.T) {
	const m = 1_000_000
	one, two := Shift{3 * m / 2}, Shift{m, m}
	step := sumStep(t, DiscreteLaplace, big.NewRat(2, 1), one, two)
	alone := func(s Shift) Mechanism {
		only := step
		only.Shifts = []Shift{s}
		return only
	}
	for _, x := range []float64{0, 0.1, 0.5, 1, 1.4, 1.9} {
		got, first, second := deltaAt(t, x, step), deltaAt(t, x, alone(one)), deltaAt(t, x, alone(two))
		if least := max(first, second); got < least*(1-1e-9) || got > least*(1+1e-4)+1e-7 {
			t.Errorf("δ(%g) = %.9g, of one %.9g and of two %.9g", x, got, first, second)
		}
	}
	// Of pure ε alone a response at random would remain, which loses far more.
	if got, bound := deltaAt(t, 1, step), (math.Exp(2)-math.Exp(1))/(math.Exp(2)+1); got > 0.9*bound {
		t.Errorf("δ(1) = %g beside %g of what is pure", got, bound)
	}
	// Many coordinates are more work than is done: ε alone is known.
	long := make(Shift, 100)
	for i := range long {
		long[i] = m / 100
	}
	many := sumStep(t, DiscreteLaplace, big.NewRat(2, 1), Shift{m - 5}, long)
	assertRelative(t, "δ(1) of many coordinates", deltaAt(t, 1, many), (math.Exp(2)-math.Exp(1))/(math.Exp(2)+1), 1e-6)
}

// TestWideSumsScale composes sums of several sizes: only the ratio of shift to scale counts, apart from the size of
// steps, a thousandth of the first.
func TestWideSumsScale(t *testing.T) {
	for _, kind := range []Kind{DiscreteLaplace, DiscreteGaussian} {
		var reference float64
		for _, m := range []int64{1000, 10_000, 1_000_003, 1 << 41} {
			var steps []Mechanism
			for i := range int64(5) {
				steps = append(steps, sumStep(t, kind, big.NewRat(i+1, 20), Shift{m + i}))
			}
			loss, err := Compose(steps...)
			if err != nil {
				t.Fatal(err)
			}
			bound, err := loss.EpsilonAt(big.NewRat(1, 1_000_000))
			if err != nil {
				t.Fatal(err)
			}
			if reference == 0 {
				reference = bound.Value
			}
			assertRelative(t, fmt.Sprintf("%s, M = %d", kind, m), bound.Value, reference, 1e-4)
		}
	}
}

// TestCoarseLaplaceDominates compares the profile with δ by the definition, summed over all losses, and asks for what
// makes it one of a pair: masses that add up to 1, under P and under Q.
func TestCoarseLaplaceDominates(t *testing.T) {
	for _, c := range []struct{ scale, d, whole, parts int64 }{
		{1000, 1000, 1000, 8}, {1000, 1000, 1300, 7}, {100, 999, 1024, 16}, {7, 30, 32, 5}, {50, 3, 1000, 64},
		{3, 1, 1, 4},
		{9, 10, 10, 20},
	} {
		a := coarseLaplaceAtoms(big.NewRat(c.scale, 1), c.d, c.whole, c.parts)
		var p, q float64
		for i, m := range a.mass {
			p += m
			q += m * math.Exp(-a.lossAt(i))
		}
		assertRelative(t, fmt.Sprint("P of ", c), p, 1, 1e-12)
		assertRelative(t, fmt.Sprint("Q of ", c), q, 1, 1e-12)
		h := 1 / float64(c.scale)
		for _, x := range []float64{-0.5, 0, 0.3, 0.9, 3} {
			exact, coarse := 0.0, 0.0
			for n := -40 * c.scale; n <= 40*c.scale+c.d; n++ { // the rest is e^−40
				here, there := math.Exp(-math.Abs(float64(n))*h), math.Exp(-math.Abs(float64(n-c.d))*h)
				exact += max(0, here-math.Exp(x)*there) * (1 - math.Exp(-h)) / (1 + math.Exp(-h))
			}
			for i, m := range a.mass {
				coarse += m * max(0, -math.Expm1(x-a.lossAt(i)))
			}
			width := nearest(a.at.unit)
			if coarse < exact-1e-12 || coarse > exact+width*width/4+1e-12 {
				t.Errorf("%v: δ(%g) = %.12g, exactly %.12g", c, x, coarse, exact)
			}
		}
	}
}

func TestShiftsThatMergeAreLeftOut(t *testing.T) {
	for _, c := range []struct{ all, want []Shift }{
		{[]Shift{{4}, {2, 2}}, []Shift{{4}}},
		{[]Shift{{2, 2}, {4}}, []Shift{{4}}},
		{[]Shift{{3}, {2, 2}}, []Shift{{3}, {2, 2}}},
		{[]Shift{{3, 1}, {3, 1}}, []Shift{{3, 1}}},
		{[]Shift{{5, 2}, {2, 2, 2, 1}, {5, 1, 1}}, []Shift{{5, 2}}},
		{[]Shift{{5}}, []Shift{{5}}},
	} {
		if got := withoutMergeable(c.all); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("of %v there remain %v", c.all, got)
		}
	}
}

func BenchmarkWideSums(b *testing.B) {
	for _, kind := range []Kind{DiscreteLaplace, DiscreteGaussian} {
		for _, m := range []int64{1000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/M=%d", kind, m), func(b *testing.B) {
				var steps []Mechanism
				for i := range int64(20) {
					step, err := LaplaceFor(big.NewInt(m+i), big.NewRat(1, 10))
					if kind == DiscreteGaussian {
						step, err = GaussianFor(big.NewInt(m+i), new(big.Int).Mul(big.NewInt(m+i), big.NewInt(m+i)),
							big.NewRat(1, 100))
					}
					if err != nil {
						b.Fatal(err)
					}
					steps = append(steps, step)
				}
				for b.Loop() {
					loss, err := Compose(steps...)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := loss.EpsilonAt(big.NewRat(1, 1_000_000)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
