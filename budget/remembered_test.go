package budget

import (
	"math/big"
	"testing"
)

// If any part of a mechanism, the number of runs, the order, the sample or δ differs, no remembered answer is used in
// its place; and a remembered answer equals, to the last bit, the one computed without memory.
func TestRememberedLossesAreTheirOwn(t *testing.T) {
	gaussian := func(sigmaSquared, l1, l2 int64, shifts ...Shift) Mechanism {
		return Mechanism{Kind: DiscreteGaussian, Parameter: big.NewRat(sigmaSquared, 1), L1: big.NewInt(l1),
			L2Squared: big.NewInt(l2), Shifts: shifts}
	}
	laplace := Mechanism{Kind: DiscreteLaplace, Parameter: big.NewRat(50, 1), L1: big.NewInt(1),
		L2Squared: big.NewInt(1)}
	lists := [][]Mechanism{
		{gaussian(50, 1, 1)}, {gaussian(51, 1, 1)}, {laplace}, {gaussian(50, 1, 1), gaussian(50, 1, 1)},
		{gaussian(50, 1, 1), laplace},
		{laplace, gaussian(50, 1, 1)}, {gaussian(50, 2, 2)}, {gaussian(50, 2, 4)}, {gaussian(50, 2, 4, Shift{2})},
		{gaussian(50, 2, 4, Shift{1, 1})},
	}
	none := gaussian(50, 2, 4)
	none.Shifts = []Shift{} // no loss is made of it, so its identity is asked for by itself
	if identityOf([]repeated{{none, 1, 0}}) == identityOf([]repeated{{gaussian(50, 2, 4), 1, 0}}) {
		t.Error("an empty list of shifts is taken for none")
	}
	deltas := []*big.Rat{big.NewRat(1, 1000), big.NewRat(1, 1000000)}
	identities := map[identity]int{}
	for i, list := range lists {
		loss, err := Compose(list...)
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := identities[loss.identity]; ok {
			t.Errorf("%v and %v are taken for one", list, lists[j])
		}
		identities[loss.identity] = i
		anew := loss
		anew.identity = identity{}
		sampled, err := loss.Sampled(big.NewRat(1, 2))
		if err != nil {
			t.Fatal(err)
		}
		for _, delta := range deltas {
			want := anew.numericalEpsilon(roundDown(delta))
			for range 2 {
				if got := loss.numericalEpsilon(roundDown(delta)); got != want {
					t.Errorf("%v at %v: %v is remembered, and it is %v", list, delta, got, want)
				}
			}
			whole, err := loss.EpsilonAt(delta)
			if err != nil {
				t.Fatal(err)
			}
			if part, err := sampled.EpsilonAt(delta); err != nil || !(part.Value < whole.Value) {
				t.Errorf("%v at %v: %v of a sample, %v of all (%v)", list, delta, part.Value, whole.Value, err)
			}
		}
	}
}

func TestAnswersAreForgottenWhenThereAreMany(t *testing.T) {
	a := memory[question, float64]{capacity: maxRemembered, size: func(float64) int { return 1 }}
	asked := 0
	for i := range maxRemembered + 1 {
		for range 2 {
			got := a.getOrCompute(question{at: float64(i)}, func() float64 { asked++; return float64(i) })
			if got != float64(i) {
				t.Fatalf("the answer to question %d is %v", i, got)
			}
		}
	}
	if asked != maxRemembered+1 || len(a.values) != 1 {
		t.Errorf("%d answers were worked out, %d are kept", asked, len(a.values))
	}
}
