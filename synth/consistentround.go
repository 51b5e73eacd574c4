package synth

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dprelease/dprelease/spec"
)

// This file holds controlled rounding: the whole numbers nearest to given ones that have given sums.

const (
	// grain is the unit of fractions, so that all costs are exact integers.
	grain = 1 << 24
	// wholeTolerance is the distance from a whole number within which a number counts as whole.
	wholeTolerance = 1e-6
	// beyondCost is the cost of a number that is neither the given one rounded up nor down. It exceeds the sum of the
	// costs of fractions.
	beyondCost = int64(1) << 44
	// mostCount bounds counts, so that float64 resolves their fractions and no sum overflows.
	mostCount = spec.MaxCount
)

// cell is a number that is being rounded.
type cell struct {
	low, high int64 // the number rounded down and up
	fraction  int64 // of the number above low, in sixteenths of grains; ties are broken at random
	at        int64
}

// newCell returns a cell at the nearest whole number.
func newCell(x float64, r *stream) cell {
	x = min(max(x, 0), mostCount)
	c := cell{low: int64(math.Floor(x + wholeTolerance))}
	c.high = c.low
	if above := x - float64(c.low); above > wholeTolerance {
		c.high++
		c.fraction = int64(float64(above * grain))
	}
	c.fraction = c.fraction<<4 + int64(r.below(16)) // a random part of less than a grain
	if c.at = c.low; c.high > c.low && c.fraction > grain<<3 {
		c.at = c.high
	}
	return c
}

// costUp returns how much raising the cell by one adds to the squared distance from the number, in sixteenths of
// grains, including the cost of leaving the two whole numbers next to it.
func (c cell) costUp() int64 {
	cost := doubledDistance(c.at-c.low) + grain<<4 - 2*c.fraction
	if c.at >= c.high {
		cost += beyondCost
	}
	return cost
}

// costDown returns the same for lowering the cell by one.
func (c cell) costDown() int64 {
	cost := 2*c.fraction - doubledDistance(c.at-c.low) + grain<<4
	if c.at <= c.low {
		cost += beyondCost
	}
	return cost
}

// doubledDistance returns twice a distance, in sixteenths of grains. It stays below beyondCost.
func doubledDistance(distance int64) int64 {
	const most = 1 << 12
	return 2 * min(max(distance, -most), most) * (grain << 4)
}

// adjustSum changes cells by one at a time, the cheapest first, until they have this sum. It returns false if it
// cannot: if there is no cell, or none left to lower.
func adjustSum(cells []*cell, sum int64) bool {
	for _, c := range cells {
		sum -= c.at
	}
	for sum != 0 {
		step, cost := int64(1), cell.costUp
		if sum < 0 {
			step, cost = -1, cell.costDown
			cells = slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return c.at == 0 })
		}
		if len(cells) == 0 {
			return false
		}
		if each := sum / int64(len(cells)); each > bulkAmount { // far from the given numbers: raise all cells equally
			for _, c := range cells {
				c.at += each
				sum -= each
			}
		}
		slices.SortStableFunc(cells, func(a, b *cell) int { return cmp.Compare(cost(*a), cost(*b)) })
		for _, c := range cells {
			if sum != 0 {
				c.at += step
				sum -= step
			}
		}
	}
	return true
}

// transport is a table of rows × columns whose whole numbers must have given sums of rows and of columns.
//
// It is solved as a minimum-cost flow in a network of rows and columns, which has integer flows for integer sums
// (Causey, Cox & Ernst 1985): an arc from its row to its column raises a cell by one, the arc back lowers it. The cost
// of a cell is its squared distance from the given number, plus a large penalty if it is not this number rounded up or
// down, which is therefore left only if no table with these sums keeps to it. Each row and column has a potential such
// that no arc has a negative reduced cost, so the table is the nearest of all with its present sums. These are brought
// to the wanted ones in three stages:
//
//   - each row by itself, which leaves only columns with an imbalance ([transport.fixRows]);
//   - all columns at once: the potential of an unbalanced column is moved by as much as would balance it if all
//     others stayed, and every row moves units from column to column while that gains ([transport.adjustColumns]);
//   - the rest: in a large table by exchanges of two cells of a row ([transport.exchangePairs]), otherwise along
//     shortest paths from column to column ([transport.augmentPaths]).
//
// It is fastest if there are at least as many rows as columns.
type transport struct {
	rows, columns     int
	cells             []cell
	imbalance         []int64 // of each row, the missing amount; then of each column, the excess
	potential         []int64
	distance          []int64
	predecessor, root []int32      // the predecessor on the shortest path, and the first node of that path
	done, served      []bool       // nodes whose distance is final, and first nodes whose path has ended
	touched           []int32      // nodes whose distance is known
	found             []int32      // last nodes of the paths
	queue             []queuedNode // a heap
}

// queuedNode is a node that waits to enter the tree of shortest paths.
type queuedNode struct {
	distance int64
	node     int32
}

// newTransport returns the transport of cells, row-major, with these sums.
func newTransport(cells []cell, rows, columns []int64) *transport {
	n := len(rows) + len(columns)
	t := &transport{rows: len(rows), columns: len(columns), cells: cells, potential: make([]int64, n),
		distance:    slices.Repeat([]int64{unreached}, n),
		predecessor: make([]int32, n), root: make([]int32, n), done: make([]bool, n),
		served: make([]bool, n)}
	t.imbalance = append(t.imbalance, rows...)
	for _, c := range columns {
		t.imbalance = append(t.imbalance, -c)
	}
	for i := range rows {
		for j := range columns {
			at := cells[i*len(columns)+j].at
			t.imbalance[i] -= at
			t.imbalance[t.rows+j] += at
		}
	}
	return t
}

// balance gives the table its sums. It returns false if no table has them, or if the context has ended.
func (t *transport) balance(ctx context.Context) bool {
	if !t.fixRows() {
		return false
	}
	t.adjustColumns(ctx)
	if len(t.cells) > exactCells {
		t.exchangePairs(ctx)
	}
	for slices.ContainsFunc(t.imbalance[t.rows:], func(n int64) bool { return n > 0 }) {
		if ctx.Err() != nil || !t.augmentPaths() {
			return false
		}
	}
	return !slices.ContainsFunc(t.imbalance, func(n int64) bool { return n != 0 })
}

// rowCells returns the cells of a row.
func (t *transport) rowCells(i int) []cell { return t.cells[i*t.columns : (i+1)*t.columns] }

// fixRows gives each row its sum, row by row. It returns false if a row cannot have its sum.
func (t *transport) fixRows() bool {
	own, before := make([]*cell, t.columns), make([]int64, t.columns)
	for i := range t.rows {
		cells := t.rowCells(i)
		sum := t.imbalance[i]
		for j := range cells {
			own[j], before[j] = &cells[j], cells[j].at
			sum += cells[j].at
		}
		if t.imbalance[i] != 0 {
			if !adjustSum(own, sum) {
				return false
			}
			t.imbalance[i] = 0
			for j := range cells {
				t.imbalance[t.rows+j] += cells[j].at - before[j]
			}
		}
		t.setRowPotential(i)
	}
	return true
}

// setRowPotential gives a row the largest potential for which raising a cell gains nothing. As no move between the
// cells of the row gains, lowering a cell gains nothing either.
func (t *transport) setRowPotential(i int) {
	least := unreached
	for j, c := range t.rowCells(i) {
		least = min(least, c.costUp()-t.potential[t.rows+j])
	}
	t.potential[i] = -least
}

// maxAdjustments bounds how often the potentials of all columns are moved. After a few times this no longer reduces the
// imbalance.
const maxAdjustments = 12

// adjustColumns moves the potentials of columns against their imbalance. The fractions of a column's cells are spread
// over a unit, so a column that lacks one n-th of its cells gets about these for one n-th of the cost of a unit. It
// ends when the imbalance no longer decreases.
func (t *transport) adjustColumns(ctx context.Context) {
	between := make([]int64, t.columns) // cells between two whole numbers, by column
	for i := range t.cells {
		if t.cells[i].high > t.cells[i].low {
			between[i%t.columns]++
		}
	}
	lacks := func() (all int64) {
		for _, n := range t.imbalance[t.rows:] {
			all += max(n, -n)
		}
		return all
	}
	for before, round := lacks(), 0; before > 0 && round < maxAdjustments && ctx.Err() == nil; round++ {
		for j, n := range between {
			if n > 0 {
				often := max(min(-t.imbalance[t.rows+j], n), -n)
				t.potential[t.rows+j] += often * (grain << 5 / n)
			}
		}
		for i := range t.rows {
			t.adjustRow(i)
		}
		now := lacks()
		if now >= before {
			return
		}
		before = now
	}
}

// adjustRow moves units between the cells of a row while that gains by the potentials of columns. A cell moves by at
// most a unit or two, so it ends after at most as many moves as cells, unless the row was far from its sum.
func (t *transport) adjustRow(i int) {
	cells := t.rowCells(i)
	for range cells {
		up, down := unreached, unreached
		var more, less int
		for j := range cells {
			c, p := &cells[j], t.potential[t.rows+j]
			if cost := c.costUp() - p; cost < up {
				up, more = cost, j
			}
			if c.at > 0 {
				if cost := c.costDown() + p; cost < down {
					down, less = cost, j
				}
			}
		}
		if t.potential[i] = -up; down == unreached || up+down >= 0 {
			return
		}
		cells[more].at++
		cells[less].at--
		t.imbalance[t.rows+more]++
		t.imbalance[t.rows+less]--
	}
	t.setRowPotential(i)
}

// exactCells is the largest number of cells for which the nearest table is found. The shortest paths of larger tables
// would take minutes.
const exactCells = 1 << 17

// exchangePairs reduces the imbalance of columns of a large table, pair by pair: in the row where an exchange costs
// least, without leaving the numbers rounded up or down. What no such row balances is left for paths, which need not be
// the shortest after this; the sums are exact in any case.
func (t *transport) exchangePairs(ctx context.Context) {
	const tries = 16 // columns that a unit is offered to
	to := 0
	for from := range t.columns {
		for try := 0; try < tries && t.imbalance[t.rows+from] > 0 && ctx.Err() == nil; try++ {
			for looked := 0; t.imbalance[t.rows+to] >= 0; looked++ {
				if looked == t.columns {
					return
				}
				to = (to + 1) % t.columns
			}
			best, least := -1, beyondCost
			for i := range t.rows {
				less, more := &t.cells[i*t.columns+from], &t.cells[i*t.columns+to]
				if less.at > less.low && more.at < more.high {
					if cost := less.costDown() + more.costUp(); cost < least {
						best, least = i, cost
					}
				}
			}
			if best >= 0 {
				t.cells[best*t.columns+from].at--
				t.cells[best*t.columns+to].at++
				t.imbalance[t.rows+from]--
				t.imbalance[t.rows+to]++
				try = -1
			}
			to = (to + 1) % t.columns
		}
	}
}

const unreached = int64(1<<63 - 1)

// augmentPaths moves units from columns with an excess to the nearest columns that lack one, along shortest paths from
// all of these at once (Dijkstra, with the potentials of Edmonds & Karp 1972). It stops when half of the starting
// columns have found an end, each its own, or when the next end takes as many nodes as all before: their paths lie in
// different trees, so that none changes the cost of another. Nodes farther than the last one keep their potentials,
// those of nearer nodes are reduced by the difference. It returns false if no path was found.
func (t *transport) augmentPaths() bool {
	t.queue, t.touched, t.found = t.queue[:0], t.touched[:0], t.found[:0]
	for j, n := range t.imbalance[t.rows:] {
		if n > 0 {
			t.visit(t.rows+j, 0, -1)
		}
	}
	last := int64(0)
	roots, looked, enough := len(t.touched), 0, 0
	for 2*len(t.found) < roots && len(t.queue) > 0 && (len(t.found) == 0 || looked < enough) {
		next := t.popNearest()
		node := int(next.node)
		if t.done[node] {
			continue // reached on a shorter path before
		}
		t.done[node], last = true, next.distance
		looked++
		if root := t.root[node]; t.imbalance[node] < 0 && !t.served[root] {
			t.found, t.served[root], enough = append(t.found, next.node), true, 2*looked
		}
		t.relax(node)
	}
	for _, node := range t.touched {
		if t.done[node] {
			t.potential[node] += t.distance[node] - last
		}
	}
	for _, node := range t.found {
		t.served[t.root[node]] = false
		t.augment(int(t.root[node]), int(node))
	}
	for _, node := range t.touched {
		t.distance[node], t.done[node] = unreached, false
	}
	return len(t.found) > 0
}

// visit records a path to a node that is shorter than those before.
func (t *transport) visit(node int, distance int64, before int32) {
	if t.distance[node] == unreached {
		t.touched = append(t.touched, int32(node))
	}
	t.distance[node], t.predecessor[node], t.root[node] = distance, before, int32(node)
	if before >= 0 {
		t.root[node] = t.root[before]
	}
	t.queue = append(t.queue, queuedNode{distance, int32(node)})
	for at := len(t.queue) - 1; at > 0; {
		above := (at - 1) / 2
		if !t.queue[at].less(t.queue[above]) {
			break
		}
		t.queue[at], t.queue[above] = t.queue[above], t.queue[at]
		at = above
	}
}

// popNearest removes the least entry from the heap.
func (t *transport) popNearest() queuedNode {
	first, last := t.queue[0], len(t.queue)-1
	t.queue[0] = t.queue[last]
	t.queue = t.queue[:last]
	for at := 0; ; {
		least := at
		for _, below := range [2]int{2*at + 1, 2*at + 2} {
			if below < last && t.queue[below].less(t.queue[least]) {
				least = below
			}
		}
		if least == at {
			return first
		}
		t.queue[at], t.queue[least] = t.queue[least], t.queue[at]
		at = least
	}
}

// less orders by distance, and by node if distances are equal.
func (r queuedNode) less(o queuedNode) bool {
	return r.distance < o.distance || r.distance == o.distance && r.node < o.node
}

// bulkAmount is the imbalance above which more than one unit is moved at a time. Numbers whose sums are near the wanted
// ones never reach it; for others the result is not the nearest, but is found soon.
const bulkAmount = 64

// augment moves units along a path. A cell is lowered by at most its value.
func (t *transport) augment(from, reached int) {
	amount := max(1, min(t.imbalance[from], -t.imbalance[reached])/bulkAmount)
	path := func(visit func(c *cell, up bool)) {
		for node := int32(reached); t.predecessor[node] >= 0; node = t.predecessor[node] {
			if before := t.predecessor[node]; int(before) < t.rows {
				visit(&t.cells[int(before)*t.columns+int(node)-t.rows], true)
			} else {
				visit(&t.cells[int(node)*t.columns+int(before)-t.rows], false)
			}
		}
	}
	path(func(c *cell, up bool) {
		if !up {
			amount = min(amount, c.at)
		}
	})
	path(func(c *cell, up bool) {
		if up {
			c.at += amount
		} else {
			c.at -= amount
		}
	})
	t.imbalance[from] -= amount
	t.imbalance[reached] += amount
}

// relax follows the arcs of a node: from a row, raising each of its cells; from a column, lowering each positive cell.
func (t *transport) relax(node int) {
	base := t.distance[node] + t.potential[node]
	if node < t.rows {
		for j := range t.columns {
			to := t.rows + j
			if d := base + t.cells[node*t.columns+j].costUp() - t.potential[to]; !t.done[to] && d < t.distance[to] {
				t.visit(to, d, int32(node))
			}
		}
		return
	}
	for i := range t.rows {
		c := &t.cells[i*t.columns+node-t.rows]
		if c.at == 0 || t.done[i] {
			continue
		}
		if d := base + c.costDown() - t.potential[i]; d < t.distance[i] {
			t.visit(i, d, int32(node))
		}
	}
}
