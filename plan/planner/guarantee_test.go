package planner_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/planner"
)

// A plan says that it was judged twice only where it was, and is refused where the
// second accountant finds that it costs more.
func TestJudge(t *testing.T) {
	of := func(kind budget.Kind, parameter string, sensitivity int64) budget.Mechanism {
		p, err := budget.ParseRat(parameter)
		if err != nil {
			t.Fatal(err)
		}
		l1 := big.NewInt(sensitivity)
		return budget.Mechanism{Kind: kind, Parameter: p, L1: l1, L2Squared: new(big.Int).Mul(l1, l1)}
	}
	four := of(budget.DiscreteGaussian, "16", 1)
	for _, c := range []struct {
		name           string
		mechanisms     []budget.Mechanism
		epsilon, delta string
		judged         bool
		err            string
	}{
		// δ(1) of σ = 4 is 2.92e-6 by the closed form of the Gaussian mechanism, and
		// on a lattice of 1/16 not much else.
		{"enough", []budget.Mechanism{four}, "1", "4e-6", true, ""},
		{"too little", []budget.Mechanism{four}, "1", "2e-6", false, "the two accountants disagree"},
		{"beyond floats", []budget.Mechanism{of(budget.DiscreteGaussian, "95961130", 1),
			of(budget.DiscreteLaplace, "28/1000000", 32), of(budget.DiscreteLaplace, "28/1000000", 32)}, "2000000",
			"1e-6",
			false, ""},
	} {
		epsilon, _ := new(big.Rat).SetString(c.epsilon)
		delta, _ := new(big.Rat).SetString(c.delta)
		judged, err := planner.Judge(c.mechanisms, epsilon, delta)
		if judged != c.judged || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: judged %v, error %v", c.name, judged, err)
		}
	}
}
