package budget

import (
	"cmp"
	"errors"
	"math/big"
	"slices"
)

// A Shift is the change that one unit makes to the answers of an integer query: the absolute values of the coordinates
// that change, in descending order. Their positions and signs are irrelevant, since the noise is the same everywhere
// and symmetric.
type Shift []int64

// checkWithin returns an error unless s is in canonical form and its norms are at most the given ones.
func (s Shift) checkWithin(l1, l2Squared *big.Int) error {
	if len(s) == 0 || s[len(s)-1] <= 0 || !slices.IsSortedFunc(s, func(a, b int64) int { return cmp.Compare(b, a) }) {
		return errors.New("a shift must list positive integers in descending order")
	}
	if sum, squares := sumAndSquares(s); sum.Cmp(l1) > 0 || squares.Cmp(l2Squared) > 0 {
		return errors.New("a shift lies outside the sensitivities")
	}
	return nil
}

const (
	// maxShiftSum is the largest L1 whose shifts are listed one by one.
	maxShiftSum = 32
	// maxShifts is the largest number of shifts that are considered one by one.
	maxShifts = 64
)

// worstShifts returns shifts of which one loses at least as much as any other that the mechanism's sensitivities allow,
// or false if there are too many to list.
//
// Guarantee: for noise that is symmetric and log-concave on the integers,
// independent over coordinates, every integer vector within the sensitivities is
// dominated by one that is returned. Neighbours: those of the sensitivities.
// Theorem: group privacy composes tests, and so bounds the product of two pairs
// by the pair of the sum of their shifts (after Dong, Roth & Su 2022, section
// 2.5). Argument: docs/proofs/shifts.md.
func (m Mechanism) worstShifts() ([]Shift, bool) {
	if m.Shifts != nil {
		return withoutMergeable(m.Shifts), true
	}
	if !m.L1.IsInt64() {
		return nil, false
	}
	l1 := m.L1.Int64()
	if m.L2Squared.Cmp(new(big.Int).Mul(m.L1, m.L1)) >= 0 {
		return []Shift{{l1}}, true // all merge into one coordinate
	}
	if l1 > maxShiftSum {
		return nil, false
	}
	var worst []Shift
	listShifts(nil, l1, l1, m.L2Squared.Int64(), func(s Shift) bool {
		if s.isWorst(l1, m.L2Squared.Int64()) {
			worst = append(worst, slices.Clone(s))
		}
		return len(worst) <= maxShifts
	})
	return worst, len(worst) <= maxShifts
}

// withoutMergeable returns the shifts that do not merge into another.
func withoutMergeable(shifts []Shift) []Shift {
	var worst []Shift
	for i, s := range shifts {
		merges := false
		for j, t := range shifts {
			merges = merges || i != j && s.mergesInto(t) && (j < i || !t.mergesInto(s))
		}
		if !merges {
			worst = append(worst, s)
		}
	}
	return worst
}

// mergesInto reports whether t can be made from s by merging coordinates and enlarging them. It puts each coordinate of
// s, the largest first, into the first one of t that has room for it, and may therefore overlook a way.
func (s Shift) mergesInto(t Shift) bool {
	room := slices.Clone(t)
	for _, d := range s {
		place := slices.IndexFunc(room, func(left int64) bool { return left >= d })
		if place < 0 {
			return false
		}
		room[place] -= d
	}
	return true
}

// listShifts calls yield with every shift that extends begun by coordinates of at most part, until yield returns false.
// sum and squares are the remaining norms.
func listShifts(begun Shift, part, sum, squares int64, yield func(Shift) bool) bool {
	if len(begun) > 0 && !yield(begun) {
		return false
	}
	for d := min(part, sum); d >= 1; d-- {
		if d*d <= squares && !listShifts(append(begun, d), d, sum-d, squares-d*d, yield) {
			return false
		}
	}
	return true
}

// isWorst reports whether, within the norms, no coordinate of s can grow by one, no further coordinate can change, and
// no two can be merged into their sum.
func (s Shift) isWorst(l1, l2Squared int64) bool {
	var sum, squares int64
	for _, d := range s {
		sum += d
		squares += d * d
	}
	last := s[len(s)-1] // the least is the cheapest to enlarge, and to merge
	if sum < l1 && squares+1 <= l2Squared {
		return false // a new coordinate is at least as cheap as enlarging one
	}
	return len(s) < 2 || squares+2*last*s[len(s)-2] > l2Squared
}
