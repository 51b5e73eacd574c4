package tabulate

// This file holds the cover: the super-columns and bases by which a request is counted, and the base from which each
// ask is projected.

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// cover is how a request is counted.
type cover struct {
	request  *Request
	groups   []group
	bases    []base
	occupied []int // asks that have tables of their own
	block    int   // number of rows that are counted at a time
}

// group is a super-column: one code for the codes of several axes.
type group struct {
	lead    []int // axes that together determine all axes of the group, the last fastest
	strides []int // stride of each leading axis
	size    int
	digits  map[int]digit // by axis of the group
}

// digit is how an axis is read from the code of its group: code/stride%size, mapped by `of`.
type digit struct {
	stride, size int
	of           []uint32 // nil: as it is
}

// base is a table into which rows are counted: a cell per combination of groups, row-major.
type base struct {
	groups []int
	cells  int
	asks   []int // asks that are projected from it
	shared bool  // one table for all workers, under a lock
	parted bool  // one table for all workers, partitioned into stretches
}

// newCover plans a valid request.
func newCover(r *Request) *cover {
	c := &cover{request: r}
	at := make([]int, len(r.Axes)) // group of each axis that a dense ask has
	for _, axes := range partitionAxes(r) {
		for _, a := range axes {
			at[a] = len(c.groups)
		}
		c.groups = append(c.groups, newGroup(r, axes))
	}
	c.assignAsks(at)
	c.shareLargest()
	c.block = c.rowsAtATime()
	return c
}

func newGroup(r *Request, axes []int) group {
	g := group{size: 1, digits: map[int]digit{}}
	g.lead = leadingAxes(axes, func(fine, coarse int) bool { _, ok := r.refinement(fine, coarse); return ok })
	g.strides = make([]int, len(g.lead))
	for i, a := range slices.Backward(g.lead) {
		g.strides[i] = g.size
		g.digits[a] = digit{stride: g.size, size: r.Axes[a].Size}
		g.size *= r.Axes[a].Size
	}
	for _, a := range axes {
		if _, ok := g.digits[a]; ok {
			continue
		}
		for _, fine := range g.lead {
			if of, ok := r.refinement(fine, a); ok {
				d := g.digits[fine]
				d.of = of
				g.digits[a] = d
				break
			}
		}
	}
	return g
}

// assignAsks makes the bases, and assigns each ask to the smallest base that has all its groups.
func (c *cover) assignAsks(at []int) {
	type wanted struct {
		set   bitset
		cells float64
		asks  []int
	}
	var sets []*wanted
	bySet := map[string]*wanted{}
	for i, a := range c.request.Tables {
		if a.Occupied {
			c.occupied = append(c.occupied, i)
			continue
		}
		w := &wanted{set: newBitset(len(c.groups) + 1), cells: 1}
		for _, axis := range a.Axes {
			if g := at[axis]; !w.set.has(g) {
				w.set.add(g)
				w.cells *= float64(c.groups[g].size)
			}
		}
		key := w.set.mapKey()
		if same := bySet[key]; same != nil {
			same.asks = append(same.asks, i)
			continue
		}
		w.asks = []int{i}
		bySet[key] = w
		sets = append(sets, w)
	}
	// Wide sets first: a set comes before its subsets.
	slices.SortStableFunc(sets, func(a, b *wanted) int {
		return cmp.Or(cmp.Compare(b.set.len(), a.set.len()), cmp.Compare(b.cells, a.cells))
	})
	s := newSearch(c.request)
	of := make([][]int, len(c.groups)) // bases of each group
	widest := 0
	for _, w := range sets {
		least := -1
		if w.set.len() < widest {
			least = c.smallestBase(w.set, of)
		}
		if least >= 0 && float64(len(w.asks))*projectCost*float64(c.bases[least].cells) < s.costOf(w.cells, w.set.len(),
			len(w.asks)) {
			c.bases[least].asks = append(c.bases[least].asks, w.asks...)
			continue
		}
		widest = max(widest, w.set.len())
		c.bases = append(c.bases, c.newBase(w.set, w.asks))
		w.set.each(func(g int) { of[g] = append(of[g], len(c.bases)-1) })
	}
}

// smallestBase returns the smallest base that has all groups of a set, −1 if there is none. It searches the bases of
// the set's rarest group.
func (c *cover) smallestBase(set bitset, of [][]int) int {
	least, having := -1, []int(nil)
	if group := rarestGroup(set, of); group >= 0 {
		having = of[group]
	} else {
		for b := range c.bases {
			having = append(having, b)
		}
	}
	for _, b := range having {
		all := true
		set.each(func(g int) { all = all && slices.Contains(c.bases[b].groups, g) })
		if all && (least < 0 || c.bases[b].cells < c.bases[least].cells) {
			least = b
		}
	}
	return least
}

// newBase orders groups as the first ask does, so that the cells of the base are those of the ask if each group is
// one of its axes.
func (c *cover) newBase(set bitset, asks []int) base {
	b := base{cells: 1, asks: asks}
	for _, axis := range c.request.Tables[asks[0]].Axes {
		set.each(func(g int) {
			if _, ok := c.groups[g].digits[axis]; ok && !slices.Contains(b.groups, g) {
				b.groups = append(b.groups, g)
			}
		})
	}
	for _, g := range b.groups {
		b.cells *= c.groups[g].size
	}
	b.parted = b.cells >= leastParted && !c.request.HasAddends
	return b
}

// cellBytes returns the bytes of a cell in a table that is not partitioned.
func (r *Request) cellBytes() int {
	if r.HasAddends {
		return 8
	}
	return 4
}

// tableBytes returns the bytes of all tables of a base.
func (c *cover) tableBytes(b *base) float64 {
	switch cells := float64(b.cells); {
	case b.parted:
		return cells
	case b.shared:
		return cells * float64(c.request.cellBytes())
	default:
		return cells * float64(c.request.cellBytes()*c.request.Workers)
	}
}

// shareLargest makes workers share the largest bases if a set of tables for each worker would exceed the memory.
func (c *cover) shareLargest() {
	order := make([]int, len(c.bases))
	need := 0.0
	for i := range c.bases {
		order[i] = i
		need += c.tableBytes(&c.bases[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.bases[b].cells, c.bases[a].cells) })
	most := float64(c.denseMemory()) * 3 / 4
	for _, i := range order {
		if need <= most {
			return
		}
		b := &c.bases[i]
		need -= c.tableBytes(b)
		b.shared = true
		need += c.tableBytes(b)
	}
}

// rowsAtATime returns how many rows are counted at a time, within the memory.
func (c *cover) rowsAtATime() int {
	tables, row := 0.0, 0
	for _, b := range c.bases {
		if !b.parted {
			tables += float64(b.cells) * float64(c.request.cellBytes())
		}
	}
	for _, g := range c.groups {
		row += 2
		if g.size > superSize {
			row += 2
		}
	}
	if c.request.HasAddends {
		row += 8
	}
	block := leastBlock
	for block < mostBlock && float64(block) < blockRows*tables/float64(max(len(c.bases), 1)) {
		block *= 2
	}
	if c.request.Rows > 0 { // no more than a worker will have
		share := uint64(c.request.Rows)/uint64(c.request.Workers) + 1
		block = min(block, max(leastBlock, 1<<bits.Len64(share)))
	}
	for block > 4096 && float64(block)*float64(row*c.request.Workers) > float64(c.denseMemory())/4 {
		block /= 2
	}
	return block
}

// mapKey returns a set as a key of maps.
func (b bitset) mapKey() string {
	key := make([]byte, 0, 8*len(b))
	for _, word := range b {
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	return string(key)
}
