package evaluate

// This file holds the propensity score: how well a decision tree tells rows of microdata from true ones.

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/parallel"
)

// Propensity is the propensity score mean squared error of rows of microdata and true rows that were put together (Woo,
// Reiter, Oganian & Karr 2009; Snoke, Raab, Nowok, Dibben & Slavkovic 2018): pMSE = Σ(p − c)²/N over the N rows of
// both, where c is the part of the microdata among them, and p what a classification tree says of a row. It is 0 where
// the tree tells nothing apart, and c(1 − c) where it tells everything.
type Propensity struct {
	answer.Redacted
	TrueRows, DrawnRows int // that were put together
	Leaves              int // of the tree
	PMSE                float64
	// Null is the mean of what trees of rows with the two names dealt out by lot have, and NullError its standard
	// deviation, over NullTrees of them: the null expectation of the literature, by permutation.
	Null, NullError float64
	NullTrees       int
}

const (
	// propensityRows bounds the rows of either kind that are put together: more are sampled.
	propensityRows = 50_000
	// propensityDepth is of how many questions in a row the tree is, at most, and propensityLeaf how many rows a leaf of
	// it has, at least.
	propensityDepth, propensityLeaf = 6, 20
	// propensityNulls is how often the names are dealt out by lot.
	propensityNulls = 10
)

// pool is rows of both kinds put together.
type pool struct {
	codes [][]int32 // by column and row: ranks among the categories that are there
	sizes []int     // how many these are
	order []bool    // which columns are in order
	drawn []uint64  // trueRow or drawnRow, of each row: sums of these are counts of both
}

// A row counts as one in the upper half of 64 bits, and as one in the lower half if it is of the microdata.
const (
	trueRow  = uint64(1) << 32
	drawnRow = trueRow + 1
)

// newPool puts rows together, given as cells; at most propensityRows of either kind, chosen by lot.
func newPool(drawn []uint64, truth answer.Answer, sizes []int, order []bool, lots *lots) *pool {
	var cells []uint64
	for _, i := range lots.some(propensityRows, len(drawn)) {
		cells = append(cells, drawn[i])
	}
	p := &pool{order: order, drawn: slices.Repeat([]uint64{drawnRow}, len(cells))}
	cell, before := 0, int64(0) // how many rows are in the cells before
	for _, i := range lots.some(propensityRows, int(total(truth.Counts))) {
		for before+truth.Counts[cell] <= int64(i) {
			before += truth.Counts[cell]
			cell++
		}
		cells = append(cells, truth.Cells[cell])
	}
	p.drawn = append(p.drawn, slices.Repeat([]uint64{trueRow}, len(cells)-len(p.drawn))...)
	p.codes = make([][]int32, len(sizes))
	for i := range p.codes {
		p.codes[i] = make([]int32, len(cells))
	}
	for row, cell := range cells {
		eachCode(cell, sizes, func(column, code int) { p.codes[column][row] = int32(code) })
	}
	for i, size := range sizes {
		p.sizes = append(p.sizes, rank(p.codes[i], size))
	}
	return p
}

// rank puts the ranks of codes, among those that are there, in their place, and returns how many these are.
func rank(codes []int32, size int) int {
	ranks := make([]int32, size)
	for _, c := range codes {
		ranks[c] = 1
	}
	n := int32(0)
	for c := range ranks {
		if ranks[c] > 0 {
			ranks[c] = n
			n++
		}
	}
	for i, c := range codes {
		codes[i] = ranks[c]
	}
	return int(n)
}

// propensityOf grows a tree of a pool, and others of the same rows with the names dealt out by lot, on at most so many
// goroutines.
func propensityOf(ctx context.Context, workers int, p *pool, lots *lots) (*Propensity, error) {
	sum := uint64(0)
	for _, one := range p.drawn {
		sum += one
	}
	all := mixtureOf(sum)
	out := &Propensity{TrueRows: all.rows - all.drawn, DrawnRows: all.drawn, NullTrees: propensityNulls}
	pools := []*pool{p}
	for range propensityNulls {
		pools = append(pools, p.dealt(lots))
	}
	if lots.err != nil {
		return nil, lots.err
	}
	errors := make([]float64, len(pools))
	if err := parallel.Do(ctx, workers, len(pools), func(i int) error {
		pMSE, leaves := pools[i].pMSE()
		if errors[i] = pMSE; i == 0 {
			out.Leaves = leaves
		}
		return nil
	}); err != nil {
		return nil, err
	}
	out.PMSE = errors[0]
	for _, null := range errors[1:] {
		out.Null += null / propensityNulls
	}
	for _, null := range errors[1:] {
		out.NullError += (null - out.Null) * (null - out.Null) / (propensityNulls - 1)
	}
	out.NullError = math.Sqrt(out.NullError)
	return out, nil
}

// dealt is the pool with the two names dealt out by lot: every way to do that is equally likely (Fisher & Yates).
func (p *pool) dealt(lots *lots) *pool {
	drawn := slices.Clone(p.drawn)
	for row := len(drawn) - 1; row > 0; row-- {
		other := lots.below(row + 1)
		drawn[row], drawn[other] = drawn[other], drawn[row]
	}
	return &pool{p.codes, p.sizes, p.order, drawn}
}

// pMSE grows a classification tree (Breiman, Friedman, Olshen & Stone 1984) and returns Σ(p − c)²/N of its leaves.
func (p *pool) pMSE() (pMSE float64, leaves int) {
	rows := make([]int32, len(p.drawn))
	for i := range rows {
		rows[i] = int32(i)
	}
	all := p.count(rows)
	p.grow(rows, 0, func(leaf mixture) {
		off := leaf.share() - all.share()
		pMSE += off * off * float64(leaf.rows) / float64(all.rows)
		leaves++
	})
	return pMSE, leaves
}

// mixture is how many rows there are, and how many of them are of the microdata.
type mixture struct{ rows, drawn int }

func (m mixture) share() float64 { return float64(m.drawn) / float64(m.rows) }

// purity is drawn²/rows: summed over the parts of a set of rows it is the larger the smaller their Gini impurity is.
func (m mixture) purity() float64 { return m.share() * float64(m.drawn) }

func mixtureOf(sum uint64) mixture { return mixture{int(sum >> 32), int(sum & (trueRow - 1))} }

func (p *pool) count(rows []int32) mixture {
	sum := uint64(0)
	for _, row := range rows {
		sum += p.drawn[row]
	}
	return mixtureOf(sum)
}

// split is a question that parts rows in two: whether the category of a column is one of some.
type split struct {
	column int
	yes    []bool // by rank
	purity float64
}

// grow parts rows until no question lowers the impurity, a part would be too small or the tree too deep, and calls leaf
// for every part that is left. It reorders the rows.
func (p *pool) grow(rows []int32, depth int, leaf func(mixture)) {
	all := p.count(rows)
	best := split{purity: all.purity() + 1e-9} // what is no more than rounding is no gain
	if depth < propensityDepth {
		for column := range p.codes {
			p.improve(&best, column, rows, all)
		}
	}
	if best.yes == nil {
		leaf(all)
		return
	}
	n := 0
	for i, row := range rows {
		if best.yes[p.codes[best.column][row]] {
			rows[n], rows[i] = row, rows[n]
			n++
		}
	}
	p.grow(rows[:n], depth+1, leaf)
	p.grow(rows[n:], depth+1, leaf)
}

// improve puts the best question about a column in the place of the best so far, where it is better. Of categories in
// no order those with a smaller part of microdata come first: the best question is then one of where to cut, as of
// categories in order (Breiman et al., theorem 4.5).
func (p *pool) improve(best *split, column int, rows []int32, all mixture) {
	sums, codes := make([]uint64, p.sizes[column]), p.codes[column]
	for _, row := range rows {
		sums[codes[row]] += p.drawn[row]
	}
	counts := make([]mixture, len(sums))
	var there []int
	for rank, sum := range sums {
		if sum > 0 {
			counts[rank], there = mixtureOf(sum), append(there, rank)
		}
	}
	if !p.order[column] {
		slices.SortStableFunc(there, func(a, b int) int { return cmp.Compare(counts[a].share(), counts[b].share()) })
	}
	var low mixture
	cut := -1
	for i, rank := range there {
		low.rows += counts[rank].rows
		low.drawn += counts[rank].drawn
		high := mixture{all.rows - low.rows, all.drawn - low.drawn}
		if low.rows < propensityLeaf {
			continue
		}
		if high.rows < propensityLeaf {
			break
		}
		if purity := low.purity() + high.purity(); purity > best.purity {
			best.purity, cut = purity, i
		}
	}
	if cut < 0 {
		return
	}
	best.column, best.yes = column, make([]bool, len(counts))
	for _, rank := range there[:cut+1] {
		best.yes[rank] = true
	}
}
