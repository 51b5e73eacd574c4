package synth

import (
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the law of the noise of a figure, and the margins of sums of few draws.

// Noise is the law of the noise of a figure: a sum of independent draws, each times a weight. A figure without noise
// has no terms.
type Noise []budget.NoiseTerm

// NoiseOf returns the law of the noise that a mechanism adds to one answer.
func NoiseOf(m budget.Mechanism) Noise {
	return Noise{m.NoiseTerm(1, 1)}
}

// scaledBy returns the noise of the figure times a factor.
func (n Noise) scaledBy(factor float64) Noise {
	out := make(Noise, 0, len(n))
	for _, t := range n {
		if t.Weight *= factor; t.Weight != 0 && t.Count != 0 {
			out = append(out, t)
		}
	}
	return out
}

// Variance returns the variance of the noise.
func (n Noise) Variance() float64 {
	deviation := budget.MomentsOf(n).Deviation
	return deviation * deviation
}

// Margin returns an m with P(|X| ≤ m) at least the confidence. For two or three draws of unequal weights, all but one
// of which spread over few integers, it is the least m to within a 4096th of the deviation; otherwise it is
// [budget.NoiseSum.Margin].
func (n Noise) Margin(confidence float64) float64 {
	if f := newFewDraws(n); f != nil {
		return f.margin(confidence)
	}
	m, _ := budget.NewNoiseSum(n).Margin(confidence)
	return m
}

// fewDraws is the law of the sum of two or three draws, computed outcome by outcome.
type fewDraws struct {
	draws     []*drawLaw // in descending order of Size
	ratios    []float64  // of their weights to the first weight, which is the unit
	unit      float64
	deviation float64 // in units
}

const (
	// mostSpread bounds the outcomes of a draw that are tabulated, on either side of 0, and spreadBeyond the
	// probability of those on each side that are left out.
	mostSpread   = 1 << 14
	spreadBeyond = 1e-10
	// leastResolved is the least margin as a share of the smallest weight: more than the rounding of figures.
	leastResolved = 0x1p-20
	// mostOutcomes bounds the joint outcomes of all draws except the widest, and mostLookups does if that one has no
	// table.
	mostOutcomes = 1 << 18
	mostLookups  = 1 << 11
)

// newFewDraws returns nil if the number of draws is not two or three, if they lie on one lattice, or if they spread too
// widely: characteristic functions then take less work.
func newFewDraws(n Noise) *fewDraws {
	f := &fewDraws{}
	for _, t := range n {
		if t.Weight == 0 || t.Count == 0 {
			continue
		}
		s := newDrawLaw(t)
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

// probabilityWithin returns a lower bound of P(|X| ≤ m) for m units, which is below it by at most 6·spreadBeyond.
func (f *fewDraws) probabilityWithin(m float64) float64 {
	last := len(f.draws) - 1
	sum := float64(f.draws[last].probability(0) * f.conditionalWithin(last-1, 0, m))
	for y := 1; y < int(f.draws[last].Size); y++ { // y and −y are equally likely
		sum += float64(2 * f.draws[last].probability(y) * f.conditionalWithin(last-1,
			float64(f.ratios[last]*float64(y)), m))
	}
	return sum - 6*spreadBeyond
}

// conditionalWithin returns P(|s + the sum of the draws up to i| ≤ m), less at most the probability beyond the tables.
func (f *fewDraws) conditionalWithin(i int, s, m float64) float64 {
	if i == 0 {
		return f.draws[0].probabilityBetween(-math.Floor(m+s), math.Floor(m-s))
	}
	sum := 0.0
	for y := 1 - int(f.draws[i].Size); y < int(f.draws[i].Size); y++ {
		sum += float64(f.draws[i].probability(max(y, -y)) * f.conditionalWithin(i-1, s+float64(f.ratios[i]*float64(y)),
			m))
	}
	return sum
}

func (f *fewDraws) margin(confidence float64) float64 {
	low, high := 0.0, f.deviation
	for f.probabilityWithin(high) < confidence {
		if low, high = high, 2*high; high > 3*mostSpread*f.deviation {
			return f.unit * high // beyond what the tables resolve
		}
	}
	for high-low > f.deviation/4096 {
		if m := (low + high) / 2; f.probabilityWithin(m) >= confidence {
			high = m
		} else {
			low = m
		}
	}
	return f.unit * math.Max(high, float64(slices.Min(f.ratios)*leastResolved))
}

// drawLaw is the law of one draw X: P(X ≥ k) from a table or, for noise that spreads widely, by its formula.
type drawLaw struct {
	budget.Outcomes           // Size covers all but spreadBeyond of the probability
	beyond          []float64 // entry k is P(X ≥ k)
}

// newDrawLaw returns nil if there is neither a table nor a formula.
func newDrawLaw(t budget.NoiseTerm) *drawLaw {
	s := &drawLaw{Outcomes: t.Kind.Outcomes(t.Parameter)}
	if s.Size > mostSpread && s.Beyond == nil {
		return nil
	}
	return s
}

// tabulate computes the table of a draw that spreads over few integers.
func (s *drawLaw) tabulate() {
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

// probability returns P(X = k) for k ≥ 0.
func (s *drawLaw) probability(k int) float64 { return s.tail(float64(k)) - s.tail(float64(k+1)) }

// tail returns P(X ≥ k).
func (s *drawLaw) tail(k float64) float64 {
	switch {
	case k <= 0:
		return 1 - s.tail(1-k)
	case s.beyond == nil:
		return s.Beyond(k)
	case k >= float64(len(s.beyond)):
		return 0
	}
	return s.beyond[int(k)]
}

// probabilityBetween returns P(a ≤ X ≤ b).
func (s *drawLaw) probabilityBetween(a, b float64) float64 {
	switch {
	case a > b:
		return 0
	case a > 0:
		return s.tail(a) - s.tail(b+1)
	case b < 0:
		return s.tail(-b) - s.tail(1-a)
	}
	return 1 - s.tail(b+1) - s.tail(1-a)
}
