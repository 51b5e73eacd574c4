package synth

import (
	"context"
	"math"
)

// This file holds the variation between several files of rows from one model, which comes only from their drawing.

// scatter is the variation of the counts of a set of columns.
type scatter struct {
	files         int
	mean, squares []float64 // by cell: the mean, and the sum of squared deviations from it
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

// deviation returns the standard deviation of the count of a cell between files, as the root mean square over the
// cells.
func (s *scatter) deviation() float64 {
	if s.files < 2 {
		return 0
	}
	return math.Sqrt(sum(s.squares) / float64(s.files-1) / float64(len(s.squares)))
}

// tallyFile counts the rows of a file, if there are several files. It ends with the context.
func (d *Drawing) tallyFile(ctx context.Context, m Microdata) {
	if m.Files < 2 {
		return
	}
	if d.spread == nil {
		d.spread = make([]scatter, len(d.estimates))
	}
	for i, k := range d.estimates {
		if ctx.Err() != nil {
			return
		}
		d.spread[i].add(k.countRows(m.Codes))
	}
}

// Spread sets the spread of each fit to that of the files drawn so far.
func (d *Drawing) Spread(fits []Fit) {
	for i := range d.spread {
		fits[i].Spread = d.spread[i].deviation()
	}
}
