package histogram

// This file holds the quantiles: the rows and the range of each cell, and the drawing.

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"sort"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/spec"
)

// drawQuantiles returns the answers to a measurement of quantiles: for each cell the lattice indexes drawn at its
// shares, one after another, from a stream of its own. The rows of a cell are in the exact answer, whose cells are
// pairs of a cell and a lattice index. Impossible cells are not measured: they are 0 whatever the counts
// (docs/proofs/impossible.md).
//
// Guarantee: each lattice index has exactly the law of [noise.Quantile], for the range of its cell's strata, which is
// public, and the draws are independent: a unit changes only the counts of the cells that its rows are in.
// Neighbours: those of the mechanism. Argument: docs/proofs/values.md.
func (x *opened) drawQuantiles(ctx context.Context, a exactAnswer) (measured.Measured, error) {
	release, m := x.exact.plan.Release(), a.measurement
	d, err := newQuantileDrawing(release, m)
	if err != nil {
		return measured.Measured{}, err
	}
	mask, err := impossible.Of(m.Query, release)
	if err != nil {
		return measured.Measured{}, err
	}
	drawn, each := make([]int64, m.Cells), d.Draws()
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), len(drawn)/each, func(cell int) error {
		if mask.IsImpossible(uint64(cell)) {
			return nil
		}
		return d.drawCell(x.streams.Quantiles(a.definition, a.hash, cell), a, cell, drawn[cell*each:(cell+1)*each])
	})
	if err != nil {
		return measured.Measured{}, err
	}
	return measured.Measured{Measurement: m, Values: int64Array(drawn)}, nil
}

// quantileDrawing is how the quantiles of a measurement are drawn.
type quantileDrawing struct {
	counted.Quantiles
	lattice     *domain.Lattice
	shares      []int64    // in parts of denominator
	epsilons    []*big.Rat // by share, the ε of its choice
	denominator int64
	sizes       []int // by factor, its number of categories
	by          int   // index of the factor of the column of strata; −1: none
	ranges      []domain.Stratum
}

// errNotDrawn is the error for answers that are said to be drawn, and for which nothing draws.
var errNotDrawn = errors.New("nothing draws what this measurement counts")

// checkCanDraw returns an error if the answers of a measurement are to be drawn and cannot be.
func checkCanDraw(r *spec.Release, m plan.Measurement) error {
	if !m.Query.Counted.Kind().Traits().Drawn {
		return nil
	}
	if _, ok := m.Query.Counted.(counted.Quantiles); !ok {
		return errNotDrawn
	}
	_, err := newQuantileDrawing(r, m)
	return err
}

// newQuantileDrawing returns an error if what the plan says cannot be drawn. It is called before anything is counted.
func newQuantileDrawing(r *spec.Release, m plan.Measurement) (*quantileDrawing, error) {
	levels, err := m.Query.Levels(r)
	if err != nil {
		return nil, err
	}
	table, q := r.Table(m.Query.Table), m.Query.Counted.(counted.Quantiles)
	d := &quantileDrawing{Quantiles: q, lattice: table.Column(q.Column).Lattice, by: -1}
	var at []*big.Rat
	for _, text := range d.At {
		share, ok := new(big.Rat).SetString(text)
		if !ok {
			return nil, fmt.Errorf("the share %q of a quantile is no fraction", text)
		}
		at = append(at, share)
	}
	if d.shares, d.denominator, err = budget.CommonShares(at); err != nil {
		return nil, err
	}
	if d.Shift < 0 || d.Beyond < 0 || d.Beyond > answer.MaxMagnitude/2 {
		return nil, fmt.Errorf("the ends of intervals are drawn for a rank %d lower, with %d places more", d.Shift,
			d.Beyond)
	}
	for _, share := range d.shares {
		epsilon := m.Mechanism.ChoiceEpsilon(share, d.denominator)
		if epsilon == nil {
			return nil, fmt.Errorf("there is no drawing of quantiles by the mechanism %q", m.Mechanism.Kind)
		}
		d.epsilons = append(d.epsilons, epsilon)
	}
	for i, level := range levels {
		d.sizes = append(d.sizes, level.Size())
		if f := m.Query.Factors[i]; d.lattice.By != "" && f.Attribute == d.lattice.By {
			d.by, d.ranges = i, rangesByCategory(d.lattice, level)
		}
	}
	return d, nil
}

// rangesByCategory returns, for each category of a level of the column of strata, the smallest range that contains
// the ranges of its finest codes.
func rangesByCategory(l *domain.Lattice, level *domain.Level) []domain.Stratum {
	ranges := make([]domain.Stratum, level.Size())
	met := make([]bool, level.Size())
	for base, s := range l.Strata {
		code := level.Category(base)
		if !met[code] {
			ranges[code], met[code] = s, true
		}
		ranges[code] = domain.Stratum{First: min(ranges[code].First, s.First), Last: max(ranges[code].Last, s.Last)}
	}
	for code := range ranges {
		if !met[code] {
			ranges[code] = domain.Stratum{First: l.First, Last: l.Last}
		}
	}
	return ranges
}

// rangeOf returns the range of the values of a cell.
func (d *quantileDrawing) rangeOf(cell int) (first, last int64) {
	if d.by < 0 {
		return d.lattice.First, d.lattice.Last
	}
	for _, size := range d.sizes[d.by+1:] {
		cell /= size
	}
	s := d.ranges[cell%d.sizes[d.by]]
	return s.First, s.Last
}

// drawCell writes what is drawn for one cell.
func (d *quantileDrawing) drawCell(b *noise.Bits, a exactAnswer, cell int, to []int64) error {
	points := uint64(d.lattice.PointCount())
	at := func(cell uint64) int {
		return sort.Search(len(a.Cells), func(i int) bool { return a.Cells[i] >= cell*points })
	}
	from, end := at(uint64(cell)), at(uint64(cell)+1)
	places, counts := make([]int64, 0, end-from), a.Counts[from:end]
	for _, c := range a.Cells[from:end] {
		places = append(places, d.lattice.First+int64(c%points))
	}
	first, last := d.rangeOf(cell)
	if n := len(places); n > 0 && (places[0] < first || places[n-1] > last) {
		return parallel.ErrBug // counting has clamped all values
	}
	next := 0
	choose := func(share int, shift, before, after int64) error {
		place, err := noise.Quantile(b, places, counts, first-before, last+after, d.shares[share], d.denominator, shift,
			d.epsilons[share])
		to[next] = min(max(place, first), last)
		next++
		return err
	}
	for share := range d.shares {
		if err := choose(share, 0, 0, 0); err != nil {
			return err
		}
		if d.Shift == 0 {
			continue
		}
		if err := choose(share, -d.Shift, d.Beyond, 0); err != nil {
			return err
		}
		if err := choose(share, d.Shift, 0, d.Beyond); err != nil {
			return err
		}
	}
	return nil
}
