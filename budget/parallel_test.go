package budget

import (
	"math"
	"math/big"
	"testing"
)

func partsOf(t *testing.T, epsilons ...string) []Loss {
	t.Helper()
	parts := make([]Loss, len(epsilons))
	for i, epsilon := range epsilons {
		parts[i] = mustCompose(t, laplaceStep(t, epsilon))
	}
	return parts
}

func TestDisjointPartsCostTheWorst(t *testing.T) {
	parts := partsOf(t, "1/4", "1", "1/2", "1/8")
	for _, c := range []struct {
		groups         int
		replace        bool
		epsilon, twice string // ε, and 2ρ
	}{
		{1, false, "1", "1"},
		{2, false, "3/2", "5/4"},
		{1, true, "3/2", "5/4"}, // left one part, entered another
		{2, true, "15/8", "85/64"},
		{0, false, "15/8", "85/64"}, // one unit in every part
		{4, false, "15/8", "85/64"},
		{9, false, "15/8", "85/64"},
	} {
		p := Parallel{Parts: parts, Groups: c.groups, Replace: c.replace}
		if got := FormatRat(p.Epsilon()); got != c.epsilon {
			t.Errorf("%+v: ε = %s, want %s", c, got, c.epsilon)
		}
		if got := FormatRat(new(big.Rat).Mul(p.Rho(), big.NewRat(2, 1))); got != c.twice {
			t.Errorf("%+v: 2ρ = %s, want %s", c, got, c.twice)
		}
	}
}

// TestOneUnitInEveryPartCostsMore puts one unit into every part: the loss must
// rise from that of the worst part to that of their composition.
func TestOneUnitInEveryPartCostsMore(t *testing.T) {
	var parts []Loss
	var all []Mechanism
	for _, rho := range []string{"1/8", "1/4", "1/8"} {
		step := gaussianStep(t, rho)
		parts, all = append(parts, mustCompose(t, step)), append(all, step)
	}
	delta := mustRat(t, "1e-6")
	epsilonOf := func(groups int) float64 {
		bound, err := Parallel{Parts: parts, Groups: groups}.EpsilonAt(delta)
		if err != nil {
			t.Fatal(err)
		}
		return bound.Value
	}
	worst, err := parts[1].EpsilonAt(delta)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := mustCompose(t, all...).EpsilonAt(delta)
	if err != nil {
		t.Fatal(err)
	}
	if got := epsilonOf(1); got != worst.Value {
		t.Errorf("disjoint: ε = %v, want %v", got, worst.Value)
	}
	if got := epsilonOf(0); math.Abs(got-whole.Value) > 1e-12 {
		t.Errorf("one unit in every part: ε = %v, want %v", got, whole.Value)
	}
	if got := epsilonOf(2); got <= worst.Value || got > whole.Value {
		t.Errorf("one unit in two parts: ε = %v, want between %v and %v", got, worst.Value, whole.Value)
	}
}
