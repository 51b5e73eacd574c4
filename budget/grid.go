package budget

import (
	"math"
	"math/big"
)

// This file holds the losses at which a composition is computed, and the masses of a pair on them.

// grid is the spacing at which a composition is computed. If exact is not nil, the losses of every pair lie on the grid
// unchanged.
type grid struct {
	spacing float64
	exact   *big.Rat
}

// sumOffset returns the loss at position 0 of the sum. On an exact grid, position 0 is a pair's first loss; on another
// grid, position j is the loss j·spacing.
func (g grid) sumOffset(steps []step) float64 {
	if g.exact == nil {
		return 0
	}
	total := new(big.Rat)
	for _, s := range steps {
		l, _ := s.pair.lattice()
		total.Add(total, new(big.Rat).Mul(l.firstLoss(), new(big.Rat).SetInt64(s.count)))
	}
	return nearest(total)
}

// commonLattice returns the coarsest exact grid, or false if a pair has no lattice.
func commonLattice(steps []step) (grid, bool) {
	exact := new(big.Rat)
	for _, s := range steps {
		l, ok := s.pair.lattice()
		if !ok {
			return grid{}, false
		}
		exact = commonDivisor(exact, l.lossSpacing())
	}
	return grid{nearest(exact), exact}, true
}

// commonDivisor returns the largest rational of which a and b ≥ 0 are integer multiples.
func commonDivisor(a, b *big.Rat) *big.Rat {
	x, y := new(big.Int).Mul(a.Num(), b.Denom()), new(big.Int).Mul(b.Num(), a.Denom())
	return new(big.Rat).SetFrac(x.GCD(nil, nil, x, y), new(big.Int).Mul(a.Denom(), b.Denom()))
}

// gridFor chooses the grid for a sum of this variance and a window of this width.
func gridFor(steps []step, variance, width float64, r resolution) grid {
	if g, ok := commonLattice(steps); ok && width/g.spacing < float64(r.points-8) {
		return g
	}
	// Connecting dots adds at most h²/4 to the variance of a step.
	spacing := math.Sqrt(4 * r.relative * variance / totalRuns(steps))
	if r.least > 0 {
		spacing = min(spacing, width/float64(r.least))
	}
	spacing = max(spacing, width/float64(r.points-8))
	if grain := commonGrainOf(steps, spacing); grain > 0 {
		spacing = grain / math.Ceil(grain/spacing)
	}
	return grid{spacing: spacing}
}

// commonGrainOf returns the largest loss of which the losses of all atoms are multiples, considering only pairs for
// which it exceeds the spacing. A grid that divides it leaves atoms in place, and with them the corners of the profile.
// 0 means that there is none.
func commonGrainOf(steps []step, spacing float64) float64 {
	grain := new(big.Rat)
	for _, s := range steps {
		if g := s.pair.commonGrain(); g != nil {
			if finer := commonDivisor(grain, g); nearest(finer) > spacing {
				grain = finer
			}
		}
	}
	return nearest(grain)
}

// totalRuns returns the number of runs of all steps together.
func totalRuns(steps []step) float64 {
	var count float64
	for _, s := range steps {
		count += float64(s.count)
	}
	return count
}

// spread holds the masses of a pair on a grid: mass[i] at position[i], in ascending order.
type spread struct {
	position []int64
	mass     []float64
	infinite float64
	origin   float64 // loss at position 0
	spacing  float64
}

// lossAt returns the loss of the i-th mass.
func (p spread) lossAt(i int) float64 {
	return p.origin + float64(float64(p.position[i])*p.spacing)
}

// spreadOn spreads the pair of a step over the grid, for a sum that is tilted by θ.
func (s step) spreadOn(g grid, theta float64) spread {
	p := spread{spacing: g.spacing}
	if a, ok := s.pair.(atoms); ok && g.exact != nil {
		every := new(big.Rat).Quo(a.at.lossSpacing(), g.exact).Num().Int64()
		for i, m := range a.mass {
			p.position, p.mass = append(p.position, int64(i)*every), append(p.mass, m)
		}
		p.infinite, p.origin = a.unbounded, nearest(a.at.firstLoss())
		return p
	}
	p.infinite = s.pair.spreadOver(g.spacing, theta, func(j int64, m float64) {
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
