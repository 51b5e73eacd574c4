package budget

import (
	"math"
	"math/big"
	"testing"
)

// namedPair is a pair with its exact profile, which does not come from the pair.
type namedPair struct {
	name  string
	pair  pair
	delta func(epsilon float64) float64
}

func namedPairs(t *testing.T) []namedPair {
	definition := func(m Mechanism, shift Shift) func(float64) float64 {
		all := outcomesOfShift(m, shift)
		return func(epsilon float64) float64 { return stickOf(all, epsilon) }
	}
	gaussian, laplace := noiseStep(DiscreteGaussian, "17/3", 3, 9), noiseStep(DiscreteLaplace, "7/5", 3, 9)
	wide := Gaussian{Sigma: 5000, L2: 4000}
	const most = 1.65
	return []namedPair{
		{"discrete Gaussian", gaussianAtoms(gaussian.Parameter, 3), definition(gaussian, Shift{3})},
		{"discrete Laplace", laplaceAtoms(laplace.Parameter, 3), definition(laplace, Shift{3})},
		{"two coordinates", laplace.shiftPair(Shift{2, 1}), definition(laplace, Shift{2, 1})},
		{"randomized response", pureAtoms(mustRat(t, "4/3")), func(epsilon float64) float64 {
			high := 1 / (1 + math.Exp(-4./3))
			return math.Max(0, high-math.Exp(epsilon)*(1-high)) + math.Max(0, 1-high-math.Exp(epsilon)*high)
		}},
		// The tails of a discrete Gaussian of σ = 5000 are those of the continuous one
		// at half-integers to 1e-8; δ is a difference of them.
		{"wide Gaussian", gaussianTails(25e6, 4000),
			func(epsilon float64) float64 { return wide.Delta(epsilon) * (1 - 1e-7) }},
		{"bounded range", boundedRange(most), func(epsilon float64) float64 {
			if epsilon <= -most {
				return -math.Expm1(epsilon)
			}
			if epsilon >= most {
				return 0
			}
			root := math.Exp(most/2) - math.Exp(epsilon/2)
			return root * root / math.Expm1(most)
		}},
	}
}

// TestConnectedDotsKeepBothMeasuresAndDominate spreads every pair over grids that do
// not suit it.
func TestConnectedDotsKeepBothMeasuresAndDominate(t *testing.T) {
	for _, c := range namedPairs(t) {
		for _, h := range []float64{0.001, 0.0137, 0.11, 0.5} {
			for _, theta := range []float64{0, 3} {
				var losses, masses []float64
				p := c.pair.spreadOver(h, theta, func(j int64, mass float64) {
					losses, masses = append(losses, float64(j)*h), append(masses, mass)
				})
				q := 0.0
				for i, m := range masses {
					p += m
					q += m * math.Exp(-losses[i])
				}
				// Q lacks nothing but what is in the tails of P, 1e-17 here.
				if math.Abs(p-1) > 1e-12 || math.Abs(q-1) > 1e-10 {
					t.Errorf("%s, h = %v: P adds up to %v and Q to %v", c.name, h, p, q)
				}
				for epsilon := -4.05; epsilon < 4.1; epsilon += 0.27 {
					var got float64
					for i, m := range masses {
						got += m * math.Max(0, -math.Expm1(epsilon-losses[i]))
					}
					want := c.delta(epsilon)
					// A loss that is moved by at most h changes the mean of (1−e^{ε−L})₊ by
					// no more than 1−e^{−h}; cells of no weight may be wider where θ > 0.
					if got < want-1e-9*want-1e-13 || theta == 0 && h < 0.05 && got > want+h {
						t.Errorf("%s, h = %v, ε = %v: δ is %v, want at least %v", c.name, h, epsilon, got, want)
					}
				}
			}
		}
	}
}

// TestProfileIsTheHockeyStick evaluates the profile of atoms at their multiples.
func TestProfileIsTheHockeyStick(t *testing.T) {
	for _, c := range namedPairs(t) {
		a, ok := c.pair.(atoms)
		if !ok {
			continue
		}
		unit := nearest(a.at.unit)
		for i, delta := range a.profile(a.at.first-3, 40) {
			epsilon := float64(a.at.first-3+int64(i)) * unit
			if want := c.delta(epsilon); math.Abs(delta-want) > 1e-9*want+1e-14 {
				t.Errorf("%s at ε = %v: %v, want %v", c.name, epsilon, delta, want)
			}
		}
	}
}

// deltaOfAtoms is the hockey stick of atoms.
func deltaOfAtoms(a atoms, epsilon float64) float64 {
	sum := a.unbounded
	for i, m := range a.mass {
		sum += m * math.Max(0, -math.Expm1(epsilon-a.lossAt(i)))
	}
	return sum
}

func TestEnvelopeDominatesEachAndNoMore(t *testing.T) {
	variance := mustRat(t, "49/100")
	m := Mechanism{Kind: DiscreteGaussian, Parameter: variance, L1: big.NewInt(4), L2Squared: big.NewInt(4)}
	pairs := []atoms{m.shiftPair(Shift{2}), m.shiftPair(Shift{1, 1, 1, 1})}
	all := envelope(pairs)
	for epsilon := -15.0; epsilon < 30; epsilon += 0.37 {
		most := max(deltaOfAtoms(pairs[0], epsilon), deltaOfAtoms(pairs[1], epsilon))
		got := deltaOfAtoms(all, epsilon)
		// A chord over a part of the unit, here 1/64, stays below its left end.
		before := max(deltaOfAtoms(pairs[0], epsilon-1./64), deltaOfAtoms(pairs[1], epsilon-1./64))
		if got < most-1e-15 || got > before*(1+1e-9)+1e-14 {
			t.Errorf("ε = %v: envelope %v, largest %v", epsilon, got, most)
		}
	}
}

// TestZCDPPairDominatesWhatIsOfThatRho compares the pair with the conversion, from above, and with a mechanism of that
// ρ, from below.
func TestZCDPPairDominatesWhatIsOfThatRho(t *testing.T) {
	for _, rho := range []float64{1e-4, 0.1, 2, 40} {
		a := zcdpAtoms(rho)
		gaussian := Gaussian{Sigma: 1, L2: math.Sqrt(2 * rho)}
		for z := -6.0; z < 12; z += 0.9 {
			epsilon := rho + z*math.Sqrt(2*rho)
			got := deltaOfAtoms(a, epsilon)
			if exact := gaussian.Delta(epsilon); got < exact*(1-1e-9) {
				t.Errorf("ρ = %v, ε = %v: %v, but the Gaussian mechanism has %v", rho, epsilon, got, exact)
			}
			// The profile is joined 512 times for each √(2ρ): 2e-4 covers the chords up to here.
			if z > 0 && got > ZCDPDelta(rho, epsilon)*(1+2e-4) {
				t.Errorf("ρ = %v, ε = %v: %v, the conversion gives %v", rho, epsilon, got, ZCDPDelta(rho, epsilon))
			}
		}
	}
	if a := zcdpAtoms(1000); a.unbounded != 1 {
		t.Errorf("an unworkable ρ promises %v", a)
	}
}

// TestWhatIsCutOffCountsAsInfinite truncates a pair, and the window of a sum, far below their ends.
func TestWhatIsCutOffCountsAsInfinite(t *testing.T) {
	pair := gaussianTails(25e6, 4000)
	pair.high = 1
	var placed float64
	infinite := pair.spreadOver(0.01, 0, func(_ int64, mass float64) { placed += mass })
	// The loss has mean 0.32 and deviation 0.8: 0.2 of it lies above 1.
	if math.Abs(placed+infinite-1) > 1e-12 || math.Abs(infinite-0.198) > 1e-3 {
		t.Errorf("%v and, infinite, %v", placed, infinite)
	}

	steps := []step{{pureAtoms(mustRat(t, "1/10")), 1000}}
	for _, rare := range []float64{3, 8, 20} {
		s := composeTilted(steps, sketchesOf(steps), tilt{theta: 1, margin: 5, rare: rare}, usual)
		for epsilon := 0.0; epsilon < 60; epsilon++ {
			if got, want := s.deltaAt(epsilon), optimalDelta(0.1, 1000, epsilon); got < want*(1-1e-9) {
				t.Errorf("all but e^%v in the window, ε = %v: δ = %v, want at least %v", -rare, epsilon, got, want)
			}
		}
	}
}
