package tabulate

// This file holds the search for the super-columns with the cheapest bases.

import (
	"cmp"
	"container/heap"
	"math/bits"
	"slices"
)

// searchLimit is about how many bases are examined before a search ends with what it has: some tens of milliseconds.
const searchLimit = 4 << 20

// goodEnough is the share of the best saving that is accepted: finding the best itself would mean computing all of
// them anew.
const goodEnough = 0.9

// search merges groups of axes greedily, two at a time: those whose merging saves most, as long as it saves anything.
// Then it evens out the groups. A group is named by one of its axes.
type search struct {
	request *Request
	names   []uint64  // random words; the hash of a set is the XOR of the words of its groups
	at      []int     // group of each axis at the start
	members [][]int   // axes of each group; nil if merged into another
	sizes   []float64 // number of codes of each group
	bases   []candidate
	of      [][]int32        // bases of each group, possibly dead ones
	byHash  map[uint64]int32 // the base of a set, by its hash
	refines map[[2]int]bool  // fine, coarse

	rows, perCell    float64 // rows of the request, and cost per cell
	cells, mostCells float64 // cells of all bases, and the most allowed
	examined         int
}

// candidate is a base under consideration.
type candidate struct {
	set   bitset
	hash  uint64
	cells float64
	asks  int // number of asks that are projected from it
	cost  float64
	dead  bool
}

func newSearch(r *Request) *search {
	s := &search{request: r, names: make([]uint64, len(r.Axes)), at: make([]int, len(r.Axes)),
		members: make([][]int, len(r.Axes)),
		sizes:   make([]float64, len(r.Axes)), of: make([][]int32, len(r.Axes)), refines: map[[2]int]bool{},
		rows: float64(r.Rows), perCell: clearCost * float64(r.Workers),
		mostCells: float64(r.Memory) / float64(2*r.cellBytes()*r.Workers)}
	if r.Rows == 0 {
		s.rows = likelyRows
	}
	return s
}

// partitionAxes partitions the axes of dense asks into the groups by which they are counted.
func partitionAxes(r *Request) [][]int {
	s := newSearch(r)
	var axes [][]int
	needed := make([]bool, len(r.Axes))
	for _, a := range r.Tables {
		for _, axis := range a.Axes {
			needed[axis] = needed[axis] || !a.Occupied
		}
	}
	for a := range r.Axes {
		s.names[a] = mixBits(uint64(a+1) * 0x9E3779B97F4A7C15)
		if needed[a] {
			axes = append(axes, []int{a})
		}
		for b := range r.Axes {
			if _, ok := r.refinement(a, b); ok && a != b {
				s.refines[[2]int{a, b}] = true
			}
		}
	}
	s.setGroups(axes)
	// Wide bases are worth some of the memory, but not all of it.
	s.mostCells = min(s.mostCells, 4*s.cells+mostBlock)
	for s.examined < searchLimit && s.mergeGroups() {
	}
	return s.evenOut(s.mergedGroups())
}

// setGroups starts from given groups of all axes: every ask has a base of its own, or is projected from a wider one.
func (s *search) setGroups(groups [][]int) {
	s.bases, s.byHash, s.cells = s.bases[:0], make(map[uint64]int32, len(s.request.Tables)), 0
	for g := range s.members {
		s.members[g], s.of[g] = nil, s.of[g][:0]
	}
	for _, axes := range groups {
		s.members[axes[0]], s.sizes[axes[0]] = axes, s.sizeOf(axes)
		for _, a := range axes {
			s.at[a] = axes[0]
		}
	}
	for _, a := range s.request.Tables {
		if !a.Occupied {
			s.addAsk(a)
		}
	}
	s.absorbAll()
}

// mergedGroups returns the current groups. Two sets with equal hashes only cost time.
func (s *search) mergedGroups() [][]int {
	return slices.DeleteFunc(slices.Clone(s.members), func(axes []int) bool { return axes == nil })
}

// totalCost returns the cost of all bases.
func (s *search) totalCost() float64 {
	sum := 0.0
	for i := range s.bases {
		if !s.bases[i].dead {
			sum += s.bases[i].cost
		}
	}
	return sum
}

// evenOut repartitions the axes of pairs of groups, as long as that lowers the total cost: merging leaves some groups
// much larger than others.
func (s *search) evenOut(groups [][]int) [][]int {
	s.setGroups(groups)
	least, most, last := s.totalCost(), max(s.mostCells, s.cells), s.examined+searchLimit/32
	for better := true; better; {
		better = false
		for h := range groups {
			for g := range h {
				if s.examined >= last {
					return groups
				}
				one, other := s.evenPair(groups[g], groups[h])
				if one == nil {
					continue
				}
				try := slices.Clone(groups)
				try[g], try[h] = one, other
				s.setGroups(try)
				s.examined += len(s.request.Tables)
				if cost := s.totalCost(); cost < least && s.cells <= most {
					groups, least, better = try, cost, true
				}
			}
		}
	}
	return groups
}

// evenAxes is the most axes that are repartitioned: all ways to do so are tried.
const evenAxes = 8

// evenPair partitions the axes of two groups into two whose sizes have the smallest sum. It returns nothing if they
// already have it.
func (s *search) evenPair(g, h []int) (one, other []int) {
	if n := len(g) + len(h); n <= 2 || n > evenAxes {
		return nil, nil
	}
	axes := slices.Concat(g, h)
	s.examined += len(axes) << (len(axes) - 1)
	least := s.sizeOf(g) + s.sizeOf(h)
	for set := 1; set < 1<<(len(axes)-1); set++ { // the last axis is in the other part
		var parts [2][]int
		for i, a := range axes {
			part := 1 - set>>i&1
			parts[part] = append(parts[part], a)
		}
		sizes := [2]float64{s.sizeOf(parts[0]), s.sizeOf(parts[1])}
		if sum := sizes[0] + sizes[1]; sum < least && max(sizes[0], sizes[1]) <= superSize {
			least, one, other = sum, parts[0], parts[1]
		}
	}
	return one, other
}

// mixBits mixes the bits of a word (Stafford 2011, variant 13).
func mixBits(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// addAsk adds a base for one ask, with all of its groups.
func (s *search) addAsk(a TableRequest) {
	c := candidate{set: newBitset(len(s.names)), cells: 1, asks: 1}
	for _, axis := range a.Axes {
		if g := s.at[axis]; !c.set.has(g) {
			c.set.add(g)
			c.hash ^= s.names[g]
			c.cells *= s.sizes[g]
		}
	}
	s.addBase(c)
}

// addBase adds a base, or its asks to the base of the same set.
func (s *search) addBase(c candidate) {
	if same, ok := s.byHash[c.hash]; ok {
		s.addAsksTo(same, c.asks)
		return
	}
	place := int32(len(s.bases))
	s.byHash[c.hash] = place
	c.cost = s.costOf(c.cells, c.set.len(), c.asks)
	s.bases = append(s.bases, c)
	s.cells += c.cells
	c.set.each(func(g int) { s.of[g] = append(s.of[g], place) })
}

// addAsksTo adds asks to a base.
func (s *search) addAsksTo(b int32, asks int) {
	c := &s.bases[b]
	c.asks += asks
	c.cost = s.costOf(c.cells, c.set.len(), c.asks)
}

// removeBase removes a base.
func (s *search) removeBase(b int32) {
	c := &s.bases[b]
	c.dead = true
	s.cells -= c.cells
	delete(s.byHash, c.hash)
}

// absorbAll projects asks from wider bases if that is cheaper than counting them.
func (s *search) absorbAll() {
	widest := 0
	for i := range s.bases {
		widest = max(widest, s.bases[i].set.len())
	}
	for i := range s.bases {
		if s.bases[i].set.len() < widest && s.examined < searchLimit/4 {
			s.absorbIfCheaper(int32(i))
		}
	}
}

// absorbIfCheaper moves the asks of a base to the smallest base that contains it and removes the base, if projecting
// from there is cheaper than counting it.
func (s *search) absorbIfCheaper(b int32) {
	c := &s.bases[b]
	group := rarestGroup(c.set, s.of)
	if group < 0 {
		return
	}
	least := int32(-1)
	for _, other := range s.of[group] {
		o := &s.bases[other]
		if other != b && !o.dead && c.set.isSubset(o.set) && (least < 0 || o.cells < s.bases[least].cells) {
			least = other
		}
	}
	s.examined += len(s.of[group])
	if least >= 0 && float64(c.asks)*projectCost*s.bases[least].cells < c.cost {
		s.addAsksTo(least, c.asks)
		s.removeBase(b)
	}
}

// rarestGroup returns the group of a set that the fewest bases have, −1 for a set without groups.
func rarestGroup[T any](set bitset, of [][]T) int {
	least := -1
	set.each(func(g int) {
		if least < 0 || len(of[g]) < len(of[least]) {
			least = g
		}
	})
	return least
}

// costOf returns the cost of a base: of its rows, its table and what is projected from it.
func (s *search) costOf(cells float64, columns, asks int) float64 {
	perCell := s.perCell
	if cells >= leastParted {
		perCell = clearCost
	}
	return s.rows*updateCost(cells, columns) + cells*(perCell+projectCost*float64(asks))
}

// mergeGroups goes once through all pairs of groups, the best first, and merges as long as that saves. It reports
// whether it merged any.
func (s *search) mergeGroups() bool {
	var queue savings
	var alive []int
	for g := range s.members {
		if s.of[g] = s.livingBases(g); s.members[g] != nil && len(s.of[g]) > 0 {
			alive = append(alive, g)
		}
	}
	slices.SortFunc(alive, func(a, b int) int { return cmp.Or(cmp.Compare(s.sizes[a], s.sizes[b]), cmp.Compare(a, b)) })
	for i, h := range alive {
		for _, g := range alive[:i] {
			if s.examined < searchLimit/2 {
				queue.addFirst(s, g, h)
			}
		}
	}
	merged := 0
	for len(queue) > 0 && s.examined < searchLimit {
		best := heap.Pop(&queue).(saving)
		if s.members[best.g] == nil || s.members[best.h] == nil {
			continue
		}
		if best.at < merged { // computed before the last merge
			best.at = merged
			if best.saves = s.savingOf(best.g, best.h); best.saves <= 0 {
				continue
			}
			if len(queue) > 0 && best.saves < goodEnough*queue[0].saves {
				heap.Push(&queue, best)
				continue
			}
		}
		s.joinGroups(best.g, best.h)
		merged++
		for _, other := range alive {
			if other != best.g && s.members[other] != nil {
				queue.addPair(s, best.g, other, merged)
			}
		}
	}
	return merged > 0
}

// livingBases returns the bases of a group that are not dead.
func (s *search) livingBases(g int) []int32 {
	return slices.DeleteFunc(s.of[g], func(b int32) bool { return s.bases[b].dead })
}

// savingOf returns what merging two groups saves.
func (s *search) savingOf(g, h int) float64 {
	size := s.sizeOf(append(slices.Clone(s.members[g]), s.members[h]...))
	if size > superSize {
		return -1
	}
	saved, cells, flip := 0.0, s.cells, s.names[g]^s.names[h]
	s.of[g], s.of[h] = s.livingBases(g), s.livingBases(h)
	s.examined += len(s.of[g]) + len(s.of[h])
	for side, of := range [2][]int32{s.of[g], s.of[h]} {
		own := [2]float64{s.sizes[g], s.sizes[h]}[side]
		for _, b := range of {
			c := &s.bases[b]
			grown, columns, asks := c.cells/own*size, c.set.len(), c.asks
			switch other, ok := s.byHash[c.hash^flip]; {
			case c.set.has(g) && c.set.has(h):
				if side == 1 {
					continue
				}
				grown, columns = c.cells/(s.sizes[g]*s.sizes[h])*size, columns-1
				if s.willBeContained(c.set, b, g, h) {
					saved += c.cost
					cells -= c.cells
					continue
				}
			case ok:
				if side == 1 {
					continue
				}
				o := &s.bases[other]
				saved += o.cost
				cells -= o.cells
				asks += o.asks
			}
			saved += c.cost - s.costOf(grown, columns, asks)
			cells += grown - c.cells
		}
	}
	if cells > s.mostCells && cells > s.cells {
		return -1
	}
	return saved
}

// willBeContained reports whether a base with both groups will be contained in another once they are merged.
func (s *search) willBeContained(set bitset, b int32, g, h int) bool {
	for _, of := range [2][]int32{s.of[g], s.of[h]} {
		for i, other := range of {
			if other != b && set.isSubsetExcept(s.bases[other].set, g, h) {
				s.examined += i
				return true
			}
		}
		s.examined += len(of)
	}
	return false
}

// joinGroups merges group h into g.
func (s *search) joinGroups(g, h int) {
	s.members[g] = append(s.members[g], s.members[h]...)
	slices.Sort(s.members[g])
	size := s.sizeOf(s.members[g])
	touched := append(slices.Clone(s.of[g]), s.of[h]...)
	slices.Sort(touched)
	touched = slices.Compact(touched)
	var fresh []candidate
	for _, b := range touched {
		c := s.bases[b]
		if c.dead {
			continue
		}
		s.removeBase(b)
		if c.set = slices.Clone(c.set); c.set.has(g) {
			c.cells /= s.sizes[g]
		}
		if c.set.has(h) {
			c.cells /= s.sizes[h]
			c.hash ^= s.names[h]
			c.set.remove(h)
		}
		if !c.set.has(g) {
			c.hash ^= s.names[g]
			c.set.add(g)
		}
		c.cells *= size
		c.dead = false
		fresh = append(fresh, c)
	}
	s.members[h], s.of[h] = nil, nil
	s.sizes[g] = size
	s.of[g] = nil
	first := int32(len(s.bases))
	for _, c := range fresh {
		s.addBase(c)
	}
	for b := first; b < int32(len(s.bases)); b++ {
		s.absorbIfCheaper(b)
	}
}

// sizeOf returns how many codes a group of axes has.
func (s *search) sizeOf(axes []int) float64 {
	size := 1.0
	for _, a := range leadingAxes(axes, func(fine, coarse int) bool { return s.refines[[2]int{fine, coarse}] }) {
		size *= float64(s.request.Axes[a].Size)
	}
	return size
}

// leadingAxes returns the axes that together determine all axes of a group. Of equivalent axes it returns the first.
func leadingAxes(axes []int, refines func(fine, coarse int) bool) []int {
	var lead []int
	for _, a := range axes {
		if !slices.ContainsFunc(axes, func(b int) bool {
			return b != a && refines(b, a) &&
				(b < a || !refines(a, b))
		}) {
			lead = append(lead, a)
		}
	}
	return lead
}

// saving is what merging groups g and h saves, as computed after `at` merges.
type saving struct {
	g, h, at int
	saves    float64
}

// savings is a heap, the greatest first.
type savings []saving

func (q savings) Len() int      { return len(q) }
func (q savings) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *savings) Push(x any)   { *q = append(*q, x.(saving)) }

func (q savings) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[j].saves, q[i].saves), cmp.Compare(q[i].g, q[j].g), cmp.Compare(q[i].h, q[j].h)) < 0
}

func (q *savings) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// addFirst adds a pair that is worth merging, before any merge.
func (q *savings) addFirst(s *search, g, h int) { q.addPair(s, min(g, h), max(g, h), 0) }

// addPair adds a pair that is worth merging.
func (q *savings) addPair(s *search, g, h, at int) {
	if saves := s.savingOf(g, h); saves > 0 {
		heap.Push(q, saving{g, h, at, saves})
	}
}

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset    { return make(bitset, (n+63)/64) }
func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }
func (b bitset) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) remove(i int)   { b[i/64] &^= 1 << (i % 64) }
func (b bitset) each(do func(i int)) {
	for w, word := range b {
		for ; word != 0; word &= word - 1 {
			do(64*w + bits.TrailingZeros64(word))
		}
	}
}

func (b bitset) len() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// isSubset reports whether all of b is in other.
func (b bitset) isSubset(other bitset) bool {
	for w, word := range b {
		if word&^other[w] != 0 {
			return false
		}
	}
	return true
}

// isSubsetExcept is isSubset without regard to g and h.
func (b bitset) isSubsetExcept(other bitset, g, h int) bool {
	for w, word := range b {
		left := word &^ other[w]
		if g/64 == w {
			left &^= 1 << (g % 64)
		}
		if h/64 == w {
			left &^= 1 << (h % 64)
		}
		if left != 0 {
			return false
		}
	}
	return true
}
