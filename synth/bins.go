package synth

import (
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
)

// This file holds the quantiles of a table that are read from noisy counts of bins of their column.

// binSums computes the number of rows up to each bin of a cell, as weighted sums of the cell's noisy answers.
type binSums struct {
	counted.Bins
	bins  int
	rows  [][]counted.WeightedAnswer // nil: the answers are the counts of the bins
	unit  float64                    // what an answer of 1 stands for
	noise Noise                      // of one answer
}

// binSumsOf returns the sums of a part.
func (n *numbers) binSumsOf(p part) (*binSums, error) {
	d := p.Measurement.Query.Counted.(counted.Bins)
	l := n.table.Column(d.Column).Lattice
	s := &binSums{Bins: d, bins: int(d.Len(l)), unit: n.unit, noise: p.noise}
	var err error
	s.rows, err = d.Prefixes(l)
	return s, err
}

// cellSums returns the sums of one cell, bin by bin.
func (s *binSums) cellSums(answers []int64) []float64 {
	out := make([]float64, s.bins)
	all := 0.0
	for j := range out {
		if s.rows == nil {
			all += float64(answers[j])
		} else {
			all = 0
			for _, w := range s.rows[j] {
				all += float64(w.Weight * float64(answers[w.Index]))
			}
		}
		out[j] = float64(s.unit * all)
	}
	return out
}

// prefixNoise returns the noise of F_j − share·N by bin j, where F_−1 is 0.
func (s *binSums) prefixNoise(share float64) func(bin int) Noise {
	if s.rows == nil {
		return PrefixLessShareNoise(s.noise.scaledBy(s.unit), s.bins, share)
	}
	all := s.rows[s.bins-1][0].Weight // N is this times the first answer
	return func(bin int) Noise {
		if bin < 0 {
			return s.noise.scaledBy(float64(-share * float64(s.unit*all)))
		}
		out := make(Noise, 0, len(s.noise)*len(s.rows[bin]))
		for _, w := range s.rows[bin] {
			weight := w.Weight
			if w.Index == 0 {
				weight -= float64(share * all)
			}
			for _, t := range s.noise {
				if t.Weight *= float64(s.unit * weight); t.Weight != 0 {
					out = append(out, t)
				}
			}
		}
		return out
	}
}

// readQuantile returns the function from a cell to its quantile f, which is read from the noisy distribution of the
// cell's values over bins.
func (n *numbers) readQuantile(f plan.Figure, p part) (func(cell int) Figure, error) {
	type outcome struct {
		all map[string][]Figure
		err error
	}
	of := law(n, "quantiles "+f.Part, func() (o outcome) {
		o.all, o.err = n.readAll(f.Part, p)
		return o
	})
	if of.err != nil {
		return nil, of.err
	}
	cells := of.all[f.At]
	return func(cell int) Figure { return cells[cell] }, nil
}

// readAll returns all quantiles that are read from one distribution, by their shares, rounded to the step of the
// column.
func (n *numbers) readAll(id string, p part) (map[string][]Figure, error) {
	s, err := n.binSumsOf(p)
	if err != nil {
		return nil, err
	}
	l := n.table.Column(s.Column).Lattice
	step, _ := l.Step.Float64()
	bins := make([]Cell, s.bins)
	for i := range bins {
		first := l.First + int64(i)*s.Width
		bins[i] = Cell{float64(step * float64(first)), float64(step * float64(min(first+s.Width-1, l.Last)))}
	}
	all, laws := map[string][]Figure{}, map[string]*Distribution{}
	for _, f := range n.planned.Figures {
		if f.Part != id {
			continue
		}
		share, ok := new(big.Rat).SetString(f.At)
		if !ok {
			return nil, fmt.Errorf("the share %q of a quantile is no fraction", f.At)
		}
		q, _ := share.Float64()
		laws[f.At], all[f.At] = NewDistribution(bins, q, s.prefixNoise(q), confidence), make([]Figure, n.cells)
	}
	for cell := range n.cells {
		noisy := s.cellSums(p.values[cell*s.bins:][:s.bins])
		rising := NonDecreasing(noisy)
		for at, of := range laws {
			out := of.QuantileFigure(noisy, rising)
			if out.Value == out.Value {
				out.Value = float64(step * math.Floor(out.Value/step+0.5))
			}
			all[at][cell] = out
		}
	}
	return all, nil
}
