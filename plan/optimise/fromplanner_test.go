package optimise_test

import (
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/optimise"
	"pgregory.net/rapid"
)

// The ε of a choice is the largest multiple of 2⁻²⁴ whose ρ is within the amount.
func TestChoicesAreRoundedDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rho := new(big.Rat).SetFrac64(rapid.Int64Range(1, 1<<40).Draw(t, "numerator"),
			rapid.Int64Range(1, 1<<40).Draw(t, "denominator"))
		m, err := optimise.ChoiceFor(rho)
		step := big.NewRat(1, 1<<24)
		square := func(epsilon *big.Rat) *big.Rat {
			rho := new(big.Rat).Mul(epsilon, epsilon)
			return rho.Quo(rho, big.NewRat(8, 1))
		}
		if err != nil {
			if square(step).Cmp(rho) <= 0 {
				t.Errorf("ρ %v: %v", rho, err)
			}
			return
		}
		steps := new(big.Rat).Quo(m.Parameter, step)
		if !steps.IsInt() || square(m.Parameter).Cmp(rho) > 0 ||
			square(new(big.Rat).Add(m.Parameter, step)).Cmp(rho) <= 0 ||
			m.Rho().Cmp(rho) > 0 {
			t.Errorf("ρ %v gives ε %v", rho, m.Parameter)
		}
	})
}

// A leaf gets exactly what its target needs, whatever the other leaves get: with one step more of noise it would miss
// the target, by the exact law.
func TestNeededLeavesGetWhatTheyNeed(t *testing.T) {
	for _, amount := range []string{"epsilon: 2", "rho: 1/2", "epsilon: 2, delta: 1e-9"} {
		for _, margin := range []string{"12", "30", "500", "12345.5"} {
			p := plantest.TenPlan(t, "{"+amount+", split: {n: needed, s: 1}}",
				strings.ReplaceAll(plantest.OneOfTen, "%M%", margin))
			m, ok := p.Measurement("ages")
			if !ok {
				t.Fatalf("%s: ages is not measured by itself", amount)
			}
			asked, _ := strconv.ParseFloat(margin, 64)
			if got, attained := m.Mechanism.Margin(.95); float64(got) > asked || attained < .95 {
				t.Errorf("%s, ±%s: the margin is %d, attained %v", amount, margin, got, attained)
			}
			wider := m.Mechanism
			wider.Parameter = new(big.Rat).Mul(wider.Parameter, big.NewRat(1001, 1000))
			wider.Parameter.Add(wider.Parameter, big.NewRat(1, 1<<optimise.GridBits))
			if got, _ := wider.Margin(.95); float64(got) <= asked && asked < 400 {
				t.Errorf("%s, ±%s: noise that is a thousandth wider would do", amount, margin)
			}
			if t0 := p.Tables[0].Target; t0 == nil || t0.Reached > asked || t0.Margin != margin {
				t.Errorf("%s, ±%s: the plan says %+v", amount, margin, t0)
			}
			if !p.Leaves[0].Needed || p.Leaves[1].Needed {
				t.Errorf("%s: leaves %+v", amount, p.Leaves)
			}
		}
	}
}
