package budget

import (
	"math"
	"math/big"
)

// This file holds the losses at which a composition is computed, and the masses
// of a pair there.

// grid is the spacing that a composition is computed with; exact is nil unless
// the losses of every pair keep this distance as they are.
type grid struct {
	spacing float64
	exact   *big.Rat
}

// offset is the loss at position 0 of the sum. On an exact grid a pair's first
// loss has position 0, else a loss of j·spacing has position j.
func (g grid) offset(steps []step) float64 {
	if g.exact == nil {
		return 0
	}
	total := new(big.Rat)
	for _, s := range steps {
		l, _ := s.pair.lattice()
		total.Add(total, new(big.Rat).Mul(l.offset(), new(big.Rat).SetInt64(s.count)))
	}
	return nearest(total)
}

// commonLattice returns the coarsest exact grid, or false where a pair has no
// lattice.
func commonLattice(steps []step) (grid, bool) {
	exact := new(big.Rat)
	for _, s := range steps {
		l, ok := s.pair.lattice()
		if !ok {
			return grid{}, false
		}
		exact = commonDivisor(exact, l.spacing())
	}
	return grid{nearest(exact), exact}, true
}

// commonDivisor is the largest rational of which a and b ≥ 0 are multiples.
func commonDivisor(a, b *big.Rat) *big.Rat {
	x, y := new(big.Int).Mul(a.Num(), b.Denom()), new(big.Int).Mul(b.Num(), a.Denom())
	return new(big.Rat).SetFrac(x.GCD(nil, nil, x, y), new(big.Int).Mul(a.Denom(), b.Denom()))
}

// gridFor chooses the grid for a sum of this variance and a window of this
// width.
func gridFor(steps []step, variance, width float64, r resolution) grid {
	if g, ok := commonLattice(steps); ok && width/g.spacing < float64(r.points-8) {
		return g
	}
	// Connecting dots adds at most h²/4 to the variance of a step.
	spacing := math.Sqrt(4 * r.relative * variance / runs(steps))
	if r.least > 0 {
		spacing = min(spacing, width/float64(r.least))
	}
	spacing = max(spacing, width/float64(r.points-8))
	if grain := commonGrain(steps, spacing); grain > 0 {
		spacing = grain / math.Ceil(grain/spacing)
	}
	return grid{spacing: spacing}
}

// commonGrain returns the largest loss of which the places of atoms are multiples,
// as far as they have one above the spacing: a grid that divides it leaves atoms
// where they are, and with them the corners of the profile. 0 is none.
func commonGrain(steps []step, spacing float64) float64 {
	grain := new(big.Rat)
	for _, s := range steps {
		if g := s.pair.grain(); g != nil {
			if finer := commonDivisor(grain, g); nearest(finer) > spacing {
				grain = finer
			}
		}
	}
	return nearest(grain)
}

// runs is how often steps are run in all.
func runs(steps []step) float64 {
	var count float64
	for _, s := range steps {
		count += float64(s.count)
	}
	return count
}

// spread is the masses of a pair on a grid: mass[i] at position[i], in rising
// order.
type spread struct {
	position []int64
	mass     []float64
	infinite float64
	origin   float64 // loss at position 0
	spacing  float64
}

// loss is where the i-th mass is.
func (p spread) loss(i int) float64 {
	return p.origin + float64(float64(p.position[i])*p.spacing)
}

// on spreads the pair of a step over the grid, for a sum that is tilted by θ.
func (s step) on(g grid, theta float64) spread {
	p := spread{spacing: g.spacing}
	if a, ok := s.pair.(atoms); ok && g.exact != nil {
		every := new(big.Rat).Quo(a.at.spacing(), g.exact).Num().Int64()
		for i, m := range a.mass {
			p.position, p.mass = append(p.position, int64(i)*every), append(p.mass, m)
		}
		p.infinite, p.origin = a.unbounded, nearest(a.at.offset())
		return p
	}
	p.infinite = s.pair.place(g.spacing, theta, func(j int64, m float64) {
		for i := len(p.position) - 1; i >= 0 && i >= len(p.position)-2; i-- {
			if p.position[i] == j {
				p.mass[i] += m
				return
			}
		}
		p.position, p.mass = append(p.position, j), append(p.mass, m)
	})
	return p
}
