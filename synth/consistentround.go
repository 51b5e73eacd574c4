package synth

import (
	"cmp"
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
	// beyond is the cost of a number that is neither the given one rounded up nor down: above all that fractions amount to.
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

// up is what one more adds to the squared distance from the number, in sixteenths of grains, and what leaving the two whole
// numbers next to it costs.
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

// bring brings the sum of cells to a number, one by one in each of them, those first in which it costs the least. It is false
// where there is no cell and the number is not 0.
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
// It is a flow of least cost in a network of rows and columns, which has integer flows for integer sums (Causey, Cox & Ernst
// 1985): one more in a cell leads from its row to its column, one less back. The cost of a cell is the squared distance from the
// given number, and very much where it is not this number rounded: so that is left only where no table with these sums keeps to
// it. From the nearest whole numbers on, for which no cycle gains, each shortest path (Dijkstra, with the potentials of Edmonds
// & Karp 1972) mends one of the sums, and keeps that so.
type transport struct {
	rows, columns int
	cells         []cell
	lack          []int64 // of each row what it lacks, then of each column what it has too much of
	potential     []int64
	distance      []int64
	before        []int32 // the node before on the shortest path
	done          []bool
	touched       []int32
}

// newTransport is the table of cells, row-major, with these sums.
func newTransport(cells []cell, rows, columns []int64) *transport {
	n := len(rows) + len(columns)
	t := &transport{rows: len(rows), columns: len(columns), cells: cells, potential: make([]int64, n), distance: make([]int64, n), before: make([]int32, n), done: make([]bool, n)}
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

// exactCells is up to how many cells the nearest table is found. Shortest paths of larger ones would take minutes.
const exactCells = 1 << 19

// hasten lets each row of a large table mend what it can by itself: in the columns that lack the other way, those cells first in which
// it costs the least, and none beyond the number rounded up or down. What is left is for paths, of which none is sure to be a
// shortest one after that: sums are exact all the same.
func (t *transport) hasten() {
	order := make([]int, t.columns)
	for i := range t.rows {
		cells := t.cells[i*t.columns : (i+1)*t.columns]
		step, cost := int64(1), cell.up
		if t.lack[i] < 0 {
			step, cost = -1, cell.down
		}
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cost(cells[a]), cost(cells[b])) })
		for _, j := range order {
			if t.lack[i] == 0 || cost(cells[j]) >= beyond {
				break
			}
			if t.lack[t.rows+j]*step < 0 {
				cells[j].at += step
				t.lack[i] -= step
				t.lack[t.rows+j] += step
			}
		}
	}
}

// balance gives the table its sums. It is false where these are none of one table.
func (t *transport) balance() bool {
	if len(t.cells) > exactCells {
		t.hasten()
	}
	for node := range t.lack {
		for t.lack[node] > 0 {
			if !t.mend(node) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(t.lack, func(n int64) bool { return n != 0 })
}

const unreached = int64(1<<63 - 1)

// mend moves a unit from a node that lacks it to the nearest that has one too many. Nodes further than that keep their
// potentials, nearer ones fall behind it by the difference.
func (t *transport) mend(from int) bool {
	for i := range t.distance {
		t.distance[i], t.done[i] = unreached, false
	}
	t.distance[from], t.before[from] = 0, -1
	reached := -1
	t.touched = t.touched[:0]
	for reached < 0 {
		node := -1
		for i, d := range t.distance {
			if !t.done[i] && d < unreached && (node < 0 || d < t.distance[node]) {
				node = i
			}
		}
		if node < 0 {
			return false
		}
		t.done[node] = true
		t.touched = append(t.touched, int32(node))
		if t.lack[node] < 0 {
			reached = node
			break
		}
		t.relax(node)
	}
	for _, node := range t.touched {
		t.potential[node] += t.distance[node] - t.distance[reached]
	}
	t.move(from, reached)
	return true
}

// bulk is from how much on that a node lacks more than one is moved at a time. Numbers whose sums are near those asked for never
// lack as much; of others the result is not the nearest, but is there soon.
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
				t.distance[to], t.before[to] = d, int32(node)
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
			t.distance[i], t.before[i] = d, int32(node)
		}
	}
}
