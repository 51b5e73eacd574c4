package budget

import (
	"math"
	"math/big"
	"testing"
)

// chance returns the probability that a choice of λ misses the best of n candidates when all others are a gap below it:
// by the sums of the definitions, in double precision.
func chance(kind Kind, n int, lambda, gap float64) float64 {
	p := math.Exp(-lambda * gap)
	if kind == ExponentialMechanism {
		return float64(n-1) * p / (1 + float64(n-1)*p)
	}
	// ∫ (1−tp)^(n−1) dt over [0, 1] is the probability of the best.
	const steps = 20000
	best := 0.0
	for i := range steps {
		t := (float64(i) + 0.5) / steps
		best += math.Pow(1-t*p, float64(n-1)) / steps
	}
	return 1 - best
}

// TestShortfallBoundsTheWorstScores takes the scores for which a choice is worst. The exponential mechanism attains its
// bound, so that a margin one smaller fails; permute-and-flip stays below its bound by less than the bound squared.
func TestShortfallBoundsTheWorstScores(t *testing.T) {
	for _, kind := range []Kind{ExponentialMechanism, PermuteAndFlip} {
		for _, n := range []int{2, 3, 100, 5000} {
			for _, epsilon := range []*big.Rat{big.NewRat(1, 100), big.NewRat(1, 3), big.NewRat(5, 1)} {
				for _, moves := range []int64{1, 2, 14} {
					for _, probability := range []float64{0.5, 0.05, 0.0005} {
						m := Mechanism{Kind: kind, Parameter: epsilon}
						margin, exceeded := m.Shortfall(int64(n), big.NewInt(moves), probability)
						e, _ := epsilon.Float64()
						lambda := e / float64(moves)
						worst := chance(kind, n, lambda, float64(margin+1))
						if worst > exceeded*(1+1e-6)+1e-8 || exceeded > probability {
							t.Errorf("%s of %d, λ=%g: beyond %d with probability %g, not %g", kind, n, lambda, margin,
								worst, exceeded)
						}
						if kind == ExponentialMechanism && margin > 0 &&
							chance(kind, n, lambda, float64(margin)) <= probability {
							t.Errorf("%s of %d, λ=%g: a margin of %d is enough for %g", kind, n, lambda, margin-1,
								probability)
						}
						if kind == PermuteAndFlip && worst < exceeded-exceeded*exceeded {
							t.Errorf("%s of %d, λ=%g: the bound %g is far above %g", kind, n, lambda, exceeded, worst)
						}
					}
				}
			}
		}
	}
}

func TestShortfallAtItsEnds(t *testing.T) {
	one := Mechanism{Kind: ExponentialMechanism, Parameter: big.NewRat(1, 1)}
	for name, c := range map[string]struct {
		m           Mechanism
		n           int64
		probability float64
		margin      int64
	}{
		"one candidate": {one, 1, 0.05, 0},
		"no candidate":  {one, 0, 0.05, 0},
		"certainty":     {one, 2, 0, math.MaxInt64},
		"another kind":  {Mechanism{Kind: RandomizedResponse, Parameter: big.NewRat(1, 1)}, 2, 0.05, 0},
		"next to nothing": {Mechanism{Kind: ExponentialMechanism, Parameter: new(big.Rat).SetFrac(big.NewInt(1),
			new(big.Int).Lsh(big.NewInt(1), 80))}, 2, 0.05, math.MaxInt64},
	} {
		if margin, _ := c.m.Shortfall(c.n, big.NewInt(1), c.probability); margin != c.margin {
			t.Errorf("%s: %d, not %d", name, margin, c.margin)
		}
	}
}
