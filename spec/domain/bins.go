package domain

// This file holds the bins of an ordered domain: cut points on a lattice, and the search for the bin that contains a
// number.

import (
	"math"
	"slices"
)

// bins are the half-open cells [cuts[k], cuts[k+1]) of an ordered domain. Cuts are integers that stand for cuts[k]/den.
// Whole bins hold only integers (integers, days, microseconds); the others hold all numbers, and their last bin is
// closed.
type bins struct {
	cuts  []int64
	den   int64
	whole bool
	// step is the distance between cuts, except for the last; 0 if they are uneven.
	step int64
	// floats reports that comparing a float64 with float64(cut) gives the same result as comparing its shortest decimal
	// with the cut: the cuts are decimals of at most 15 digits.
	floats bool
	guess  guess // locates the bin of a float64, where floats is true and whole is not
}

// newBins returns the bins of ascending cuts, of which there are at least two.
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

// size returns the number of bins.
func (b *bins) size() int { return len(b.cuts) - 1 }

// binOfPoint returns the bin that contains the lattice point at or, if exact is false, the open interval after it.
func (b *bins) binOfPoint(at int64, exact bool) (int, Fit) {
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
	above, _ := slices.BinarySearch(b.cuts, at+1) // the first cut above at
	return above - 1, Fits
}

// binOfQuantity returns the bin of an exact number.
func (b *bins) binOfQuantity(q quantity) (int, Fit) {
	at, exact, ok := q.floorTimes(b.den)
	if !ok || b.whole && !exact {
		return 0, OutOfDomain
	}
	return b.binOfPoint(at, exact)
}

// binOfInt returns the bin of an integer.
func (b *bins) binOfInt(v int64) (int, Fit) {
	if b.den == 1 {
		return b.binOfPoint(v, true)
	}
	return b.binOfQuantity(quantity{negative: v < 0, magnitude: magnitude(v)})
}

// binOfFloat returns the bin of a float64, taken as its shortest decimal.
func (b *bins) binOfFloat(v float64) (int, Fit) {
	switch {
	case math.IsNaN(v):
		return 0, NaN
	case math.IsInf(v, 0):
		return 0, Infinite
	case b.whole && v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return b.binOfPoint(int64(v), true)
	case b.whole && math.Abs(v) < 1<<53:
		return 0, OutOfDomain
	case !b.whole && b.floats:
		return b.binOfEdgeFloat(v)
	}
	return b.binOfQuantity(quantityOfFloat(v))
}

// edge returns the float64 nearest to a cut.
func (b *bins) edge(k int) float64 { return float64(b.cuts[k]) / float64(b.den) }

// guess narrows the cuts around a float64 to those in its stretch, where stretches divide the range into equal parts.
type guess struct {
	first, last float64 // the edges of the range
	scale       float64 // stretches per unit
	// upTo counts the edges in the stretches before each stretch. It is nil if cuts are even, when every stretch is a
	// bin.
	upTo []int32
}

// mostStretches bounds the memory of a guess for uneven cuts.
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

// stretch returns the number of the stretch that contains v. It is monotone in v because each of its roundings is.
func (g *guess) stretch(v float64) int { return int((v - g.first) * g.scale) }

// binOfEdgeFloat finds the bin of a float64 by comparing it with the float64 nearest to each cut: the last edge, except
// the end of the range, that is not above v. The guess decides nothing: edges ascend as the cuts do, so the bin is the
// one whose two edges enclose v by comparison.
func (b *bins) binOfEdgeFloat(v float64) (int, Fit) {
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
	// Edges in stretches before i are below v, edges in stretches after i are above it.
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
