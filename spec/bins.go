package spec

// This file holds the bins of an ordered domain: cut points on a lattice and the bin that a
// number falls into.

import (
	"math"
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
	low, high := 0, last // cuts[low] <= at < cuts[high]
	for high-low > 1 {
		if middle := int(uint(low+high) / 2); b.cuts[middle] <= at {
			low = middle
		} else {
			high = middle
		}
	}
	return low, Fits
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

// search finds the bin of a float64 among the cuts, read as the float64 nearest to each.
func (b *bins) search(v float64) (int, Fit) {
	last, den := len(b.cuts)-1, float64(b.den)
	if v < float64(b.cuts[0])/den || v > float64(b.cuts[last])/den {
		return 0, OutOfDomain
	}
	low, high := 0, last
	for high-low > 1 {
		if middle := int(uint(low+high) / 2); float64(b.cuts[middle])/den <= v {
			low = middle
		} else {
			high = middle
		}
	}
	return low, Fits
}
