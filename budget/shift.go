package budget

import (
	"cmp"
	"errors"
	"math/big"
	"slices"
)

// A Shift is how far one unit moves the answers of an integer query: the absolute
// values of the coordinates that change, in descending order. Their places and
// signs do not matter, since the noise is the same everywhere and symmetric.
type Shift []int64

// within returns an error unless s is in canonical form and its norms are at most
// those given.
func (s Shift) within(l1, l2Squared *big.Int) error {
	if len(s) == 0 || s[len(s)-1] <= 0 || !slices.IsSortedFunc(s, func(a, b int64) int { return cmp.Compare(b, a) }) {
		return errors.New("a shift must list positive integers in descending order")
	}
	sum, squares := new(big.Int), new(big.Int)
	for _, d := range s {
		x := big.NewInt(d)
		sum.Add(sum, x)
		squares.Add(squares, x.Mul(x, x))
	}
	if sum.Cmp(l1) > 0 || squares.Cmp(l2Squared) > 0 {
		return errors.New("a shift lies outside the sensitivities")
	}
	return nil
}
