package counted

import "math/big"

// Extent is an interval of integers: the least and the largest that a row can add to an answer.
type Extent struct{ Least, Most *big.Int }

// one is the extent of rows that each add 1.
func one() Extent { return Extent{big.NewInt(1), big.NewInt(1)} }

// with returns the hull of two extents.
func (e Extent) with(o Extent) Extent {
	if o.Least.Cmp(e.Least) < 0 {
		e.Least = o.Least
	}
	if o.Most.Cmp(e.Most) > 0 {
		e.Most = o.Most
	}
	return e
}

// times returns the extent of products.
func (e Extent) times(o Extent) Extent {
	first := new(big.Int).Mul(e.Least, o.Least)
	out := Extent{first, first}
	for _, p := range [][2]*big.Int{{e.Least, o.Most}, {e.Most, o.Least}, {e.Most, o.Most}} {
		x := new(big.Int).Mul(p[0], p[1])
		out = out.with(Extent{x, x})
	}
	return out
}

// squared returns the extent of squares.
func (e Extent) squared() Extent {
	low, high := new(big.Int).Mul(e.Least, e.Least), new(big.Int).Mul(e.Most, e.Most)
	if low.Cmp(high) > 0 {
		low, high = high, low
	}
	if e.Least.Sign() < 0 && e.Most.Sign() > 0 {
		low = new(big.Int)
	}
	return Extent{low, high}
}

// Largest returns the largest absolute value.
func (e Extent) Largest() *big.Int {
	low, high := new(big.Int).Abs(e.Least), new(big.Int).Abs(e.Most)
	if low.Cmp(high) > 0 {
		return low
	}
	return high
}
