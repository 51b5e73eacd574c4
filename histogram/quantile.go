package histogram

// This file holds the quantiles: by which rows of each cell they are drawn, from where to where, and the drawing.

import (
	"context"
	"fmt"
	"math/big"
	"runtime"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// along adds the places of a column's values to the attributes of a query, whose cells are so many.
func (t *tally) along(attributes []int, c *spec.Column, cells uint64) ([]int, error) {
	at, err := t.number(c)
	if err != nil {
		return nil, err
	}
	if _, ok := product(cells, uint64(pointsOf(c.Lattice))); !ok {
		return nil, errManyCells
	}
	return append(attributes, place(&t.attributes, attribute{column: at})), nil
}

// quantiles are the answers of a measurement of quantiles: for each cell the places that are drawn at its shares, one after
// the other, from a stream of its own. Its rows are those of the exact answer, whose cells are pairs of a cell and a place.
// Impossible cells are not measured: they are 0 whatever the counts (docs/proofs/impossible.md).
//
// Guarantee: each place has exactly the law of [noise.Quantile], for the range of its cell's strata, which is public, and the
// draws are independent: what a unit moves are the counts of the cells that its rows are in. Neighbours: those of the
// mechanism. Argument: docs/proofs/quantile.md.
func (x *opened) quantiles(ctx context.Context, a answer) (measured.Measured, error) {
	release, m := x.exact.plan.Release(), a.measurement
	d, err := newDrawing(release, m)
	if err != nil {
		return measured.Measured{}, err
	}
	mask, err := m.Query.Impossible(release)
	if err != nil {
		return measured.Measured{}, err
	}
	drawn := make([]int64, m.Cells)
	err = parallel(ctx, runtime.GOMAXPROCS(0), int(m.Cells)/len(d.shares), func(cell int) error {
		if mask.Holds(uint64(cell)) {
			return nil
		}
		return d.draw(x.streams.Quantiles(a.definition, a.hash, cell), a, cell, drawn[cell*len(d.shares):])
	})
	if err != nil {
		return measured.Measured{}, err
	}
	values := memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(drawn)) // these very integers, not a copy
	data := array.NewData(arrow.PrimitiveTypes.Int64, len(drawn), []*memory.Buffer{nil, values}, nil, 0, 0)
	defer data.Release()
	return measured.Measured{Measurement: m, Values: array.NewInt64Data(data)}, nil
}

// drawing is how the quantiles of a measurement are drawn.
type drawing struct {
	lattice *spec.Lattice
	shares  [][2]int64 // numerator and denominator
	epsilon *big.Rat   // of each draw
	sizes   []int      // categories of each factor
	by      int        // the factor of the column that has ranges of its own; −1: none
	ranges  []spec.Stratum
}

func newDrawing(r *spec.Release, m plan.Measurement) (*drawing, error) {
	levels, err := m.Query.Levels(r)
	if err != nil {
		return nil, err
	}
	column := r.Table(m.Query.Table).Column(m.Query.Quantile.Column)
	if column == nil || column.Lattice == nil {
		return nil, errBug // counting refused it
	}
	d := &drawing{lattice: column.Lattice, by: -1}
	if d.epsilon, err = epsilonOf(m); err != nil {
		return nil, err
	}
	for _, at := range m.Query.Quantile.At {
		share, ok := new(big.Rat).SetString(at)
		if !ok || !share.Num().IsInt64() || !share.Denom().IsInt64() {
			return nil, fmt.Errorf("the share %q of a quantile is no fraction", at)
		}
		d.shares = append(d.shares, [2]int64{share.Num().Int64(), share.Denom().Int64()})
	}
	for i, level := range levels {
		d.sizes = append(d.sizes, level.Size())
		if d.lattice.By != "" && m.Query.Factors[i].Attribute == d.lattice.By {
			d.by, d.ranges = i, rangesOf(d.lattice, level)
		}
	}
	return d, nil
}

// epsilonOf is the ε of each draw of a measurement of quantiles.
func epsilonOf(m plan.Measurement) (*big.Rat, error) {
	if m.Mechanism.Kind != budget.ExponentialMechanism {
		return nil, fmt.Errorf("there is no drawing of quantiles by the mechanism %q", m.Mechanism.Kind)
	}
	return m.Mechanism.Parameter, nil
}

// rangesOf is for each category of a level of the column of strata the least range that holds those of its finest codes.
func rangesOf(l *spec.Lattice, level *spec.Level) []spec.Stratum {
	ranges := make([]spec.Stratum, level.Size())
	met := make([]bool, level.Size())
	for base, s := range l.Strata {
		code := uint32(base)
		if level.Of != nil {
			code = level.Of[base]
		}
		if !met[code] {
			ranges[code], met[code] = s, true
		}
		ranges[code] = spec.Stratum{First: min(ranges[code].First, s.First), Last: max(ranges[code].Last, s.Last)}
	}
	for code := range ranges {
		if !met[code] {
			ranges[code] = spec.Stratum{First: l.First, Last: l.Last}
		}
	}
	return ranges
}

// rangeOf is from where to where the values of a cell lie.
func (d *drawing) rangeOf(cell int) (first, last int64) {
	if d.by < 0 {
		return d.lattice.First, d.lattice.Last
	}
	for _, size := range d.sizes[d.by+1:] {
		cell /= size
	}
	s := d.ranges[cell%d.sizes[d.by]]
	return s.First, s.Last
}

// draw writes a place for each share of one cell.
func (d *drawing) draw(b *noise.Bits, a answer, cell int, to []int64) error {
	points := uint64(pointsOf(d.lattice))
	at := func(cell uint64) int {
		return sort.Search(len(a.cells), func(i int) bool { return a.cells[i] >= cell*points })
	}
	from, end := at(uint64(cell)), at(uint64(cell)+1)
	places := make([]int64, 0, end-from)
	for _, c := range a.cells[from:end] {
		places = append(places, d.lattice.First+int64(c%points))
	}
	first, last := d.rangeOf(cell)
	if n := len(places); n > 0 && (places[0] < first || places[n-1] > last) {
		return errBug // counting clamped it
	}
	for i, share := range d.shares {
		place, err := noise.Quantile(b, places, a.counts[from:end], first, last, share[0], share[1], 0, d.epsilon)
		if err != nil {
			return err
		}
		to[i] = place
	}
	return nil
}
