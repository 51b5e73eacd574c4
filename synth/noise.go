package synth

import (
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the law of the noise of a figure, and the margins of sums of few draws.

// Noise is the law of the noise of a figure: a sum of independent draws, each times a weight. A figure without noise
// has none.
type Noise []budget.NoiseTerm

// NoiseOf is the law of one answer of a mechanism that adds noise.
func NoiseOf(m budget.Mechanism) Noise {
	parameter, _ := m.Parameter.Float64() // the nearest, on every machine
	return Noise{{Weight: 1, Count: 1, Kind: m.Kind, Parameter: parameter}}
}

// times is the noise of the figure times a factor.
func (n Noise) times(factor float64) Noise {
	out := make(Noise, 0, len(n))
	for _, t := range n {
		if t.Weight *= factor; t.Weight != 0 && t.Count != 0 {
			out = append(out, t)
		}
	}
	return out
}

// Variance is that of the noise.
func (n Noise) Variance() float64 {
	deviation := budget.MomentsOf(n).Deviation
	return deviation * deviation
}

// Margin is an m with P(|X| ≤ m) at least the confidence. Of two or three draws of unequal weights, all but one of
// which spread over few integers, it is the least but for a 4096th of the deviation; of others it is
// [budget.NoiseSum.Margin].
func (n Noise) Margin(confidence float64) float64 {
	if f := newFew(n); f != nil {
		return f.margin(confidence)
	}
	m, _ := budget.NewNoiseSum(n).Margin(confidence)
	return m
}

// few is the law of the sum of two or three draws, worked out outcome by outcome.
type few struct {
	draws     []*spread // the widest first
	ratios    []float64 // of their weights to the first one's, which is the unit
	unit      float64
	deviation float64 // in units
}

const (
	// mostSpread bounds the outcomes of a draw that are kept in a table, on either side of 0, and spreadBeyond the
	// probability of those on each side that are left out.
	mostSpread   = 1 << 14
	spreadBeyond = 1e-10
	// mostOutcomes bounds those of all draws but the widest, and mostLookups where that has no table.
	mostOutcomes = 1 << 18
	mostLookups  = 1 << 11
)

// newFew is nil where there are more draws, or less, where they lie on one lattice, or where they spread too widely:
// then characteristic functions take less work.
func newFew(n Noise) *few {
	f := &few{}
	for _, t := range n {
		if t.Weight == 0 || t.Count == 0 {
			continue
		}
		s := newSpread(t)
		if s == nil || t.Count != 1 || len(f.draws) == 3 {
			return nil
		}
		at := 0
		for at < len(f.draws) && f.draws[at].Size >= s.Size {
			at++
		}
		f.draws, f.ratios = slices.Insert(f.draws, at, s), slices.Insert(f.ratios, at, math.Abs(t.Weight))
	}
	if len(f.draws) < 2 || slices.Min(f.ratios) == slices.Max(f.ratios) {
		return nil
	}
	outcomes, most := 1.0, float64(mostOutcomes)
	if f.draws[0].Size > mostSpread {
		most = mostLookups
	}
	for _, s := range f.draws[1:] {
		if outcomes *= 2 * s.Size; outcomes > most {
			return nil
		}
	}
	for _, s := range f.draws {
		s.tabulate()
	}
	f.unit = f.ratios[0]
	for i := range f.ratios {
		f.ratios[i] /= f.unit
	}
	f.deviation = budget.NewNoiseSum(n).Deviation() / f.unit
	return f
}

// within is a lower bound of P(|X| ≤ m) for m units, below it by at most 6·spreadBeyond.
func (f *few) within(m float64) float64 {
	last := len(f.draws) - 1
	sum := float64(f.draws[last].at(0) * f.beside(last-1, 0, m))
	for y := 1; y < int(f.draws[last].Size); y++ { // y and −y are alike
		sum += float64(2 * f.draws[last].at(y) * f.beside(last-1, float64(f.ratios[last]*float64(y)), m))
	}
	return sum - 6*spreadBeyond
}

// beside is P(|s + the sum of the draws up to i| ≤ m), or less by what is beyond the tables.
func (f *few) beside(i int, s, m float64) float64 {
	if i == 0 {
		return f.draws[0].between(-math.Floor(m+s), math.Floor(m-s))
	}
	sum := 0.0
	for y := 1 - int(f.draws[i].Size); y < int(f.draws[i].Size); y++ {
		sum += float64(f.draws[i].at(max(y, -y)) * f.beside(i-1, s+float64(f.ratios[i]*float64(y)), m))
	}
	return sum
}

func (f *few) margin(confidence float64) float64 {
	low, high := 0.0, f.deviation
	for f.within(high) < confidence {
		if low, high = high, 2*high; high > 3*mostSpread*f.deviation {
			return f.unit * high // beyond all that is told apart
		}
	}
	for high-low > f.deviation/4096 {
		if m := (low + high) / 2; f.within(m) >= confidence {
			high = m
		} else {
			low = m
		}
	}
	return f.unit * high
}

// spread is the law of one draw X: P(X ≥ k) from a table or, of noise that spreads widely, by its formula.
type spread struct {
	budget.Outcomes           // of which Size has all but spreadBeyond of the probability
	beyond          []float64 // entry k is P(X ≥ k)
}

// newSpread is nil where there is no table and no formula.
func newSpread(t budget.NoiseTerm) *spread {
	s := &spread{Outcomes: t.Kind.Outcomes(t.Parameter)}
	if s.Size > mostSpread && s.Beyond == nil {
		return nil
	}
	return s
}

// tabulate makes the table of a draw that spreads little.
func (s *spread) tabulate() {
	if s.Size > mostSpread {
		return
	}
	s.beyond = make([]float64, int(s.Size)+1)
	for k := len(s.beyond) - 2; k >= 0; k-- {
		s.beyond[k] = s.beyond[k+1] + s.Weight(float64(k))
	}
	all := s.beyond[0] + s.beyond[1]
	for k := range s.beyond {
		s.beyond[k] /= all
	}
}

// at is P(X = k) for k ≥ 0.
func (s *spread) at(k int) float64 { return s.from(float64(k)) - s.from(float64(k+1)) }

// from is P(X ≥ k).
func (s *spread) from(k float64) float64 {
	switch {
	case k <= 0:
		return 1 - s.from(1-k)
	case s.beyond == nil:
		return s.Beyond(k)
	case k >= float64(len(s.beyond)):
		return 0
	}
	return s.beyond[int(k)]
}

// between is P(a ≤ X ≤ b).
func (s *spread) between(a, b float64) float64 {
	switch {
	case a > b:
		return 0
	case a > 0:
		return s.from(a) - s.from(b+1)
	case b < 0:
		return s.from(-b) - s.from(1-a)
	}
	return 1 - s.from(b+1) - s.from(1-a)
}
