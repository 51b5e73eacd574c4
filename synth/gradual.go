package synth

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// This file holds rows that are brought step by step to the counts of sets of columns, if no tree of all of them is
// small enough: gradual update (GUM; Zhang, Wang, Li, Honorio, Backes, He, Chen & Zhang 2021).

const (
	updateSweeps = 24   // over all targets
	stepDecay    = 0.94 // factor of the step from one sweep to the next
)

// gradual is a law of rows that are drawn from a tree of pairs, and then changed set by set.
type gradual struct {
	*fixedEstimates
	aims []target
}

// drawRows draws n rows. They begin as rows of a tree of the pairs that depend on each other most. Then each sweep
// moves the rows towards every target: some rows of cells that have too many are freed, and given to cells that have
// too few, half of them as a copy of a row there, which preserves the joint distribution of all other columns, and half
// of them by changing only the columns of the target, which makes new rows.
func (g *gradual) drawRows(ctx context.Context, n int, r *stream) [][]uint32 {
	codes := g.startTree().drawRows(ctx, n, r)
	if ctx.Err() == nil && n > 0 {
		u := newUpdate(g, codes, r)
		step := 1.0
		for range updateSweeps {
			for i := range u.aims {
				if ctx.Err() != nil {
					return nil
				}
				u.moveToward(&u.aims[i], step)
			}
			step = float64(step * stepDecay)
		}
	}
	for i, c := range g.columns {
		if ctx.Err() != nil {
			return nil
		}
		codes[i] = spreadCodes(codes[i], c.classes, r)
	}
	shuffleRows(codes, r)
	return codes
}

// visitMarginals gives the targets: of single columns their counts, of larger sets their cells.
func (g *gradual) visitMarginals(ctx context.Context, of []setEstimate, found func(i int, counts []float64)) {
	for i := range of {
		if ctx.Err() != nil {
			return
		}
		s := &g.sets[i]
		if len(s.columns) == 1 {
			found(i, g.columns[s.columns[0]].countsBy(s.split[0]))
			continue
		}
		found(i, g.aims[slices.IndexFunc(g.aims, func(t target) bool { return t.set == s })].cells)
	}
}

// startTree returns the tree from which rows are first drawn: columns, and pairs of them that are farther from
// independence than noise explains, in descending order of dependence.
func (g *gradual) startTree() model {
	m := model{total: g.modelRows()}
	for i := range g.columns {
		m.columns = append(m.columns, g.columns[i].counts)
	}
	type edge struct {
		t     *target
		score float64
	}
	var edges []edge
	for i := range g.aims {
		t := &g.aims[i]
		if len(t.columns) != 2 || t.split[0] != 0 || t.split[1] != 0 {
			continue
		}
		edges = append(edges, edge{t, l1Distance(t.cells, m.independentCounts(t.columns)) -
			float64(float64(meanDeviation*t.sigma)*float64(len(positiveIndexes(t.cells))))})
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(b.score, a.score) })
	forest := adaptive.NewForest(len(g.columns))
	for _, e := range edges {
		if e.score > 0 && forest.WouldJoin(e.t.columns) {
			forest.Join(e.t.columns)
			m.pairs = append(m.pairs, pairTable{e.t.columns, e.t.sizes[1], e.t.cells})
		}
	}
	return m
}

// shuffleRows puts rows into a random order, so that the order carries no information.
func shuffleRows(codes [][]uint32, r *stream) {
	if len(codes) == 0 {
		return
	}
	order := identity[uint32](len(codes[0]))
	shuffle(r, order)
	for i, column := range codes {
		out := make([]uint32, len(column))
		for to, from := range order {
			out[to] = column[from]
		}
		codes[i] = out
	}
}

// update is the state of the rows during the update.
type update struct {
	codes     [][]uint32
	aims      []aimed
	r         *stream
	cells     []uint32 // by row: its cell
	rows      []uint32 // row indexes by cell, and one entry for all others
	freed     []uint32
	copied    []uint32 // rows to overwrite
	templates []uint32 // the rows they are copied from
}

// aimed is a target in whole rows.
type aimed struct {
	columns []int
	sizes   []int
	of      [][]uint32 // by column and finest class: the set's class; nil: the same
	parts   [][]shares // by column with a coarser partition and class: the finest classes in it
	want    []int32
	count   []int32
	bucket  []slot
	more    []int32 // rows that a cell is to gain; negative: to give
}

// slot is the position for the next row of a cell.
type slot struct{ next, step uint32 }

// shares are the finest classes of a class, with their counts.
type shares struct {
	classes []uint32
	counts  []float64
}

func newUpdate(g *gradual, codes [][]uint32, r *stream) *update {
	n := len(codes[0])
	u := &update{codes: codes, r: r, cells: make([]uint32, n), rows: make([]uint32, n+1)}
	// larger sets first: smaller ones are known better and have the last word
	for _, t := range slices.Backward(g.aims) {
		u.aims = append(u.aims, newAimed(g, t.set, t.cells, n, r))
	}
	return u
}

func newAimed(g *gradual, s *set, cells []float64, n int, r *stream) aimed {
	a := aimed{columns: s.columns, sizes: s.sizes, of: make([][]uint32, len(s.columns)),
		parts: make([][]shares, len(s.columns))}
	a.want, a.count, a.more, a.bucket = make([]int32, len(cells)), make([]int32, len(cells)), make([]int32, len(cells)),
		make([]slot, len(cells))
	for cell, k := range apportion(cells, n, r) {
		a.want[cell] = int32(k)
	}
	for i, column := range s.columns {
		if s.split[i] == 0 {
			continue
		}
		c := &g.columns[column]
		a.parts[i] = make([]shares, s.sizes[i])
		for class, of := range c.partitions[s.split[i]] {
			a.of[i] = append(a.of[i], uint32(of))
			p := &a.parts[i][of]
			p.classes, p.counts = append(p.classes, uint32(class)), append(p.counts, c.counts[class])
		}
	}
	return a
}

// moveToward moves rows towards a target by a part of the difference.
func (u *update) moveToward(a *aimed, step float64) {
	u.countCells(a)
	moves := 0
	for cell, want := range a.want {
		off := want - a.count[cell]
		a.more[cell] = 0
		if off == 0 {
			continue
		}
		part := float64(step * math.Abs(float64(off)))
		moved := int32(part)
		if u.r.unit() < part-float64(moved) {
			moved++
		}
		if off < 0 {
			a.more[cell] = -moved
		} else {
			a.more[cell] = moved
			moves += int(moved)
		}
	}
	if moves == 0 {
		return
	}
	u.sortRows(a)
	u.freeRows(a)
	u.fillCells(a)
}

// countCells finds the cell of each row, and counts the rows of each cell.
func (u *update) countCells(a *aimed) {
	clear(a.count)
	last := len(a.columns) - 1
	for i, column := range a.columns {
		size, codes, of := uint32(a.sizes[i]), u.codes[column], a.of[i]
		place := u.cells[:len(codes)]
		switch {
		case i == 0 && of == nil:
			copy(place, codes)
		case i == 0:
			for row, code := range codes {
				place[row] = of[code]
			}
		case of == nil && i == last:
			for row, code := range codes {
				at := place[row]*size + code
				place[row] = at
				a.count[at]++
			}
		case of == nil:
			for row, code := range codes {
				place[row] = place[row]*size + code
			}
		default:
			for row, code := range codes {
				place[row] = place[row]*size + of[code]
			}
		}
	}
	if last > 0 && a.of[last] == nil {
		return
	}
	for _, at := range u.cells {
		a.count[at]++
	}
}

// sortRows puts rows of cells that change into buckets. The rows of all other cells overwrite one entry at the end,
// which is faster than a test.
func (u *update) sortRows(a *aimed) {
	next := uint32(0)
	for cell, more := range a.more {
		if more == 0 {
			a.bucket[cell] = slot{uint32(len(u.cells)), 0}
			continue
		}
		a.bucket[cell] = slot{next, 1}
		next += uint32(a.count[cell])
	}
	for row, cell := range u.cells {
		s := &a.bucket[cell]
		u.rows[s.next] = uint32(row)
		s.next += s.step
	}
}

// rowsIn returns the rows of a cell that changes.
func (u *update) rowsIn(a *aimed, cell int) []uint32 {
	end := a.bucket[cell].next
	return u.rows[end-uint32(a.count[cell]) : end]
}

// freeRows draws the rows that cells give.
func (u *update) freeRows(a *aimed) {
	u.freed = u.freed[:0]
	for cell, more := range a.more {
		if more >= 0 {
			continue
		}
		rows := u.rowsIn(a, cell)
		for k := range -more {
			at := int(k) + int(u.r.below(uint64(len(rows)-int(k))))
			rows[k], rows[at] = rows[at], rows[k]
		}
		u.freed = append(u.freed, rows[:-more]...)
	}
	shuffle(u.r, u.freed)
}

// fillCells gives freed rows to the cells that lack some, as long as there are any.
func (u *update) fillCells(a *aimed) {
	left := u.freed
	u.copied, u.templates = u.copied[:0], u.templates[:0]
	categories := make([]uint32, len(a.columns))
	for cell, more := range a.more {
		if more <= 0 || len(left) == 0 {
			continue
		}
		at := cell
		for i := len(a.sizes) - 1; i >= 0; i-- {
			categories[i] = uint32(at % a.sizes[i])
			at /= a.sizes[i]
		}
		rows := u.rowsIn(a, cell)
		given := left[:min(int(more), len(left))]
		left = left[len(given):]
		copied := 0
		if len(rows) > 0 {
			copied = len(given) / 2
			if len(given)%2 == 1 && u.r.below(2) == 1 {
				copied++
			}
		}
		for i, row := range given {
			if i < copied {
				u.copied, u.templates = append(u.copied, row), append(u.templates, rows[u.r.below(uint64(len(rows)))])
				continue
			}
			for k, column := range a.columns {
				u.setClass(a, k, column, row, categories[k])
			}
		}
	}
	u.copyRows()
}

// manyCopied is the number of codes from which they are copied two columns at a time.
const manyCopied = 1 << 13

// copyRows copies rows, column by column. A row that is copied from is never overwritten.
func (u *update) copyRows() {
	column := func(i int) {
		codes := u.codes[i]
		for k, row := range u.copied {
			codes[row] = codes[u.templates[k]]
		}
	}
	if len(u.copied)*len(u.codes) >= manyCopied {
		parallel.Each(2, len(u.codes), column)
		return
	}
	for i := range u.codes {
		column(i)
	}
}

// setClass changes one column of a row: to the class itself or, if the class contains several finest classes and the
// row has none of them, to one of these, drawn by their counts.
func (u *update) setClass(a *aimed, k, column int, row, class uint32) {
	if a.of[k] == nil {
		u.codes[column][row] = class
		return
	}
	if a.of[k][u.codes[column][row]] == class {
		return
	}
	p := a.parts[k][class]
	mark := float64(u.r.unit() * sum(p.counts))
	for i, x := range p.counts {
		if mark -= x; mark < 0 || i == len(p.counts)-1 {
			u.codes[column][row] = p.classes[i]
			return
		}
	}
}
