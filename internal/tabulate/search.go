package tabulate

// This file holds the search for the super-columns whose bases are cheapest.

import (
	"cmp"
	"container/heap"
	"math/bits"
	"slices"
)

// searchLimit is about how many bases are looked at before a search ends with what
// it has: some tens of milliseconds.
const searchLimit = 4 << 20

// nearly is how much of the best saving is good enough to be taken, where to find the
// best all would have to be worked out anew.
const nearly = 0.9

// search merges groups of axes greedily, two at a time: those whose merging saves
// most, as long as it saves anything. Then it evens out what came of that. Groups are
// named by one of their axes.
type search struct {
	request *Request
	names   []uint64  // random words; the hash of a set is those of its groups, added bit by bit
	at      []int     // group of each axis, to begin with
	members [][]int   // axes of each group; nil: merged into another
	sizes   []float64 // codes of each group
	bases   []candidate
	of      [][]int32        // bases of each group; some may be dead
	byHash  map[uint64]int32 // the base of a set, by its hash
	refines map[[2]int]bool  // fine, coarse

	rows, perCell float64 // of the request
	cells, most   float64 // of all bases; the most there may be
	looked        int
}

// candidate is a base in the making.
type candidate struct {
	set   bitset
	hash  uint64
	cells float64
	asks  int // that are taken from it
	cost  float64
	dead  bool
}

func newSearch(r *Request) *search {
	s := &search{request: r, names: make([]uint64, len(r.Axes)), at: make([]int, len(r.Axes)),
		members: make([][]int, len(r.Axes)),
		sizes:   make([]float64, len(r.Axes)), of: make([][]int32, len(r.Axes)), refines: map[[2]int]bool{},
		rows: float64(r.Rows), perCell: clearCost * float64(r.Workers),
		most: float64(r.Memory) / float64(2*r.bytes()*r.Workers)}
	if r.Rows == 0 {
		s.rows = likelyRows
	}
	return s
}

// partition parts the axes that dense asks have into the groups that these are counted by.
func partition(r *Request) [][]int {
	s := newSearch(r)
	var axes [][]int
	needed := make([]bool, len(r.Axes))
	for _, a := range r.Asks {
		for _, axis := range a.Axes {
			needed[axis] = needed[axis] || !a.Occupied
		}
	}
	for a := range r.Axes {
		s.names[a] = mix(uint64(a+1) * 0x9E3779B97F4A7C15)
		if needed[a] {
			axes = append(axes, []int{a})
		}
		for b := range r.Axes {
			if _, ok := r.refinement(a, b); ok && a != b {
				s.refines[[2]int{a, b}] = true
			}
		}
	}
	s.begin(axes)
	// Wide bases are worth some memory, not all that there is.
	s.most = min(s.most, 4*s.cells+mostBlock)
	for s.looked < searchLimit && s.merge() {
	}
	return s.evened(s.groups())
}

// begin counts every ask by itself, or from a wider one, in given groups of all axes that there are.
func (s *search) begin(groups [][]int) {
	s.bases, s.byHash, s.cells = s.bases[:0], make(map[uint64]int32, len(s.request.Asks)), 0
	for g := range s.members {
		s.members[g], s.of[g] = nil, s.of[g][:0]
	}
	for _, axes := range groups {
		s.members[axes[0]], s.sizes[axes[0]] = axes, s.size(axes)
		for _, a := range axes {
			s.at[a] = axes[0]
		}
	}
	for _, a := range s.request.Asks {
		if !a.Occupied {
			s.ask(a)
		}
	}
	s.absorbAll()
}

// groups are those that were made. Two sets of one hash cost time, and nothing else.
func (s *search) groups() [][]int {
	return slices.DeleteFunc(slices.Clone(s.members), func(axes []int) bool { return axes == nil })
}

// total is what all bases cost.
func (s *search) total() float64 {
	sum := 0.0
	for i := range s.bases {
		if !s.bases[i].dead {
			sum += s.bases[i].cost
		}
	}
	return sum
}

// evened parts the axes of two groups anew between them, as long as that makes all
// bases cheaper: merging leaves some groups much larger than others.
func (s *search) evened(groups [][]int) [][]int {
	s.begin(groups)
	least, most, last := s.total(), max(s.most, s.cells), s.looked+searchLimit/32
	for better := true; better; {
		better = false
		for h := range groups {
			for g := range h {
				if s.looked >= last {
					return groups
				}
				one, other := s.even(groups[g], groups[h])
				if one == nil {
					continue
				}
				try := slices.Clone(groups)
				try[g], try[h] = one, other
				s.begin(try)
				s.looked += len(s.request.Asks)
				if cost := s.total(); cost < least && s.cells <= most {
					groups, least, better = try, cost, true
				}
			}
		}
	}
	return groups
}

// evenAxes is how many axes are parted anew at the most: all ways to do so are looked at.
const evenAxes = 8

// even parts the axes of two groups into two whose sizes have the least sum, and
// returns nothing where they have it already.
func (s *search) even(g, h []int) (one, other []int) {
	if n := len(g) + len(h); n <= 2 || n > evenAxes {
		return nil, nil
	}
	axes := slices.Concat(g, h)
	s.looked += len(axes) << (len(axes) - 1)
	least := s.size(g) + s.size(h)
	for set := 1; set < 1<<(len(axes)-1); set++ { // the last axis is in the other part
		var parts [2][]int
		for i, a := range axes {
			part := 1 - set>>i&1
			parts[part] = append(parts[part], a)
		}
		sizes := [2]float64{s.size(parts[0]), s.size(parts[1])}
		if sum := sizes[0] + sizes[1]; sum < least && max(sizes[0], sizes[1]) <= superSize {
			least, one, other = sum, parts[0], parts[1]
		}
	}
	return one, other
}

// mix spreads the bits of a word (Stafford 2011, variant 13).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// ask adds the base of an ask by itself, which has all of its groups.
func (s *search) ask(a Ask) {
	c := candidate{set: newBitset(len(s.names)), cells: 1, asks: 1}
	for _, axis := range a.Axes {
		if g := s.at[axis]; !c.set.has(g) {
			c.set.add(g)
			c.hash ^= s.names[g]
			c.cells *= s.sizes[g]
		}
	}
	s.put(c)
}

// put adds a base, to the one of the same set where there is one.
func (s *search) put(c candidate) {
	if same, ok := s.byHash[c.hash]; ok {
		s.give(same, c.asks)
		return
	}
	place := int32(len(s.bases))
	s.byHash[c.hash] = place
	c.cost = s.cost(c.cells, c.set.len(), c.asks)
	s.bases = append(s.bases, c)
	s.cells += c.cells
	c.set.each(func(g int) { s.of[g] = append(s.of[g], place) })
}

// give lets so many more asks be taken from a base.
func (s *search) give(b int32, asks int) {
	c := &s.bases[b]
	c.asks += asks
	c.cost = s.cost(c.cells, c.set.len(), c.asks)
}

// kill takes a base away.
func (s *search) kill(b int32) {
	c := &s.bases[b]
	c.dead = true
	s.cells -= c.cells
	delete(s.byHash, c.hash)
}

// absorbAll takes asks from wider bases where that is cheaper than counting them.
func (s *search) absorbAll() {
	widest := 0
	for i := range s.bases {
		widest = max(widest, s.bases[i].set.len())
	}
	for i := range s.bases {
		if s.bases[i].set.len() < widest && s.looked < searchLimit/4 {
			s.absorb(int32(i))
		}
	}
}

// absorb takes what a base would give from the least base that contains it, where
// that is cheaper.
func (s *search) absorb(b int32) {
	c := &s.bases[b]
	group := rarest(c.set, s.of)
	if group < 0 {
		return
	}
	least := int32(-1)
	for _, other := range s.of[group] {
		o := &s.bases[other]
		if other != b && !o.dead && c.set.within(o.set) && (least < 0 || o.cells < s.bases[least].cells) {
			least = other
		}
	}
	s.looked += len(s.of[group])
	if least >= 0 && float64(c.asks)*projectCost*s.bases[least].cells < c.cost {
		s.give(least, c.asks)
		s.kill(b)
	}
}

// rarest is the group of a set that the fewest bases have, given those of each group; −1 of a set without groups.
func rarest[T any](set bitset, of [][]T) int {
	least := -1
	set.each(func(g int) {
		if least < 0 || len(of[g]) < len(of[least]) {
			least = g
		}
	})
	return least
}

// cost is that of a base: of its rows, its table and what is taken from it.
func (s *search) cost(cells float64, columns, asks int) float64 {
	perCell := s.perCell
	if cells >= leastParted {
		perCell = clearCost
	}
	return s.rows*updateCost(cells, columns) + cells*(perCell+projectCost*float64(asks))
}

// merge goes once through all pairs of groups, the best first, and merges while it
// saves. It tells whether any were merged.
func (s *search) merge() bool {
	var queue savings
	var alive []int
	for g := range s.members {
		if s.of[g] = s.living(g); s.members[g] != nil && len(s.of[g]) > 0 {
			alive = append(alive, g)
		}
	}
	slices.SortFunc(alive, func(a, b int) int { return cmp.Or(cmp.Compare(s.sizes[a], s.sizes[b]), cmp.Compare(a, b)) })
	for i, h := range alive {
		for _, g := range alive[:i] {
			if s.looked < searchLimit/2 {
				queue.consider(s, g, h)
			}
		}
	}
	merged := 0
	for len(queue) > 0 && s.looked < searchLimit {
		best := heap.Pop(&queue).(saving)
		if s.members[best.g] == nil || s.members[best.h] == nil {
			continue
		}
		if best.at < merged { // worked out before the last merging
			best.at = merged
			if best.saves = s.saves(best.g, best.h); best.saves <= 0 {
				continue
			}
			if len(queue) > 0 && best.saves < nearly*queue[0].saves {
				heap.Push(&queue, best)
				continue
			}
		}
		s.join(best.g, best.h)
		merged++
		for _, other := range alive {
			if other != best.g && s.members[other] != nil {
				queue.again(s, best.g, other, merged)
			}
		}
	}
	return merged > 0
}

// living are the bases of a group that are not dead.
func (s *search) living(g int) []int32 {
	return slices.DeleteFunc(s.of[g], func(b int32) bool { return s.bases[b].dead })
}

// saves is what merging two groups saves.
func (s *search) saves(g, h int) float64 {
	size := s.size(append(slices.Clone(s.members[g]), s.members[h]...))
	if size > superSize {
		return -1
	}
	saved, cells, flip := 0.0, s.cells, s.names[g]^s.names[h]
	s.of[g], s.of[h] = s.living(g), s.living(h)
	s.looked += len(s.of[g]) + len(s.of[h])
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
				if s.contained(c.set, b, g, h) {
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
			saved += c.cost - s.cost(grown, columns, asks)
			cells += grown - c.cells
		}
	}
	if cells > s.most && cells > s.cells {
		return -1
	}
	return saved
}

// contained reports whether a base with both groups will be within another once they
// are merged.
func (s *search) contained(set bitset, b int32, g, h int) bool {
	for _, of := range [2][]int32{s.of[g], s.of[h]} {
		for i, other := range of {
			if other != b && set.withinBut(s.bases[other].set, g, h) {
				s.looked += i
				return true
			}
		}
		s.looked += len(of)
	}
	return false
}

// join merges group h into g.
func (s *search) join(g, h int) {
	s.members[g] = append(s.members[g], s.members[h]...)
	slices.Sort(s.members[g])
	size := s.size(s.members[g])
	touched := append(slices.Clone(s.of[g]), s.of[h]...)
	slices.Sort(touched)
	touched = slices.Compact(touched)
	var fresh []candidate
	for _, b := range touched {
		c := s.bases[b]
		if c.dead {
			continue
		}
		s.kill(b)
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
		s.put(c)
	}
	for b := first; b < int32(len(s.bases)); b++ {
		s.absorb(b)
	}
}

// size is how many codes a group of axes has.
func (s *search) size(axes []int) float64 {
	size := 1.0
	for _, a := range leading(axes, func(fine, coarse int) bool { return s.refines[[2]int{fine, coarse}] }) {
		size *= float64(s.request.Axes[a].Size)
	}
	return size
}

// leading are the axes that tell apart all that a group's do: of axes that tell apart
// the same, the first.
func leading(axes []int, refines func(fine, coarse int) bool) []int {
	var lead []int
	for _, a := range axes {
		if !slices.ContainsFunc(axes, func(b int) bool { return b != a && refines(b, a) && (b < a || !refines(a, b)) }) {
			lead = append(lead, a)
		}
	}
	return lead
}

// saving is what merging groups g and h saves, as worked out after so many mergings.
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

// consider adds a pair that is worth merging before any was.
func (q *savings) consider(s *search, g, h int) { q.again(s, min(g, h), max(g, h), 0) }

// again adds a pair that is worth merging.
func (q *savings) again(s *search, g, h, at int) {
	if saves := s.saves(g, h); saves > 0 {
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

// within reports whether all of b is in other.
func (b bitset) within(other bitset) bool {
	for w, word := range b {
		if word&^other[w] != 0 {
			return false
		}
	}
	return true
}

// withinBut is within, g and h aside.
func (b bitset) withinBut(other bitset, g, h int) bool {
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
