// Package moments counts the exact moments of a regression: sums of products of the features of its rows.
//
// It owns the one pass over the joint histogram. It adds no noise, never computes in floating point, and gives its
// sums to packages below histogram only.
package moments

import (
	"context"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan/design"
)

// batch is how many cells are decoded at a time: few enough that their columns stay in the cache.
const batch = 1 << 12

// Count returns the moments of a table, on the diagonal and off it, in the layout of the design: exact integers of at
// most 2^61 in absolute value. Cells are row-major over the sizes of the design's columns, the last fastest, in any
// order, and counts has the number of rows of each, at least 0. It runs on at most workers goroutines, and the sums
// do not depend on how many.
//
// It reports an error, without a confidential number, if a cell does not exist, a count is negative, or there are more
// than [design.MaxRows] rows; and the context's.
func Count(ctx context.Context, d *design.Design, cells []uint64, counts []int64, workers int) (
	diagonal, offDiagonal []int64, err error) {
	if len(cells) != len(counts) {
		return nil, nil, errors.New("moments: cells and counts differ in number")
	}
	if err := checkRows(counts); err != nil {
		return nil, nil, err
	}
	workers = max(1, min(workers, (len(cells)+batch-1)/batch))
	parts := make([]*sums, workers)
	err = parallel.Do(ctx, workers, workers, func(i int) error {
		parts[i] = newSums(d)
		from, to := len(cells)/workers*i, len(cells)/workers*(i+1)
		if i == workers-1 {
			to = len(cells)
		}
		for ; from < to; from += batch {
			if err := ctx.Err(); err != nil {
				return err
			}
			end := min(to, from+batch)
			if err := parts[i].add(cells[from:end], counts[from:end]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("counting the moments of a regression: %w", err)
	}
	for _, p := range parts[1:] {
		addTo(parts[0].diagonal, p.diagonal)
		addTo(parts[0].offDiagonal, p.offDiagonal)
	}
	return parts[0].diagonal, parts[0].offDiagonal, nil
}

// checkRows reports an error if the counts are not those of at most [design.MaxRows] rows. A moment is at most the
// rows times Scale², so no sum overflows if there are no more.
func checkRows(counts []int64) error {
	rows := int64(0)
	for _, n := range counts {
		if n < 0 || n > design.MaxRows-rows {
			return errors.New("moments: the table has more rows than a regression can count")
		}
		rows += n
	}
	return nil
}

// addTo adds the elements of from to those of to.
func addTo(to, from []int64) {
	for i, x := range from {
		to[i] += x
	}
}

// sums are the moments of some of the cells.
type sums struct {
	design                *design.Design
	diagonal, offDiagonal []int64
	columns               []column // by encoding, of the batch at hand
}

// column is a column of a batch: for each cell the feature that is not 0, its value, and its value times the count; and
// over all cells of the batch the sum of squares.
type column struct {
	feature         []int32
	value, weighted []int64
	squares         int64
}

// newSums returns sums of no cells.
func newSums(d *design.Design) *sums {
	on, off := d.Lengths()
	s := &sums{design: d, diagonal: make([]int64, on), offDiagonal: make([]int64, off)}
	for range d.Encodings() {
		s.columns = append(s.columns, column{feature: make([]int32, batch), value: make([]int64, batch),
			weighted: make([]int64, batch)})
	}
	for i := range s.columns[0].value {
		s.columns[0].value[i] = design.Scale
	}
	return s
}

// add adds cells with their counts, at most a batch.
func (s *sums) add(cells []uint64, counts []int64) error {
	if err := s.decode(cells, counts); err != nil {
		return err
	}
	n := len(cells)
	for i, e := range s.design.Squares() {
		s.diagonal[i] += s.columns[e].squares
	}
	encodings := s.design.Encodings()
	for a := range encodings {
		for b := a + 1; b < len(encodings); b++ {
			from, rows, width := s.design.Block(a, b), encodings[a].Width, encodings[b].Width
			block := s.offDiagonal[from : from+rows*width]
			x, y := s.columns[a], s.columns[b]
			if len(block) == 1 {
				block[0] += product(x.weighted[:n], y.value[:n])
				continue
			}
			addProducts(block, width, x.feature[:n], y.feature[:n], x.weighted[:n], y.value[:n])
		}
	}
	return nil
}

// decode reads the columns of a batch.
func (s *sums) decode(cells []uint64, counts []int64) error {
	rest := make([]uint64, len(cells))
	copy(rest, cells)
	sizes := s.design.Sizes()
	for c := len(sizes); c > 0; c-- {
		e, size, to := s.design.Encodings()[c], uint64(sizes[c-1]), &s.columns[c]
		to.squares = 0
		for i, cell := range rest {
			code := cell % size
			rest[i] = cell / size
			to.feature[i], to.value[i] = int32(e.Offset[code]), e.Value[code]
			to.weighted[i] = e.Value[code] * counts[i]
			if e.Square != nil {
				to.squares += e.Square[code] * counts[i]
			}
		}
	}
	s.columns[0].squares = 0
	for i, cell := range rest {
		if cell != 0 {
			return errors.New("a cell lies outside of the columns' categories")
		}
		s.columns[0].weighted[i] = design.Scale * counts[i]
		s.columns[0].squares += design.Scale * design.Scale * counts[i]
	}
	return nil
}

// product returns Σ x·y.
func product(x, y []int64) int64 {
	sum := int64(0)
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// addProducts adds x·y of each cell to the entry of a block that its two features have.
func addProducts(block []int64, width int, rows, columns []int32, x, y []int64) {
	for i, v := range x {
		block[int(rows[i])*width+int(columns[i])] += v * y[i]
	}
}
