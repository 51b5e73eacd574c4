package synth

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dprelease/dprelease/spec"
)

// This file holds controlled rounding: whole numbers nearest to given ones that have given sums.

const (
	// grain is the unit in which fractions are compared, so that all costs are exact integers.
	grain = 1 << 24
	// whole is how near to a whole number one counts as it.
	whole = 1e-6
	// beyond is the cost of a number that is neither the given one rounded up nor down: above all that fractions amount
	// to.
	beyond = int64(1) << 44
	// mostCount bounds counts, so that fractions of them are told by float64, and no sum of them overflows.
	mostCount = spec.MaxCount
)

// cell is a number on its way to a whole one.
type cell struct {
	low, high int64 // the number rounded down and up
	fraction  int64 // of it above low, in grains; ties are broken by chance
	at        int64
}

// newCell begins at the nearest whole number.
func newCell(x float64, r *stream) cell {
	x = min(max(x, 0), mostCount)
	c := cell{low: int64(math.Floor(x + whole))}
	c.high = c.low
	if above := x - float64(c.low); above > whole {
		c.high++
		c.fraction = int64(float64(above * grain))
	}
	c.fraction = c.fraction<<4 + int64(r.below(16)) // a chance that is less than a grain
	if c.at = c.low; c.high > c.low && c.fraction > grain<<3 {
		c.at = c.high
	}
	return c
}

// up is what one more adds to the squared distance from the number, in sixteenths of grains, and what leaving the two
// whole numbers next to it costs.
func (c cell) up() int64 {
	cost := far(c.at-c.low) + grain<<4 - 2*c.fraction
	if c.at >= c.high {
		cost += beyond
	}
	return cost
}

// down is what one less adds.
func (c cell) down() int64 {
	cost := 2*c.fraction - far(c.at-c.low) + grain<<4
	if c.at <= c.low {
		cost += beyond
	}
	return cost
}

// far is twice a distance, in sixteenths of grains. It stays below beyond.
func far(distance int64) int64 {
	const most = 1 << 12
	return 2 * min(max(distance, -most), most) * (grain << 4)
}

// bring brings the sum of cells to a number, one by one in each of them, those first in which it costs the least. It is
// false where there is no cell and the number is not 0.
func bring(cells []*cell, sum int64) bool {
	for _, c := range cells {
		sum -= c.at
	}
	for sum != 0 {
		step, cost := int64(1), cell.up
		if sum < 0 {
			step, cost = -1, cell.down
			cells = slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return c.at == 0 })
		}
		if len(cells) == 0 {
			return false
		}
		if each := sum / int64(len(cells)); each > bulk { // far from what the cells say: all alike
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

// transport is a table of rows × columns whose whole numbers are to have given sums along both.
//
// It is a flow of least cost in a network of rows and columns, which has integer flows for integer sums (Causey, Cox &
// Ernst 1985): one more in a cell leads from its row to its column, one less back. The cost of a cell is the squared
// distance from the given number, and very much where it is not this number rounded: so that is left only where no
// table with these sums keeps to it. A potential of each row and column is kept with which no arc gains, so that the
// table is the nearest of all with its present sums, and these are brought to those asked for in three ways:
//
//   - each row by itself, which leaves columns alone to lack ([transport.settle]);
//   - all columns at once: the potential of one that lacks is moved by as much as would mend it if all others stayed,
//     and every row
//     moves units from column to column while that gains ([transport.lean]);
//   - what is left then, in a large table by exchanges of two cells of a row ([transport.exchange]), else on shortest
//     paths from column to column ([transport.mend]).
//
// All is quickest where rows are not fewer than columns.
type transport struct {
	rows, columns int
	cells         []cell
	lack          []int64 // of each row what it lacks, then of each column what it has too much of
	potential     []int64
	distance      []int64
	before, root  []int32 // the node before on the shortest path, and the first on it
	done, served  []bool  // nodes of whose distance none is shorter, and first ones that have found a last one
	touched       []int32 // whose distance is known
	found         []int32 // last nodes of paths
	reach         []reach // a heap
}

// reach is a node on its way into the tree of shortest paths.
type reach struct {
	distance int64
	node     int32
}

// newTransport is the table of cells, row-major, with these sums.
func newTransport(cells []cell, rows, columns []int64) *transport {
	n := len(rows) + len(columns)
	t := &transport{rows: len(rows), columns: len(columns), cells: cells, potential: make([]int64, n),
		distance: slices.Repeat([]int64{unreached}, n), before: make([]int32, n), root: make([]int32, n), done: make([]bool, n),
		served: make([]bool, n)}
	t.lack = append(t.lack, rows...)
	for _, c := range columns {
		t.lack = append(t.lack, -c)
	}
	for i := range rows {
		for j := range columns {
			at := cells[i*len(columns)+j].at
			t.lack[i] -= at
			t.lack[t.rows+j] += at
		}
	}
	return t
}

// balance gives the table its sums. It is false where these are none of one table, or the context has ended.
func (t *transport) balance(ctx context.Context) bool {
	if !t.settle() {
		return false
	}
	t.lean(ctx)
	if len(t.cells) > exactCells {
		t.exchange(ctx)
	}
	for slices.ContainsFunc(t.lack[t.rows:], func(n int64) bool { return n > 0 }) {
		if ctx.Err() != nil || !t.mend() {
			return false
		}
	}
	return !slices.ContainsFunc(t.lack, func(n int64) bool { return n != 0 })
}

// row is the cells of a row.
func (t *transport) row(i int) []cell { return t.cells[i*t.columns : (i+1)*t.columns] }

// settle gives each row its sum, by itself. It is false where one has no cells for it.
func (t *transport) settle() bool {
	own, before := make([]*cell, t.columns), make([]int64, t.columns)
	for i := range t.rows {
		cells := t.row(i)
		sum := t.lack[i]
		for j := range cells {
			own[j], before[j] = &cells[j], cells[j].at
			sum += cells[j].at
		}
		if t.lack[i] != 0 {
			if !bring(own, sum) {
				return false
			}
			t.lack[i] = 0
			for j := range cells {
				t.lack[t.rows+j] += cells[j].at - before[j]
			}
		}
		t.ground(i)
	}
	return true
}

// ground gives a row the largest potential with which none of its cells gains by one more. As no move between its cells
// gains, none does by one less either.
func (t *transport) ground(i int) {
	least := unreached
	for j, c := range t.row(i) {
		least = min(least, c.up()-t.potential[t.rows+j])
	}
	t.potential[i] = -least
}

// leanings bounds how often potentials of all columns are moved. After a few times what columns lack no longer shrinks
// by it.
const leanings = 12

// lean moves the potentials of columns against what they lack: the fractions of a column's cells are spread over a
// unit, so one that lacks a n-th of its cells gets about these for a n-th of what a unit costs. It ends when that no
// longer helps.
func (t *transport) lean(ctx context.Context) {
	between := make([]int64, t.columns) // how many cells are between two whole numbers
	for i := range t.cells {
		if t.cells[i].high > t.cells[i].low {
			between[i%t.columns]++
		}
	}
	lacks := func() (all int64) {
		for _, n := range t.lack[t.rows:] {
			all += max(n, -n)
		}
		return all
	}
	for before, round := lacks(), 0; before > 0 && round < leanings && ctx.Err() == nil; round++ {
		for j, n := range between {
			if n > 0 {
				often := max(min(-t.lack[t.rows+j], n), -n)
				t.potential[t.rows+j] += often * (grain << 5 / n)
			}
		}
		for i := range t.rows {
			t.sway(i)
		}
		now := lacks()
		if now >= before {
			return
		}
		before = now
	}
}

// sway moves units between the cells of a row while that gains by the potentials of columns. No cell moves by more than
// a unit or two for these, so that there is an end after as many moves as cells; but for rows that were far from their
// sums.
func (t *transport) sway(i int) {
	cells := t.row(i)
	for range cells {
		up, down := unreached, unreached
		var more, less int
		for j := range cells {
			c, p := &cells[j], t.potential[t.rows+j]
			if cost := c.up() - p; cost < up {
				up, more = cost, j
			}
			if c.at > 0 {
				if cost := c.down() + p; cost < down {
					down, less = cost, j
				}
			}
		}
		if t.potential[i] = -up; down == unreached || up+down >= 0 {
			return
		}
		cells[more].at++
		cells[less].at--
		t.lack[t.rows+more]++
		t.lack[t.rows+less]--
	}
	t.ground(i)
}

// exactCells is up to how many cells the nearest table is found. Shortest paths of larger ones would take minutes.
const exactCells = 1 << 17

// exchange mends what columns of a large table still lack, pair by pair: in the row where it costs the least, and none
// beyond the number rounded up or down. What no such row is found for is left for paths, of which none is sure to be a
// shortest one after that: sums are exact all the same.
func (t *transport) exchange(ctx context.Context) {
	const tries = 16 // columns that a unit is offered to
	to := 0
	for from := range t.columns {
		for try := 0; try < tries && t.lack[t.rows+from] > 0 && ctx.Err() == nil; try++ {
			for looked := 0; t.lack[t.rows+to] >= 0; looked++ {
				if looked == t.columns {
					return
				}
				to = (to + 1) % t.columns
			}
			best, least := -1, beyond
			for i := range t.rows {
				less, more := &t.cells[i*t.columns+from], &t.cells[i*t.columns+to]
				if less.at > less.low && more.at < more.high {
					if cost := less.down() + more.up(); cost < least {
						best, least = i, cost
					}
				}
			}
			if best >= 0 {
				t.cells[best*t.columns+from].at--
				t.cells[best*t.columns+to].at++
				t.lack[t.rows+from]--
				t.lack[t.rows+to]++
				try = -1
			}
			to = (to + 1) % t.columns
		}
	}
}

const unreached = int64(1<<63 - 1)

// mend moves units from columns that have too many to the nearest that lack one, on shortest paths from all of these at
// once (Dijkstra, with the potentials of Edmonds & Karp 1972). It ends when half of them have found one, each another,
// or as much again was looked at for the next one as for all before: their paths lie in trees of their own, so that
// none changes what another costs. Nodes further than the last keep their potentials, nearer ones fall behind it by the
// difference. It is false where none was found.
func (t *transport) mend() bool {
	t.reach, t.touched, t.found = t.reach[:0], t.touched[:0], t.found[:0]
	for j, n := range t.lack[t.rows:] {
		if n > 0 {
			t.visit(t.rows+j, 0, -1)
		}
	}
	last := int64(0)
	roots, looked, enough := len(t.touched), 0, 0
	for 2*len(t.found) < roots && len(t.reach) > 0 && (len(t.found) == 0 || looked < enough) {
		next := t.nearest()
		node := int(next.node)
		if t.done[node] {
			continue // by a shorter path
		}
		t.done[node], last = true, next.distance
		looked++
		if root := t.root[node]; t.lack[node] < 0 && !t.served[root] {
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
		t.move(int(t.root[node]), int(node))
	}
	for _, node := range t.touched {
		t.distance[node], t.done[node] = unreached, false
	}
	return len(t.found) > 0
}

// visit notes a path to a node that is shorter than those before.
func (t *transport) visit(node int, distance int64, before int32) {
	if t.distance[node] == unreached {
		t.touched = append(t.touched, int32(node))
	}
	t.distance[node], t.before[node], t.root[node] = distance, before, int32(node)
	if before >= 0 {
		t.root[node] = t.root[before]
	}
	t.reach = append(t.reach, reach{distance, int32(node)})
	for at := len(t.reach) - 1; at > 0; {
		above := (at - 1) / 2
		if !t.reach[at].less(t.reach[above]) {
			break
		}
		t.reach[at], t.reach[above] = t.reach[above], t.reach[at]
		at = above
	}
}

// nearest takes the least from the heap.
func (t *transport) nearest() reach {
	first, last := t.reach[0], len(t.reach)-1
	t.reach[0] = t.reach[last]
	t.reach = t.reach[:last]
	for at := 0; ; {
		least := at
		for _, below := range [2]int{2*at + 1, 2*at + 2} {
			if below < last && t.reach[below].less(t.reach[least]) {
				least = below
			}
		}
		if least == at {
			return first
		}
		t.reach[at], t.reach[least] = t.reach[least], t.reach[at]
		at = least
	}
}

// less orders by distance, and those alike by their places.
func (r reach) less(o reach) bool {
	return r.distance < o.distance || r.distance == o.distance && r.node < o.node
}

// bulk is from how much on that a node lacks more than one is moved at a time. Numbers whose sums are near those asked
// for never lack as much; of others the result is not the nearest, but is there soon.
const bulk = 64

// move takes a path. One less in a cell is at most all that it has.
func (t *transport) move(from, reached int) {
	amount := max(1, min(t.lack[from], -t.lack[reached])/bulk)
	path := func(visit func(c *cell, up bool)) {
		for node := int32(reached); t.before[node] >= 0; node = t.before[node] {
			if before := t.before[node]; int(before) < t.rows {
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
	t.lack[from] -= amount
	t.lack[reached] += amount
}

// relax follows the arcs of a node: of a row one more in each of its cells, of a column one less where there is one.
func (t *transport) relax(node int) {
	base := t.distance[node] + t.potential[node]
	if node < t.rows {
		for j := range t.columns {
			to := t.rows + j
			if d := base + t.cells[node*t.columns+j].up() - t.potential[to]; !t.done[to] && d < t.distance[to] {
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
		if d := base + c.down() - t.potential[i]; d < t.distance[i] {
			t.visit(i, d, int32(node))
		}
	}
}
