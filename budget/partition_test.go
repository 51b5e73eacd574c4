package budget

import (
	"math"
	"math/big"
	"testing"
)

// TestKeptPartitionsArePrivateExactly checks the promise for the float64s that are returned, with ε and δ slightly too
// small for their float64s, in exact fractions, for both orders of every two neighbouring counts and both decisions.
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
		if kept, err := s.KeepProbabilities(); err == nil {
			t.Errorf("%+v keeps %d counts", s, len(kept))
		}
	}
}

func TestLeastFitting(t *testing.T) {
	for _, edge := range []float64{5e-324, 1e-30, 0.1, 1, 3e200, math.MaxFloat64} {
		if got := leastFitting(func(x float64) bool { return x >= edge }); got != edge {
			t.Errorf("least from %v on is %v", edge, got)
		}
	}
	never := func(float64) bool { return false }
	if leastFitting(never) != math.Inf(1) || leastFitting(func(float64) bool { return true }) != 0 {
		t.Error("searches without an edge")
	}
	if x := 1 + 0x1p-52; raisedBy(1, 0) != x || loweredBy(1, 0) >= 1 {
		t.Error("raised and lowered")
	}
}
