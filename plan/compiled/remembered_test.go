package compiled

import (
	"testing"

	"github.com/dprelease/dprelease/budget"
)

// A law is not taken for another that differs in one part of one term or in the confidence, if only in its last bit;
// and a cached law equals the law worked out anew to the last bit.
func TestRememberedLawsAreTheirOwn(t *testing.T) {
	gaussian := budget.NoiseTerm{Weight: 0.3, Count: 3, Kind: budget.DiscreteGaussian, Parameter: 30}
	with := func(change func(*budget.NoiseTerm)) []budget.NoiseTerm {
		other := gaussian
		change(&other)
		return []budget.NoiseTerm{gaussian, other}
	}
	var l lawCache
	for i, terms := range [][]budget.NoiseTerm{
		{gaussian}, {gaussian, gaussian}, {gaussian, gaussian, gaussian},
		with(func(n *budget.NoiseTerm) { n.Weight = 0.30000000000000004 }),
		with(func(n *budget.NoiseTerm) { n.Count = 4 }),
		with(func(n *budget.NoiseTerm) { n.Kind = budget.DiscreteLaplace }),
		with(func(n *budget.NoiseTerm) { n.Parameter = 30.000000000000004 }),
	} {
		for j, confidence := range []float64{0.95, 0.9500000000000001} {
			for range 2 {
				if got, want := l.lawOf(terms, confidence), newLaw(terms, confidence); got != want {
					t.Errorf("%v at %v: %+v is remembered, and it is %+v", terms, confidence, got, want)
				}
			}
			if len(l.known) != 2*i+j+1 {
				t.Errorf("%v at %v: %d laws are known, not %d", terms, confidence, len(l.known), 2*i+j+1)
			}
		}
	}
}
