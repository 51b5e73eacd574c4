package contour

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

const (
	// maxShift bounds a coordinate, so that float64 holds it exactly.
	maxShift = 1 << 53
	// maxNodes bounds the search for shapes.
	maxNodes = 1 << 20
)

// shapes lists the shifts that lose most: every shift that a unit can cause loses
// no more than one of them. They are those that stay within the sensitivities
// and, of these, can be turned into no other by the moves that never lessen the
// loss: enlarging a coordinate, or merging two coordinates a and b into one a+b
// (docs/proofs/shifts.md).
func shapes(m budget.Mechanism) ([]budget.Shift, error) {
	if len(m.Shifts) > 0 {
		return undominated(m.Shifts)
	}
	if !m.L1.IsInt64() || m.L1.Int64() > maxShift {
		return nil, errors.New("the sensitivity is above 2^53")
	}
	l1 := m.L1.Int64()
	reach := new(big.Int).Mul(m.L1, m.L1)
	if m.Kind == budget.DiscreteLaplace || m.L2Squared.Cmp(reach) >= 0 {
		return []budget.Shift{{l1}}, nil
	}
	search := shapeSearch{l1: l1, l2Squared: m.L2Squared.Int64()}
	if m.L2Squared.Cmp(big.NewInt(maxShift)) > 0 || !search.extend(nil, 0, 0) {
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

// extend looks at a shape, in descending order, and at all that begin with it. It
// gives up, with false, on too many.
func (s *shapeSearch) extend(shape budget.Shift, total, squares int64) bool {
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
		if !s.extend(append(shape, next), total+next, squares+next*next) {
			return false
		}
	}
	return true
}

// isMaximal tells a shape that no single move keeps within the sensitivities. The
// cheapest enlargement is a new coordinate of 1, the cheapest merger that of the
// two smallest.
func (s *shapeSearch) isMaximal(shape budget.Shift, total, squares int64) bool {
	if total < s.l1 && squares < s.l2Squared {
		return false
	}
	n := len(shape)
	return n < 2 || squares+2*shape[n-1]*shape[n-2] > s.l2Squared
}

// undominated keeps one of each shape that fits into no other.
func undominated(given []budget.Shift) ([]budget.Shift, error) {
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
			return !slices.Equal(shape, other) && len(shape) <= maxPacked && fits(shape, slices.Clone(other))
		})
	}), nil
}

// maxPacked bounds the shapes that fits is asked about; longer ones are kept,
// which costs time alone.
const maxPacked = 12

// fits tells whether moves turn a shape into another: whether its coordinates can
// be laid into the room of the other's, several into one.
func fits(shape, room budget.Shift) bool {
	if len(shape) == 0 {
		return true
	}
	for i := range room {
		if room[i] < shape[0] || i > 0 && room[i] == room[i-1] {
			continue
		}
		room[i] -= shape[0]
		rest := fits(shape[1:], room)
		room[i] += shape[0]
		if rest {
			return true
		}
	}
	return false
}

// maxAssignments bounds the ways to give each step one of its shapes.
const maxAssignments = 300

// repeated is a mechanism that runs count times, and the shapes each run can take.
type repeated struct {
	step   budget.Mechanism
	count  int64
	shapes []budget.Shift
}

// assignments lists the compositions among which is the worst: every way in which
// the steps can take their shapes, up to the order of equal steps.
func assignments(steps []budget.Mechanism) ([]*composition, error) {
	kinds, err := gather(steps)
	if err != nil {
		return nil, err
	}
	all := []map[string]*group{{}}
	for _, kind := range kinds {
		var next []map[string]*group
		for _, counts := range sharings(kind.count, max(1, len(kind.shapes)), maxAssignments/len(all)) {
			for _, base := range all {
				groups := clone(base)
				if err := kind.join(groups, counts); err != nil {
					return nil, err
				}
				next = append(next, groups)
			}
		}
		if next == nil {
			return nil, fmt.Errorf("cannot judge: more than %d ways for the steps to take their shapes", maxAssignments)
		}
		all = next
	}
	compositions := make([]*composition, len(all))
	for i, groups := range all {
		compositions[i] = newComposition(groups)
	}
	return compositions, nil
}

// gather counts equal steps, in the order of their first appearance.
func gather(steps []budget.Mechanism) ([]*repeated, error) {
	var kinds []*repeated
	index := map[string]*repeated{}
	for i, step := range steps {
		if err := step.Validate(); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		name := fmt.Sprint(step.Kind, step.Parameter.RatString(), step.L1, step.L2Squared, step.Shifts)
		if index[name] == nil {
			kind := &repeated{step: step}
			if step.L1 != nil {
				var err error
				if kind.shapes, err = shapes(step); err != nil {
					return nil, fmt.Errorf("cannot judge step %d: %w", i+1, err)
				}
			}
			index[name] = kind
			kinds = append(kinds, kind)
		}
		index[name].count++
	}
	return kinds, nil
}

// join adds the coordinates of a mechanism to groups of equal laws, counts[i] of
// its runs taking shape i.
func (r *repeated) join(groups map[string]*group, counts []int64) error {
	parameter := r.step.Parameter
	add := func(l law, count int64, name string) {
		if groups[name] == nil {
			groups[name] = &group{law: l}
		}
		groups[name].count += count
	}
	for i, count := range counts {
		switch r.step.Kind {
		case budget.DiscreteGaussian:
			for _, s := range r.shapes[i] {
				add(newGaussian(parameter, s), count, fmt.Sprint("gaussian ", parameter, s))
			}
		case budget.DiscreteLaplace:
			for _, s := range r.shapes[i] {
				rate := new(big.Rat).Inv(parameter)
				add(newLaplace(rate, s), count, fmt.Sprint("laplace ", rate, s))
			}
		case budget.RandomizedResponse, budget.PermuteAndFlip:
			add(newLaplace(parameter, 1), count, fmt.Sprint("laplace ", parameter, 1))
		case budget.ExponentialMechanism:
			add(newExponential(parameter), count, fmt.Sprint("exponential ", parameter))
		default:
			return fmt.Errorf("cannot judge %s: no law of its loss is known", r.step.Kind)
		}
	}
	return nil
}

// clone copies groups so that counts can be added to them.
func clone(groups map[string]*group) map[string]*group {
	copied := make(map[string]*group, len(groups))
	for name, g := range groups {
		copied[name] = &group{law: g.law, count: g.count}
	}
	return copied
}

// sharings lists the ways to share count equal things among n, or nil if there
// are more than limit.
func sharings(count int64, n, limit int) [][]int64 {
	if limit < 1 {
		return nil
	}
	if n == 1 {
		return [][]int64{{count}}
	}
	var all [][]int64
	for first := count; first >= 0; first-- {
		rest := sharings(count-first, n-1, limit-len(all))
		if rest == nil {
			return nil
		}
		for _, r := range rest {
			all = append(all, append([]int64{first}, r...))
		}
	}
	return all
}

// sortedNames gives groups an order that does not depend on the map's.
func sortedNames(groups map[string]*group) []string {
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	slices.SortFunc(names, cmp.Compare[string])
	return names
}
