package boosted

// This file holds Rows: the rows of a model, by distinct cell.

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"sync"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan/boosting"
)

// Rows are exact rows: a joint histogram in compact form, with the score of each cell. It shows "confidential" however
// it is printed. Its methods may be called concurrently; they take turns.
type Rows struct {
	answer.Redacted
	inner *rows
}

// rows is what Rows hides. An entry is a cell of the histogram; a cell of very many rows has several entries.
type rows struct {
	shape     *boosting.Shape
	residuals *boosting.Residuals
	columns   []codes // the category of each entry; the last is the target
	counts    []uint32

	mu     sync.Mutex
	scores []int32          // nil before the first round of residuals, when the joint histogram is still held
	scored *boosting.Scores // the tables that scores are of; nil: of none
}

// codes are the categories of a column, in whichever of the two forms fits them.
type codes struct {
	narrow []uint8
	wide   []uint16
}

// mostSum bounds rows times [boosting.Shape.RowUnit], so that neither a sum of residuals nor a count of held-out rows
// comes near 2⁶¹.
const mostSum = int64(1) << 60

// Errors name no value of the data.
var (
	errCells = errors.New("the cells of a joint histogram are ascending and within its sizes; no count is negative")
	errMany  = errors.New("a model has more rows than its sums can hold exactly")
)

// New returns the rows of a joint histogram that a model is fitted to, and those that are held out.
//
// cells are the row-major indices of the cells with rows, the last column (the target) fastest, ascending; counts are
// their numbers of rows. The shape gives the sizes. Neither slice is kept.
//
// Guarantee: one row more in the histogram is one row more in exactly one of the two.
//
// It returns an error for a shape that Check refuses, for more cells than 2⁶⁴, for cells or counts that are not as
// described, for a share of 1 or more, and if the context ends.
func New(ctx context.Context, shape *boosting.Shape, cells []uint64, counts []int64, split Split) (fitted,
	heldOut *Rows, err error) {
	if err := shape.Check(); err != nil {
		return nil, nil, err
	}
	if err := checkCells(shape, cells, counts); err != nil {
		return nil, nil, err
	}
	d := &decoder{shape: shape, cells: cells, counts: counts, split: split}
	if err := d.count(ctx); err != nil {
		return nil, nil, err
	}
	return d.decode(ctx)
}

// checkCells returns an error unless a joint histogram is as New describes it.
func checkCells(shape *boosting.Shape, cells []uint64, counts []int64) error {
	product, most := uint64(1), mostSum/shape.RowUnit()
	for _, size := range shape.Sizes() {
		high, low := bits.Mul64(product, uint64(size))
		if high > 0 {
			return errors.New("the columns of a model have more than 2^64 cells")
		}
		product = low
	}
	if len(cells) != len(counts) {
		return errCells
	}
	total := int64(0)
	for i, cell := range cells {
		if cell >= product || i > 0 && cell <= cells[i-1] || counts[i] < 0 {
			return errCells
		}
		if counts[i] > most-total {
			return errMany
		}
		total += counts[i]
	}
	return nil
}

// chunk is how many entries are worked on at a time: their scores and codes fit a cache of the second level.
const chunk = 1 << 14

// decoder makes Rows of cells.
type decoder struct {
	shape  *boosting.Shape
	cells  []uint64
	counts []int64
	split  Split
	starts [2][]int // of both parts: the first entry of each chunk of cells, and the number of entries
}

// eachChunk calls do for every chunk of n things: its index and its first and last plus one.
func eachChunk(ctx context.Context, n int, do func(i, from, to int) error) error {
	return parallel.Do(ctx, runtime.GOMAXPROCS(0), (n+chunk-1)/chunk, func(i int) error {
		return do(i, i*chunk, min((i+1)*chunk, n))
	})
}

// parts calls do with the counts of each cell of a chunk in both parts.
func (d *decoder) parts(from, to int, do func(cell uint64, counts [2]int64)) error {
	x, err := d.split.splitter()
	if err != nil {
		return err
	}
	for i := from; i < to; i++ {
		held := x.heldOut(d.cells[i], d.counts[i])
		do(d.cells[i], [2]int64{d.counts[i] - held, held})
	}
	return nil
}

// entries returns how many entries a count takes.
func entries(count int64) int { return int((count + math.MaxUint32 - 1) / math.MaxUint32) }

// count counts the entries of all chunks.
func (d *decoder) count(ctx context.Context) error {
	n := (len(d.cells) + chunk - 1) / chunk
	for part := range d.starts {
		d.starts[part] = make([]int, n+1)
	}
	err := eachChunk(ctx, len(d.cells), func(i, from, to int) error {
		return d.parts(from, to, func(_ uint64, counts [2]int64) {
			for part, count := range counts {
				d.starts[part][i+1] += entries(count)
			}
		})
	})
	for _, starts := range d.starts {
		for i := range n {
			starts[i+1] += starts[i]
		}
	}
	return err
}

// decode fills both parts.
func (d *decoder) decode(ctx context.Context) (fitted, heldOut *Rows, err error) {
	residuals, sizes := d.shape.Residuals(), d.shape.Sizes()
	var both [2]*rows
	for part, starts := range d.starts {
		n := starts[len(starts)-1]
		r := &rows{shape: d.shape, residuals: residuals, counts: make([]uint32, n)}
		for _, size := range sizes {
			var of codes
			if size <= 1<<8 {
				of.narrow = make([]uint8, n)
			} else {
				of.wide = make([]uint16, n)
			}
			r.columns = append(r.columns, of)
		}
		both[part] = r
	}
	err = eachChunk(ctx, len(d.cells), func(i, from, to int) error {
		at := [2]int{d.starts[0][i], d.starts[1][i]}
		return d.parts(from, to, func(cell uint64, counts [2]int64) {
			for part, count := range counts {
				for ; count > 0; count -= math.MaxUint32 {
					both[part].set(at[part], sizes, cell, uint32(min(count, math.MaxUint32)))
					at[part]++
				}
			}
		})
	})
	if err != nil {
		return nil, nil, err
	}
	return &Rows{inner: both[0]}, &Rows{inner: both[1]}, nil
}

// set sets an entry to a cell of a histogram of these sizes.
func (r *rows) set(entry int, sizes []int, cell uint64, count uint32) {
	r.counts[entry] = count
	for c := len(r.columns) - 1; c >= 0; c-- {
		size := uint64(sizes[c])
		code := cell % size
		cell /= size
		if of := r.columns[c]; of.narrow != nil {
			of.narrow[entry] = uint8(code)
		} else {
			of.wide[entry] = uint16(code)
		}
	}
}

// Answer answers the question of a round exactly: [boosting.Question.Len] integers.
//
// Sensitivity: one row more changes one of the integers, by 1 in a round that counts and by at most [boosting.Bound] in
// a round that sums residuals, whatever the question, and a gradient by the row's features times at most Bound. k rows
// more change them by at most k times as much, in L1 and in L2.
//
// It returns an error for a question that [boosting.Shape.CheckQuestion] refuses, and if the context ends.
func (r *Rows) Answer(ctx context.Context, round int, q boosting.Question) ([]int64, error) {
	x := r.inner
	if err := x.shape.CheckQuestion(round, q); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case q.Scores == nil:
		return x.countCategories(ctx, q.Column)
	case x.shape.Design != nil:
		return x.sumGradient(ctx, q.Scores)
	}
	return x.sumResiduals(ctx, q)
}

// codesOf returns the categories of a range of entries in a column, in a pair or of the target, by its number. Those in
// a pair are worked out from both columns, so that a pair takes no memory.
func (r *rows) codesOf(column, from, to int) codes {
	pair, ok := r.shape.Pair(column)
	if !ok {
		return r.columns[min(column, len(r.columns)-1)].part(from, to)
	}
	both := codes{wide: make([]uint16, to-from)}
	r.columns[pair[0]].part(from, to).addTo(both.wide, r.shape.Columns[pair[1]].Categories)
	r.columns[pair[1]].part(from, to).addTo(both.wide, 1)
	return both
}

// part returns the categories of a range of entries.
func (c codes) part(from, to int) codes {
	if c.narrow != nil {
		return codes{narrow: c.narrow[from:to]}
	}
	return codes{wide: c.wide[from:to]}
}

// addTo adds a multiple of each category to a number.
func (c codes) addTo(to []uint16, times int) {
	if c.narrow != nil {
		addMultiples(to, c.narrow, uint16(times))
	} else {
		addMultiples(to, c.wide, uint16(times))
	}
}

// addMultiples adds a multiple of each code to a number.
func addMultiples[C uint8 | uint16](to []uint16, of []C, times uint16) {
	for i, code := range of {
		to[i] += uint16(code) * times
	}
}

// sums adds up the sums of chunks.
type sums struct {
	mu  sync.Mutex
	all []int64
}

// add adds the sums of a chunk.
func (s *sums) add(of []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, x := range of {
		s.all[i] += x
	}
}

// countCategories counts the rows of each category of a column.
func (r *rows) countCategories(ctx context.Context, column int) ([]int64, error) {
	total := sums{all: make([]int64, r.shape.Categories(column))}
	err := eachChunk(ctx, len(r.counts), func(_, from, to int) error {
		of := make([]int64, len(total.all))
		if c := r.codesOf(column, from, to); c.narrow != nil {
			addCounts(of, c.narrow, r.counts[from:to])
		} else {
			addCounts(of, c.wide, r.counts[from:to])
		}
		total.add(of)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return total.all, nil
}

// addCounts adds the counts of entries to those of their categories.
func addCounts[C uint8 | uint16](to []int64, of []C, counts []uint32) {
	for i, code := range of {
		to[code] += int64(counts[i])
	}
}

// sumResiduals sums the residuals of each group of the categories of a column or pair.
func (r *rows) sumResiduals(ctx context.Context, q boosting.Question) ([]int64, error) {
	total := sums{all: make([]int64, q.Len(r.shape))}
	table := make([]uint8, len(q.Groups))
	for k, g := range q.Groups {
		table[k] = uint8(g)
	}
	update := r.updateTo(q.Scores)
	err := eachChunk(ctx, len(r.counts), func(_, from, to int) error {
		update(from, to)
		var of [boosting.MostGroups]int64
		column, target := r.codesOf(q.Column, from, to), r.codesOf(r.shape.Target(), from, to)
		counts, scores := r.counts[from:to], r.scores[from:to]
		switch {
		case column.narrow != nil && target.narrow != nil:
			addResiduals(&of, r.residuals, table, column.narrow, target.narrow, counts, scores)
		case column.narrow != nil:
			addResiduals(&of, r.residuals, table, column.narrow, target.wide, counts, scores)
		case target.narrow != nil:
			addResiduals(&of, r.residuals, table, column.wide, target.narrow, counts, scores)
		default:
			addResiduals(&of, r.residuals, table, column.wide, target.wide, counts, scores)
		}
		total.add(of[:len(total.all)])
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.scored = clone(q.Scores)
	return total.all, nil
}

// addResiduals adds the residuals of entries to the sums of their groups.
func addResiduals[C, T uint8 | uint16](to *[boosting.MostGroups]int64, r *boosting.Residuals, groups []uint8, of []C,
	targets []T, counts []uint32, scores []int32) {
	for i, code := range of {
		to[groups[code]%boosting.MostGroups] += int64(counts[i]) * int64(r.Of(int(targets[i]), scores[i]))
	}
}
