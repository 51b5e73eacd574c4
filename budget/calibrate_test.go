package budget

import (
	"math"
	"math/big"
	"testing"
)

// shares builds discrete Gaussians, and discrete Laplace where ε is named, that
// share ρ by weights.
func shares(weights []int64, laplace func(i int) bool) func(rho *big.Rat) ([]Mechanism, error) {
	var total int64
	for _, w := range weights {
		total += w
	}
	return func(rho *big.Rat) ([]Mechanism, error) {
		var steps []Mechanism
		for i, w := range weights {
			share := new(big.Rat).Mul(rho, big.NewRat(w, total))
			var m Mechanism
			var err error
			if laplace(i) {
				epsilon := new(big.Rat).SetFloat64(math.Sqrt(2 * nearest(share)))
				m, err = LaplaceFor(big.NewInt(1), epsilon)
			} else {
				m, err = GaussianFor(big.NewInt(1), big.NewInt(1), share)
			}
			if err != nil {
				return nil, err
			}
			steps = append(steps, m)
		}
		return steps, nil
	}
}

func TestCalibrateFindsTheLeastNoise(t *testing.T) {
	gaussian := func(int) bool { return false }
	for _, c := range []struct {
		name           string
		epsilon, delta string
		weights        []int64
		laplace        func(int) bool
	}{
		{"ten equal", "1", "1e-9", []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, gaussian},
		{"unequal", "1", "1e-6", []int64{1, 2, 5}, gaussian},
		{"one", "1/10", "1e-9", []int64{1}, gaussian},
		{"much", "12", "1e-6", []int64{1, 3}, gaussian},
		{"Laplace", "1", "1e-9", []int64{1, 2, 3, 4, 5, 7, 9, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59},
			func(int) bool { return true }},
		{"mixed", "1", "1e-6", []int64{1, 1, 2, 2}, func(i int) bool { return i%2 == 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			epsilon, delta := mustRat(t, c.epsilon), mustRat(t, c.delta)
			var built []identity
			build := func(rho *big.Rat) ([]Mechanism, error) {
				steps, err := shares(c.weights, c.laplace)(rho)
				built = append(built, identityOf(groupEqual(steps)))
				return steps, err
			}
			about, err := CalibrateRoughly(epsilon, delta, nil, build)
			if err != nil {
				t.Fatal(err)
			}
			roughly := len(built)
			rho, steps, err := Calibrate(epsilon, delta, nil, build)
			if err != nil {
				t.Fatal(err)
			}
			full := map[identity]bool{}
			for _, of := range built[2*roughly:] {
				full[of] = true
			}
			if len(full) > 3 {
				t.Errorf("composed %d times in full", len(full))
			}
			if off := nearest(about)/nearest(rho) - 1; math.Abs(off) > 1e-4+2*gridCoarseness(steps) {
				t.Errorf("roughly ρ is %v, off by %.2g", nearest(about), off)
			}
			bound, err := mustCompose(t, steps...).EpsilonAt(delta)
			if err != nil || exactly(bound.Value).Cmp(epsilon) > 0 {
				t.Errorf("ε = %v at δ = %s, above %s (%v)", bound.Value, c.delta, c.epsilon, err)
			}
			plain, err := RhoForEpsilonDelta(epsilon, delta)
			if err != nil || rho.Cmp(plain) <= 0 {
				t.Errorf("ρ = %v is no more than %v, that of the conversion (%v)", rho, plain, err)
			}
			// A thousandth more no longer fits, whatever the rounding of parameters.
			more, err := build(new(big.Rat).Mul(rho, big.NewRat(1001, 1000)))
			if err != nil {
				t.Fatal(err)
			}
			if bound, err := mustCompose(t, more...).EpsilonAt(delta); err != nil ||
				exactly(bound.Value).Cmp(epsilon) <= 0 {
				t.Errorf("a thousandth more ρ has ε = %v still (%v)", bound.Value, err)
			}
			t.Logf("ρ %.6g, of the conversion %.6g: %.1f%% less variance", nearest(rho), nearest(plain),
				100*(1-nearest(plain)/nearest(rho)))
		})
	}
	if _, _, err := Calibrate(mustRat(t, "1"), new(big.Rat), nil, shares([]int64{1}, gaussian)); err == nil {
		t.Error("calibrated at delta 0")
	}
}
