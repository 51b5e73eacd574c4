package domain

// This file holds the bins of an ordered domain: cut points on a lattice and the bin that a
// number falls into.

import (
	"math"
	"slices"
)

// bins are the half-open cells [cuts[k], cuts[k+1]) of an ordered domain. Cuts are integers
// that stand for cuts[k]/den. Whole bins hold integers only (integers, days, microseconds);
// the others hold all numbers, and their last bin is closed.
type bins struct {
	cuts  []int64
	den   int64
	whole bool
	// step is the distance of the cuts, all but the last, 0 where they are uneven.
	step int64
	// floats is true where comparing a float64 with float64(cut) is comparing its shortest
	// decimal with the cut: the cuts are decimals of at most 15 digits.
	floats bool
	guess  guess // of the bin of a float64, where floats is true and whole is not
}

// newBins makes bins of ascending cuts, at least two.
func newBins(cuts []int64, den int64, whole bool) *bins {
	b := &bins{cuts: cuts, den: den, whole: whole, step: cuts[1] - cuts[0]}
	for k := 1; k+1 < len(cuts)-1; k++ {
		if cuts[k+1]-cuts[k] != b.step {
			b.step = 0
			break
		}
	}
	if last := len(cuts) - 1; b.step != 0 && cuts[last]-cuts[last-1] > b.step {
		b.step = 0
	}
	b.floats = isPowerOfTen(den) && den <= 1e15 && magnitude(cuts[0]) < 1e15 && magnitude(cuts[len(cuts)-1]) < 1e15
	if b.floats && !whole {
		b.guess = b.newGuess()
	}
	return b
}

func isPowerOfTen(x int64) bool {
	for x%10 == 0 {
		x /= 10
	}
	return x == 1
}

// size is the number of bins.
func (b *bins) size() int { return len(b.cuts) - 1 }

// bin is the bin that holds the lattice point at, or the open stretch after it where exact
// is false.
func (b *bins) bin(at int64, exact bool) (int, Fit) {
	last := len(b.cuts) - 1
	if at < b.cuts[0] || at > b.cuts[last] {
		return 0, OutOfDomain
	}
	if at == b.cuts[last] {
		if b.whole || !exact {
			return 0, OutOfDomain
		}
		return last - 1, Fits
	}
	if b.step != 0 {
		return int((at - b.cuts[0]) / b.step), Fits
	}
	above, _ := slices.BinarySearch(b.cuts, at+1) // the first cut that is larger
	return above - 1, Fits
}

// ofQuantity is the bin of an exact number.
func (b *bins) ofQuantity(q quantity) (int, Fit) {
	at, exact, ok := q.lattice(b.den)
	if !ok || b.whole && !exact {
		return 0, OutOfDomain
	}
	return b.bin(at, exact)
}

// ofInt is the bin of an integer.
func (b *bins) ofInt(v int64) (int, Fit) {
	if b.den == 1 {
		return b.bin(v, true)
	}
	return b.ofQuantity(quantity{negative: v < 0, magnitude: magnitude(v)})
}

// ofFloat is the bin of a float64, read as its shortest decimal.
func (b *bins) ofFloat(v float64) (int, Fit) {
	switch {
	case math.IsNaN(v):
		return 0, NaN
	case math.IsInf(v, 0):
		return 0, Infinite
	case b.whole && v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return b.bin(int64(v), true)
	case b.whole && math.Abs(v) < 1<<53:
		return 0, OutOfDomain
	case !b.whole && b.floats:
		return b.search(v)
	}
	return b.ofQuantity(quantityOfFloat(v))
}

// edge is the float64 nearest to a cut.
func (b *bins) edge(k int) float64 { return float64(b.cuts[k]) / float64(b.den) }

// guess narrows down between which cuts a float64 lies, by which of evenly wide stretches of
// the range it is in.
type guess struct {
	first, last float64 // the edges of the range
	scale       float64 // stretches per unit
	// upTo is how many edges lie in stretches before each, nil where cuts are even and a
	// stretch is a bin.
	upTo []int32
}

// mostStretches bounds the memory of a guess, of uneven cuts.
const mostStretches = 1 << 16

func (b *bins) newGuess() guess {
	last := len(b.cuts) - 1
	g := guess{first: b.edge(0), last: b.edge(last)}
	if b.step != 0 {
		g.scale = float64(b.den) / float64(b.step)
		return g
	}
	stretches := min(4*last, mostStretches)
	g.scale = float64(stretches) / (g.last - g.first)
	g.upTo = make([]int32, g.stretch(g.last)+2)
	for k := range b.cuts {
		g.upTo[g.stretch(b.edge(k))+1] = int32(k + 1)
	}
	for i := 1; i < len(g.upTo); i++ {
		g.upTo[i] = max(g.upTo[i], g.upTo[i-1])
	}
	return g
}

// stretch is the number of the stretch that v lies in. It does not descend where v ascends,
// as each of its roundings does not.
func (g *guess) stretch(v float64) int { return int((v - g.first) * g.scale) }

// search finds the bin of a float64 among the cuts, read as the float64 nearest to each: the
// last but for the end of the range that is not above v. The guess decides nothing: edges
// ascend as the cuts do, so the bin is where comparisons with both of its edges say so.
func (b *bins) search(v float64) (int, Fit) {
	g, last := &b.guess, len(b.cuts)-1
	if v < g.first || v > g.last {
		return 0, OutOfDomain
	}
	i := g.stretch(v)
	if g.upTo == nil {
		at := min(i, last-1)
		for at > 0 && b.edge(at) > v {
			at--
		}
		for at < last-1 && b.edge(at+1) <= v {
			at++
		}
		return at, Fits
	}
	// Edges of stretches before i are below v, those of stretches behind it above.
	low, high := max(int(g.upTo[i])-1, 0), min(int(g.upTo[i+1]), last)
	for high-low > 1 {
		if middle := int(uint(low+high) / 2); b.edge(middle) <= v {
			low = middle
		} else {
			high = middle
		}
	}
	return low, Fits
}
