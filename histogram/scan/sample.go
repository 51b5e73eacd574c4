package scan

// This file holds the drawing of units in a sampled table.

import (
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/internal/noise"
)

// prepareSample prepares the drawing of units if the table is sampled.
func (t *tally) prepareSample(s *noise.RowStreams) error {
	if !t.drawsUnits() {
		return nil
	}
	units := bounding.NewSample(t.table.Sample.Rate(), s.Sampling(t.table.Name, 0))
	for range t.workers {
		one, err := units.Sampler()
		if err != nil {
			return err
		}
		t.samplers = append(t.samplers, one)
	}
	return nil
}

// withoutUndrawn adds the rows whose unit is not drawn to the rows of a chunk that are left out.
func (t *tally) withoutUndrawn(worker int, c *chunk, piece int, first int64, out []uint64) []uint64 {
	if t.samplers == nil {
		return out
	}
	return t.samplers[worker].Mask(c.ids, c.rows, piece, first, out)
}

// madeUpSample returns a function that draws the units of a rehearsal, each of which is one row.
func (t *tally) madeUpSample(stream *noise.Bits) func() bool {
	if !t.table.Sample.Partial() {
		return func() bool { return true }
	}
	below := bounding.Threshold(t.table.Sample.Rate())
	return func() bool { return stream.Uint64() < below }
}

// drawsUnits reports whether not all units are measured.
func (t *tally) drawsUnits() bool { return t.table.Sample.Partial() }
