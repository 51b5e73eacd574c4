package synth

import (
	"context"
	"math"
)

// This file holds how far several files of rows from one model lie from each other: by their drawing, and by nothing
// else.

// scatter is that of the counts of a set of columns.
type scatter struct {
	files         int
	mean, squares []float64 // of each cell: the mean, and the sum of squared distances from it
}

// add takes the counts of one more file (Welford 1962).
func (s *scatter) add(counts []float64) {
	if s.mean == nil {
		s.mean, s.squares = make([]float64, len(counts)), make([]float64, len(counts))
	}
	s.files++
	for i, x := range counts {
		off := x - s.mean[i]
		s.mean[i] += off / float64(s.files)
		s.squares[i] += float64(off * (x - s.mean[i]))
	}
}

// deviation is the standard deviation of the counts of a cell between files, as the root of the mean square over cells.
func (s *scatter) deviation() float64 {
	if s.files < 2 {
		return 0
	}
	return math.Sqrt(sum(s.squares) / float64(s.files-1) / float64(len(s.squares)))
}

// tally counts rows of a file, where several are drawn. It ends with the context.
func (d *Drawing) tally(ctx context.Context, m Microdata) {
	if m.Files < 2 {
		return
	}
	if d.spread == nil {
		d.spread = make([]scatter, len(d.known))
	}
	for i, k := range d.known {
		if ctx.Err() != nil {
			return
		}
		d.spread[i].add(k.tally(m.Codes))
	}
}

// Spread tells of each of the fits of microdata how far the files lie from each other that were drawn so far.
func (d *Drawing) Spread(fits []Fit) {
	for i := range d.spread {
		fits[i].Spread = d.spread[i].deviation()
	}
}
