package tree

import (
	"context"
	"fmt"
	"math"
)

// This file holds the estimates: from the answers to the queries, up the tree and down again.

// Answers are the noisy answers of areas.
type Answers interface {
	// Answer returns the answers of an area to a query of its class: for each group of kinds, an array over the query's
	// attributes, row by row. Answers of groups that the area cannot have are not read. It is called twice for an area
	// without children.
	Answer(area, query int) ([]int64, error)
}

// Estimate visits the areas in their order with the estimates of their cells: for each kind that an area may have, in
// order, an array over all attributes. A cell that the answers do not determine has NaN. The visitor must not keep the
// array.
//
// It holds the coordinates of all areas with children, and of one without.
func (s *Spread) Estimate(ctx context.Context, answers Answers, visit func(area int, cells []float64) error) error {
	e := &estimator{Spread: s, answers: answers, width: s.tree.cells.perKind(),
		components: s.tree.basis.componentsOf(AllAxes(len(s.tree.cells.Attributes))),
		sums:       make([][]float64, len(s.tree.areas)), own: make([][]float64, len(s.tree.areas))}
	for i := len(s.tree.areas) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.gather(i); err != nil {
			return err
		}
	}
	for i := range s.tree.areas {
		if err := ctx.Err(); err != nil {
			return err
		}
		cells, err := e.spread(i)
		if err != nil {
			return err
		}
		if err := visit(i, cells); err != nil {
			return err
		}
	}
	return nil
}

// AllAxes returns the first n attributes.
func AllAxes(n int) Axes { return 1<<n - 1 }

// estimator holds the coordinates of the areas while they are estimated: for each kind of an area, one after the other.
type estimator struct {
	*Spread
	answers    Answers
	width      int // coordinates of a kind
	components []int
	sums       [][]float64 // of each area with children: the sum of what these say
	own        [][]float64 // of each area with children: first what it and the areas in it say, then its estimate
}

// gather works out what an area and the areas in it say, and adds it to its parent's sum.
func (e *estimator) gather(area int) error {
	said, err := e.say(area)
	if err != nil {
		return err
	}
	if e.sums[area] != nil {
		e.own[area] = said
	}
	parent := e.tree.areas[area].Parent
	if parent < 0 {
		return nil
	}
	if e.sums[parent] == nil {
		e.sums[parent] = make([]float64, len(e.kinds[parent])*e.width)
	}
	for i, at := range e.placesIn(parent, area) {
		to := e.sums[parent][at*e.width : (at+1)*e.width]
		for j, x := range said[i*e.width : (i+1)*e.width] {
			to[j] += x
		}
	}
	return nil
}

// say returns what an area and the areas in it say of the area, as coordinates.
func (e *estimator) say(area int) ([]float64, error) {
	t, k := e.tree, len(e.kinds[area])
	information := make([]float64, k*e.width)
	for i, q := range t.classes[t.areas[area].Class] {
		if err := e.inform(information, area, i, q); err != nil {
			return nil, err
		}
	}
	if sum := e.sums[area]; sum != nil && e.method == LeastSquares {
		e.multiply(k, sum, func(component int, x []float64) []float64 {
			return e.ties[area][component].precision.times(x)
		}, func(at int, x float64) { information[at] += x })
	}
	said := make([]float64, k*e.width)
	e.multiply(k, information, func(component int, x []float64) []float64 {
		return e.up[area][component].covariance.times(x)
	}, func(at int, x float64) { said[at] = x })
	return said, nil
}

// inform adds the answers to a query, each times what its cells count in it and divided by its variance.
func (e *estimator) inform(information []float64, area, query int, q Query) error {
	t := e.tree
	answers, err := e.answers.Answer(area, query)
	if err != nil {
		return err
	}
	places := t.basis.places(q.Axes)
	if len(answers) != q.groups()*len(places) {
		return fmt.Errorf("query %d of area %d has %d answers: expected %d", query, area, len(answers),
			q.groups()*len(places))
	}
	scale, _ := t.weightOf(q, 0)
	scale = float64(math.Sqrt(scale*q.Variance)) / q.Variance
	x := make([]float64, len(places))
	done := map[int]bool{}
	for _, kind := range e.kinds[area] {
		g := q.Groups[kind]
		if done[g] {
			continue
		}
		done[g] = true
		for j, a := range answers[g*len(places) : (g+1)*len(places)] {
			x[j] = float64(a)
		}
		t.basis.transform(x, q.Axes, false)
		for i, other := range e.kinds[area] {
			if q.Groups[other] != g {
				continue
			}
			row := information[i*e.width : (i+1)*e.width]
			for j, at := range places {
				row[at] += float64(x[j] * scale)
			}
		}
	}
	return nil
}

// multiply gives set, for each coordinate, the product of its component's matrix with its values of all k kinds.
func (e *estimator) multiply(k int, values []float64, times func(component int, x []float64) []float64,
	set func(at int, x float64)) {
	x := make([]float64, k)
	for j, component := range e.components {
		for i := range x {
			x[i] = values[i*e.width+j]
		}
		for i, y := range times(component, x) {
			set(i*e.width+j, y)
		}
	}
}

// spread returns the estimates of an area's cells, from those of its parent.
func (e *estimator) spread(area int) ([]float64, error) {
	said, err := e.own[area], error(nil)
	if said == nil {
		if said, err = e.say(area); err != nil {
			return nil, err
		}
	}
	if parent := e.tree.areas[area].Parent; e.shares[area].follows != nil {
		apart := append([]float64(nil), e.own[parent]...)
		for i, x := range e.sums[parent] {
			apart[i] -= x
		}
		x := make([]float64, len(e.kinds[parent]))
		for j, component := range e.components {
			for i := range x {
				x[i] = apart[i*e.width+j]
			}
			for i, row := range e.shares[area].follows[component] {
				said[i*e.width+j] += dot(row, x)
			}
		}
	}
	cells := said
	if e.own[area] != nil {
		e.own[area] = said
		cells = append([]float64(nil), said...)
	}
	for i := range e.kinds[area] {
		row := cells[i*e.width : (i+1)*e.width]
		if !e.determined(area, i) {
			for j := range row {
				row[j] = math.NaN()
			}
			continue
		}
		e.tree.basis.transform(row, AllAxes(len(e.tree.cells.Attributes)), true)
	}
	return cells, nil
}

// determined reports whether the answers determine the cells of an area's kind.
func (e *estimator) determined(area, kind int) bool {
	for _, post := range e.shares[area].post {
		for _, u := range post.unknown {
			if math.Abs(u[kind]) > 1e-7 {
				return false
			}
		}
	}
	return true
}
