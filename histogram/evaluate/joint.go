package evaluate

// This file holds the comparison of whole rows of microdata with the true rows: which unique rows are matched, and
// how well the two kinds can be distinguished.

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"

	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/plan"
)

// Joint compares whole rows of microdata with the true rows, in the columns of [Rows.Whole]. It is a yardstick and an
// alarm; nothing in it says how well anybody is protected.
type Joint struct {
	answer.Redacted
	// TooLarge reports that the distinct rows of the truth do not fit into memory; then nothing else is set.
	TooLarge bool
	Unique   int64 // true rows that no other true row equals
	Matched  int64 // number of these that equal some row of the microdata
	// Independent is the mean number of them that would be matched by equally many rows whose columns were drawn
	// independently, by the shares of the microdata.
	Independent float64
	// Propensity is nil if the truth has no rows or none were drawn.
	Propensity *Propensity
}

// askWhole asks for the whole rows of the truth in a batch of their own, because the number of distinct rows is not
// known beforehand.
func (c *comparison) askWhole(ctx context.Context, r Rows, levels []*domain.Level, out **Joint) error {
	if len(r.Whole) == 0 {
		return nil
	}
	table := c.plan.Release().Table(r.Table)
	var by []plan.Factor
	var sizes []int
	var order []bool
	var codes [][]uint32
	for _, place := range r.Whole {
		if place < 0 || place >= len(levels) {
			return errors.New("a whole row has a column that the microdata do not have")
		}
		by, codes = append(by, r.By[place]), append(codes, r.Codes[place])
		sizes = append(sizes, levels[place].Size())
		order = append(order, inOrder(table.Column(r.By[place].Attribute), levels[place]))
	}
	m, err := jointOfColumns(fmt.Sprintf("microdata of %s, whole rows", r.Table), r.Table, by, sizes)
	if err != nil {
		return err
	}
	c.questions = append(c.questions, question{measurement: m, compare: func(truth answer.Answer) error {
		var err error
		*out, err = jointOf(ctx, cellsOfRows(codes, sizes), truth, sizes, order)
		return err
	}, tooLarge: func() { *out = &Joint{TooLarge: true} }})
	return nil
}

// jointOfColumns returns the question for the number of rows of each combination of categories of columns that has
// rows. It returns an error if there could be too many to be numbered.
func jointOfColumns(id, table string, by []plan.Factor, sizes []int) (plan.Measurement, error) {
	m := plan.Measurement{ID: id, Query: plan.Query{Table: table, Factors: by, Counted: counted.Rows{}}, Cells: 1,
		Selection: selection.Top{}}
	for _, size := range sizes {
		if m.Cells > math.MaxInt64/int64(size) {
			return m, fmt.Errorf("%s: they could be of more kinds than can be counted", id)
		}
		m.Cells *= int64(size)
	}
	return m, nil
}

// cellsOfRows returns the cells of rows of codes, row-major over the columns, sorted.
func cellsOfRows(codes [][]uint32, sizes []int) []uint64 {
	rows := 0
	if len(codes) > 0 {
		rows = len(codes[0])
	}
	cells := make([]uint64, rows)
	for i, column := range codes {
		for row, code := range column {
			cells[row] = cells[row]*uint64(sizes[i]) + uint64(code)
		}
	}
	slices.Sort(cells)
	return cells
}

// jointOf compares rows, given as their cells in ascending order, with the true ones.
func jointOf(ctx context.Context, drawn []uint64, truth answer.Answer, sizes []int, order []bool) (*Joint, error) {
	j := &Joint{}
	shares := sharesOf(drawn, sizes)
	n := float64(len(drawn))
	for i, count := range truth.Counts {
		if count != 1 {
			continue
		}
		j.Unique++
		if _, met := slices.BinarySearch(drawn, truth.Cells[i]); met {
			j.Matched++
		}
		chance := 1.0
		eachCode(truth.Cells[i], sizes, func(column, code int) { chance *= shares[column][code] })
		j.Independent += -math.Expm1(n * math.Log1p(-chance)) // all equal to it: log 0 is −∞, which makes 1
	}
	if len(drawn) == 0 || len(truth.Cells) == 0 {
		return j, nil
	}
	lots := &randomness{from: bufio.NewReader(rand.Reader)}
	p, err := propensityOf(ctx, runtime.GOMAXPROCS(0), newPool(drawn, truth, sizes, order, lots), lots)
	j.Propensity = p
	return j, err
}

// sharesOf returns the share of every category of every column.
func sharesOf(cells []uint64, sizes []int) [][]float64 {
	shares := make([][]float64, len(sizes))
	for i, size := range sizes {
		shares[i] = make([]float64, size)
	}
	for _, cell := range cells {
		eachCode(cell, sizes, func(column, code int) { shares[column][code]++ })
	}
	for _, column := range shares {
		for code := range column {
			column[code] /= float64(max(len(cells), 1))
		}
	}
	return shares
}

// eachCode calls do with the code of every column of a cell, from the last to the first.
func eachCode(cell uint64, sizes []int, do func(column, code int)) {
	for column := len(sizes) - 1; column >= 0; column-- {
		do(column, int(cell%uint64(sizes[column])))
		cell /= uint64(sizes[column])
	}
}

// randomness is random numbers of the machine, fresh for every comparison. What they decide goes into no release.
type randomness struct {
	from *bufio.Reader
	err  error
}

// drawBelow returns a uniform number in 0 … n−1.
func (l *randomness) drawBelow(n int) int {
	var b [8]byte
	for most := uint64(math.MaxUint64) - uint64(math.MaxUint64)%uint64(n); ; {
		if _, err := io.ReadFull(l.from, b[:]); err != nil {
			l.err = err
			return 0
		}
		if x := binary.LittleEndian.Uint64(b[:]); x < most {
			return int(x % uint64(n))
		}
	}
}

// drawSubset returns k of 0 … n−1, ascending, every set of them equally likely (Floyd), and all n if n ≤ k.
func (l *randomness) drawSubset(k, n int) []int {
	chosen := make(map[int]bool, min(k, n))
	for i := max(n-k, 0); i < n; i++ {
		if at := l.drawBelow(i + 1); k < n && !chosen[at] {
			chosen[at] = true
		} else {
			chosen[i] = true
		}
	}
	return slices.Sorted(maps.Keys(chosen))
}
