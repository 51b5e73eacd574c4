package contour

import (
	"errors"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

const (
	// maxShift bounds a coordinate, so that float64 holds it exactly.
	maxShift = 1 << 53
	// maxNodes bounds the search for shapes.
	maxNodes = 1 << 20
	// maxSearched is the largest L1 within which shapes are searched for.
	maxSearched = 64
)

// worstShapes returns the shifts that lose most: every shift that a unit can cause loses no more than one of them. They
// are the shifts within the sensitivities that cannot be turned into another by the moves that never reduce the loss:
// enlarging a coordinate, or merging two coordinates a and b into one a+b (docs/proofs/shifts.md).
func worstShapes(m budget.Mechanism) ([]budget.Shift, error) {
	if m.Kind == budget.ExponentialQuantiles {
		return nil, errors.New("of many choices of bounded range together the pair that dominates each says more " +
			"than is lost")
	}
	if len(m.Shifts) > 0 {
		return withoutFitting(m.Shifts)
	}
	if !m.L1.IsInt64() || m.L1.Int64() > maxShift {
		return nil, errors.New("the sensitivity is above 2^53")
	}
	l1 := m.L1.Int64()
	reach := new(big.Int).Mul(m.L1, m.L1)
	if noiseLaws[m.Kind].byL1 || m.L2Squared.Cmp(reach) >= 0 {
		return []budget.Shift{{l1}}, nil
	}
	search := shapeSearch{l1: l1, l2Squared: m.L2Squared.Int64()} // below l1²
	if l1 > maxSearched || !search.searchFrom(nil, 0, 0) {
		return nil, errors.New("there are too many shapes of shifts within the sensitivities: name the shifts that lose most")
	}
	return search.found, nil
}

// shapeSearch walks all multisets of positive integers within the sensitivities.
type shapeSearch struct {
	l1, l2Squared int64
	nodes         int
	found         []budget.Shift
}

// searchFrom considers a shape, in descending order, and all shapes that begin with it. It returns false if there are
// too many.
func (s *shapeSearch) searchFrom(shape budget.Shift, total, squares int64) bool {
	if s.nodes++; s.nodes > maxNodes {
		return false
	}
	if n := len(shape); n > 0 && s.isMaximal(shape, total, squares) {
		s.found = append(s.found, slices.Clone(shape))
	}
	largest := s.l1
	if len(shape) > 0 {
		largest = shape[len(shape)-1]
	}
	for next := int64(1); next <= min(largest, s.l1-total) && next <= (s.l2Squared-squares)/next; next++ {
		if !s.searchFrom(append(shape, next), total+next, squares+next*next) {
			return false
		}
	}
	return true
}

// isMaximal reports whether every move takes the shape out of the sensitivities. The cheapest enlargement is a new
// coordinate of 1, the cheapest merger that of the two smallest.
func (s *shapeSearch) isMaximal(shape budget.Shift, total, squares int64) bool {
	if total < s.l1 && squares < s.l2Squared {
		return false
	}
	n := len(shape)
	return n < 2 || squares+2*shape[n-1]*shape[n-2] > s.l2Squared
}

// withoutFitting keeps one of each shape that fits into no other.
func withoutFitting(given []budget.Shift) ([]budget.Shift, error) {
	var kept []budget.Shift
	for i, shape := range given {
		if shape[0] > maxShift {
			return nil, errors.New("a shift is above 2^53")
		}
		if !slices.ContainsFunc(given[:i], func(other budget.Shift) bool { return slices.Equal(shape, other) }) {
			kept = append(kept, shape)
		}
	}
	return slices.DeleteFunc(slices.Clone(kept), func(shape budget.Shift) bool {
		return slices.ContainsFunc(kept, func(other budget.Shift) bool {
			return !slices.Equal(shape, other) && len(shape) <= maxFitted && fitsInto(shape, slices.Clone(other))
		})
	}), nil
}

// maxFitted bounds the length of shapes for which fitsInto is evaluated; longer ones are kept, which only costs time.
const maxFitted = 12

// fitsInto reports whether moves turn a shape into another: whether its coordinates can be packed into the coordinates
// of room, several into one.
func fitsInto(shape, room budget.Shift) bool {
	if len(shape) == 0 {
		return true
	}
	for i := range room {
		if room[i] < shape[0] || i > 0 && room[i] == room[i-1] {
			continue
		}
		room[i] -= shape[0]
		rest := fitsInto(shape[1:], room)
		room[i] += shape[0]
		if rest {
			return true
		}
	}
	return false
}
