package budget

import (
	"math"
	"math/big"
	"slices"
)

// scattered is a pair whose losses are listed one by one and lie on no lattice: mass[i] is the probability of loss[i],
// and losses rise. Each loss is the true one or a larger one.
type scattered struct {
	loss, mass []float64
	unbounded  float64 // P(L = ∞)
}

func (scattered) lattice() (lattice, bool) { return lattice{}, false }

func (scattered) commonGrain() *big.Rat { return nil }

func (s scattered) lossSpan() (low, high float64) { return s.loss[0], s.loss[len(s.loss)-1] }

func (s scattered) spreadOver(h, _ float64, add func(j int64, mass float64)) float64 {
	for i, mass := range s.mass {
		connectDots(s.loss[i], mass, h, add)
	}
	return s.unbounded
}

// variance returns roughly the variance of the loss.
func (s scattered) variance() float64 {
	var mean, square float64
	for i, m := range s.mass {
		mean += float64(m * s.loss[i])
		square += float64(m * s.loss[i] * s.loss[i])
	}
	return square - float64(mean*mean)
}

// onLattice returns a pair that dominates s, with losses at the multiples of a unit, by connecting the dots.
func (s scattered) onLattice(unit *big.Rat) atoms {
	h := nearest(unit)
	low, high := s.lossSpan()
	first, last := int64(math.Floor(low/h)), int64(math.Floor(high/h))+1
	out := atoms{at: lattice{unit, first, 1}, mass: make([]float64, last-first+1)}
	out.unbounded = s.spreadOver(h, 0, func(j int64, mass float64) { out.mass[j-first] += mass })
	return out
}

// trimmed returns a pair that dominates a, without the ends that have a mass of at most negligible each: the upper end
// counts as an infinite loss, and the lower end as the least loss that is left.
func (a atoms) trimmed(negligible float64) atoms {
	from, to := 0, len(a.mass)
	var below, above float64
	for ; from < to-1 && below+a.mass[from] <= negligible; from++ {
		below += a.mass[from]
	}
	for ; from < to-1 && above+a.mass[to-1] <= negligible; to-- {
		above += a.mass[to-1]
	}
	mass := slices.Clone(a.mass[from:to])
	mass[0] += below
	return atoms{lattice{a.at.unit, a.at.first + int64(from)*a.at.stride, a.at.stride}, mass, a.unbounded + above}
}
