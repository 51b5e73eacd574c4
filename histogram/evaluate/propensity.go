package evaluate

// This file holds the propensity score: how well a decision tree distinguishes rows of microdata from true rows.

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/parallel"
)

// Propensity is the propensity score mean squared error of rows of microdata and true rows that were put together
// (Woo, Reiter, Oganian & Karr 2009; Snoke, Raab, Nowok, Dibben & Slavkovic 2018): pMSE = Σ(p − c)²/N over the N rows
// of both, where c is the part of the microdata among them, and p what a classification tree says of a row. It is 0
// if the tree distinguishes nothing, and c(1 − c) if it distinguishes everything.
type Propensity struct {
	answer.Redacted
	TrueRows, DrawnRows int // numbers of rows put together
	Leaves              int // leaves of the tree
	PMSE                float64
	// Null is the mean pMSE of trees of the same rows with their labels permuted at random, and NullError its standard
	// deviation, over NullTrees of them: the null expectation of the literature, by permutation.
	Null, NullError float64
	NullTrees       int
}

const (
	// propensityRows bounds the rows of either kind that are put together; larger numbers are sampled.
	propensityRows = 50_000
	// propensityDepth is the largest depth of the tree, and propensityLeaf the fewest rows of a leaf.
	propensityDepth, propensityLeaf = 6, 20
	// propensityNulls is how many times the labels are permuted.
	propensityNulls = 10
)

// pool is rows of both kinds put together.
type pool struct {
	codes [][]int32 // by column and row: ranks among the categories that occur
	sizes []int     // by column: number of categories that occur
	order []bool    // by column: whether it is ordered
	drawn []uint64  // by row: trueRow or drawnRow; sums of these are counts of both
}

// A row counts as one in the upper half of 64 bits, and as one in the lower half if it is of the microdata.
const (
	trueRow  = uint64(1) << 32
	drawnRow = trueRow + 1
)

// newPool puts rows together, given as cells: at most propensityRows of either kind, chosen at random.
func newPool(drawn []uint64, truth answer.Answer, sizes []int, order []bool, lots *randomness) *pool {
	var cells []uint64
	for _, i := range lots.drawSubset(propensityRows, len(drawn)) {
		cells = append(cells, drawn[i])
	}
	p := &pool{order: order, drawn: slices.Repeat([]uint64{drawnRow}, len(cells))}
	cell, before := 0, int64(0) // before is the number of rows in earlier cells
	for _, i := range lots.drawSubset(propensityRows, int(total(truth.Counts))) {
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
		p.sizes = append(p.sizes, toRanks(p.codes[i], size))
	}
	return p
}

// toRanks replaces codes by their ranks among the codes that occur, and returns how many occur.
func toRanks(codes []int32, size int) int {
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

// propensityOf grows a tree of a pool, and trees of the same rows with permuted labels, on at most `workers`
// goroutines.
func propensityOf(ctx context.Context, workers int, p *pool, lots *randomness) (*Propensity, error) {
	sum := uint64(0)
	for _, one := range p.drawn {
		sum += one
	}
	all := mixtureOf(sum)
	out := &Propensity{TrueRows: all.rows - all.drawn, DrawnRows: all.drawn, NullTrees: propensityNulls}
	pools := []*pool{p}
	for range propensityNulls {
		pools = append(pools, p.permuted(lots))
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

// permuted returns the pool with its labels permuted, every permutation equally likely (Fisher & Yates).
func (p *pool) permuted(lots *randomness) *pool {
	drawn := slices.Clone(p.drawn)
	for row := len(drawn) - 1; row > 0; row-- {
		other := lots.drawBelow(row + 1)
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
	all := p.mixtureOfRows(rows)
	p.growTree(rows, 0, func(leaf mixture) {
		off := leaf.drawnShare() - all.drawnShare()
		pMSE += off * off * float64(leaf.rows) / float64(all.rows)
		leaves++
	})
	return pMSE, leaves
}

// mixture is a number of rows, and how many of them are microdata.
type mixture struct{ rows, drawn int }

func (m mixture) drawnShare() float64 { return float64(m.drawn) / float64(m.rows) }

// purity returns drawn²/rows. Its sum over the parts of a set of rows is the larger the smaller their Gini impurity
// is.
func (m mixture) purity() float64 { return m.drawnShare() * float64(m.drawn) }

func mixtureOf(sum uint64) mixture { return mixture{int(sum >> 32), int(sum & (trueRow - 1))} }

func (p *pool) mixtureOfRows(rows []int32) mixture {
	sum := uint64(0)
	for _, row := range rows {
		sum += p.drawn[row]
	}
	return mixtureOf(sum)
}

// split is a question that divides rows in two: whether the category of a column is in a set.
type split struct {
	column int
	yes    []bool // by rank
	purity float64
}

// growTree splits rows until no question lowers the impurity, a part would be too small or the tree too deep, and
// calls leaf for every remaining part. It reorders the rows.
func (p *pool) growTree(rows []int32, depth int, leaf func(mixture)) {
	all := p.mixtureOfRows(rows)
	best := split{purity: all.purity() + 1e-9} // a gain within rounding error does not count
	if depth < propensityDepth {
		for column := range p.codes {
			p.improveSplit(&best, column, rows, all)
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
	p.growTree(rows[:n], depth+1, leaf)
	p.growTree(rows[n:], depth+1, leaf)
}

// improveSplit replaces the best question by the best one about a column, if that is better. Unordered categories are
// sorted by their share of microdata: the best question is then a cut, as for ordered categories (Breiman et al.,
// theorem 4.5).
func (p *pool) improveSplit(best *split, column int, rows []int32, all mixture) {
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
		slices.SortStableFunc(there,
			func(a, b int) int { return cmp.Compare(counts[a].drawnShare(), counts[b].drawnShare()) })
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
