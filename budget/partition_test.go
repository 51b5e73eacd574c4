package budget

import (
	"math"
	"math/big"
	"testing"
)

// TestKeptPartitionsArePrivateExactly checks the promise on the very float64s that
// are returned: with an ε and a δ a hair too small for their float64s, in exact
// fractions, both orders of every two neighbouring counts and both decisions.
func TestKeptPartitionsArePrivateExactly(t *testing.T) {
	for _, s := range []PartitionSelection{
		{1, 1e-5, 1}, {0.1, 1e-9, 1}, {math.Ln2, 0.1, 1}, {50, 1e-200, 1}, {5, 1e-3, 1}, {1e-3, 1e-3, 1}, {1, 1, 1},
		{800, 1e-9, 1}, {0.7, 1e-6, 7},
	} {
		kept, err := s.KeepProbabilities()
		if err != nil {
			t.Fatal(err)
		}
		epsilon, delta := s.Epsilon, exactly(s.Delta)
		if s.MaxPartitions > 1 {
			e, d := s.perPartition()
			epsilon, delta = e, exactly(d)
		}
		grow, _ := referenceExp(bigFloat(math.Min(epsilon, 700))).Rat(nil) // 320 bits: below 2⁻²⁸⁰ off
		for n := 1; n < len(kept); n++ {
			a, b := exactly(kept[n-1]), exactly(kept[n])
			one := big.NewRat(1, 1)
			notA, notB := new(big.Rat).Sub(one, a), new(big.Rat).Sub(one, b)
			for _, pair := range [][2]*big.Rat{{a, b}, {b, a}, {notA, notB}, {notB, notA}} {
				limit := new(big.Rat).Mul(grow, pair[1])
				if pair[0].Cmp(limit.Add(limit, delta)) > 0 {
					t.Fatalf("%+v: keeping %d and %d ids with %v and %v breaks ε, δ", s, n-1, n, kept[n-1], kept[n])
				}
			}
		}
		if last := kept[len(kept)-1]; last < 1-0x1p-53 {
			t.Errorf("%+v: ends at %v", s, last)
		}
		for _, n := range []int64{0, 1, 2, int64(len(kept)) / 2, int64(len(kept)) - 1, int64(len(kept)) + 5, 1 << 60} {
			if got, want := s.KeepProbability(n), kept[min(n, int64(len(kept))-1)]; got != want {
				t.Errorf("%+v: KeepProbability(%d) = %v, the list has %v", s, n, got, want)
			}
		}
	}
}

// TestKeptPartitionsAreTheClosedForm compares with the closed form of the optimum,
// which the recurrence does not use.
func TestKeptPartitionsAreTheClosedForm(t *testing.T) {
	for _, s := range []PartitionSelection{{1, 1e-5, 1}, {0.1, 1e-9, 1}, {2.5, 1e-12, 1}, {0.01, 1e-4, 1}} {
		e, d := s.Epsilon, s.Delta
		turn := 1 + math.Floor(math.Log((1+math.Exp(-e)*(2*d-1))/(d*(1+math.Exp(-e))))/e)
		rising := func(n float64) float64 { return d * math.Expm1(n*e) / math.Expm1(e) }
		kept, err := s.KeepProbabilities()
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range kept {
			n := float64(i)
			want := rising(n)
			if m := n - turn; m > 0 {
				want = math.Min(1, 1-math.Exp(-m*e)*(1-rising(turn))+d*math.Exp(-e)*math.Expm1(-m*e)/math.Expm1(-e))
			}
			if math.Abs(got-want) > 1e-10*want || got > want*(1+1e-10) {
				t.Fatalf("%+v: π(%d) = %v, the closed form gives %v", s, i, got, want)
			}
		}
	}
}

func TestSelectionsThatAreNone(t *testing.T) {
	for _, s := range []PartitionSelection{{0, 0.1, 1}, {1, 0, 1}, {1, 1.5, 1}, {-1, 0.1, 1}, {math.NaN(), 0.1, 1},
		{1, math.NaN(), 1}, {1, 0.1, 0}, {1e-9, 1e-9, 1}, {1, 1e-9, 1 << 40}} {
		if kept, err := s.KeepProbabilities(); err == nil || s.KeepProbability(1000) != 0 {
			t.Errorf("%+v keeps %d counts", s, len(kept))
		}
	}
}

// TestThresholdsHideASingleUnit works out the chance that a unit alone in all its
// groups shows, and that a slightly lower threshold would not do.
func TestThresholdsHideASingleUnit(t *testing.T) {
	for _, groups := range []int64{1, 2, 17} {
		for _, each := range []int64{1, 6} {
			for _, delta := range []float64{1e-14, 1e-6, 0.02, 0.4, 0.9} {
				shows := func(tail func(threshold float64) float64, threshold float64) float64 {
					return -math.Expm1(float64(groups) * math.Log1p(-tail(threshold-float64(each))))
				}
				scale := float64(groups*each) / 1.5
				laplace := func(x float64) float64 {
					if x < 0 {
						return 1 - math.Exp(x/scale)/2
					}
					return math.Exp(-x/scale) / 2
				}
				assertHides(t, "Laplace", func(x float64) float64 { return shows(laplace, x) },
					LaplaceThreshold(groups, each, 1.5, delta), 1e-9, delta)
				gaussian := func(x float64) float64 { return math.Erfc(x/3/math.Sqrt2) / 2 }
				assertHides(t, "Gaussian", func(x float64) float64 { return shows(gaussian, x) },
					GaussianThreshold(groups, each, 3, delta), 1e-9, delta)
				a := math.Exp(-1 / scale)
				discrete := func(x float64) float64 { return math.Pow(a, x) / (1 + a) }
				threshold, ok := DiscreteLaplaceThreshold(groups, each, 1.5, delta)
				if !ok || threshold < each {
					t.Fatalf("discrete threshold %d, %v", threshold, ok)
				}
				least := 1.0
				if threshold == each {
					least = 0 // it starts there
				}
				assertHides(t, "discrete Laplace", func(x float64) float64 { return shows(discrete, x) }, float64(threshold), least,
					delta)
			}
		}
	}
}

// assertHides checks that the chance is at most δ at the threshold, and above it a
// step further down (none for 0).
func assertHides(t *testing.T, what string, shows func(threshold float64) float64, threshold, step, delta float64) {
	t.Helper()
	// The chance is worked out here to 1e-12 or so.
	if got := shows(threshold); got > delta*(1+1e-9) {
		t.Errorf("%s: a single unit shows with %v > %v", what, got, delta)
	}
	if got := shows(threshold - step*math.Max(1, math.Abs(threshold))); step == 1e-9 && got < delta*(1-1e-6) ||
		step == 1 && shows(threshold-1) <= delta {
		t.Errorf("%s: threshold %v is not least for %v: %v", what, threshold, delta, got)
	}
}

func TestThresholdsAtTheEdges(t *testing.T) {
	inf := math.Inf(1)
	if LaplaceThreshold(1, 1, 0, 0.1) != inf || LaplaceThreshold(1, 1, 1, 0) != inf ||
		LaplaceThreshold(0, 1, 1, 0.1) != inf || LaplaceThreshold(1, 1, 1, 1) != -inf ||
		GaussianThreshold(1, 1, -1, 0.1) != inf || GaussianThreshold(1, 1, 1, 0) != inf ||
		GaussianThreshold(1, 1, 1, 1) != -inf || GaussianThreshold(1, 1, math.NaN(), 0.1) != inf {
		t.Error("thresholds of what is no noise, or of no δ")
	}
	for _, c := range []struct{ epsilon, delta float64 }{{0, 0.1}, {1, 0}, {1e-20, 1e-9}, {math.NaN(), 0.1}} {
		if threshold, ok := DiscreteLaplaceThreshold(1, 1, c.epsilon, c.delta); ok {
			t.Errorf("ε %v, δ %v: %d", c.epsilon, c.delta, threshold)
		}
	}
	if threshold, ok := DiscreteLaplaceThreshold(1, 5, 1, 1); !ok || threshold != 5 {
		t.Errorf("at δ = 1: %d", threshold)
	}
}

func TestLeastAndGreatestFitting(t *testing.T) {
	for _, edge := range []float64{5e-324, 1e-30, 0.1, 1, 3e200, math.MaxFloat64} {
		if got := leastFitting(func(x float64) bool { return x >= edge }); got != edge {
			t.Errorf("least from %v on is %v", edge, got)
		}
		if got := greatestFitting(func(x float64) bool { return x <= edge }); got != edge {
			t.Errorf("greatest up to %v is %v", edge, got)
		}
	}
	never := func(float64) bool { return false }
	if leastFitting(never) != math.Inf(1) || greatestFitting(never) != 0 ||
		leastFitting(func(float64) bool { return true }) != 0 {
		t.Error("searches without an edge")
	}
	if x := 1 + 0x1p-52; raised(1, 0) != x || lowered(1, 0) >= 1 {
		t.Error("raised and lowered")
	}
}
