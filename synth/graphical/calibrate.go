package graphical

import (
	"math"

	"github.com/dprelease/dprelease/budget"
)

// This file holds calibration: making the cliques of a tree agree on what they share.

// calibrated is a junction tree whose cliques each have a table. Two that are neighbours agree on what they share: the
// law is the product of the tables over that of the shared ones.
type calibrated struct {
	*Tree
	tables [][]float64 // of each clique, by its axes
	shared [][]float64 // of each clique and its parent
	level  float64     // what the table of the root is yet to be multiplied by
	*passes
}

// passes are what calibration needs beside the tables of a tree.
type passes struct {
	axes     [][]int // of each clique's table
	sweeps   []*sweep
	children [][]int
	// terms of each clique. Views of a sweep are these, then the children's shared ones, then its own.
	hosted  []int
	ratio   [][]float64 // scratch, as large as shared
	message [][]float64
}

// newCalibrated is a tree whose cliques have terms over such cliques.
func newCalibrated(d Domain, t *Tree, terms [][]Clique) *calibrated {
	c := &calibrated{Tree: t, level: 1, passes: &passes{children: make([][]int, len(t.Cliques))}}
	for i, clique := range t.Cliques {
		if i > 0 {
			c.children[t.Parent[i]] = append(c.children[t.Parent[i]], i)
		}
		c.tables = append(c.tables, make([]float64, int(d.Cells(clique))))
		cells := int(d.Cells(t.Shared[i]))
		c.shared, c.ratio, c.message = append(c.shared, make([]float64, cells)), append(c.ratio, make([]float64, cells)),
			append(c.message, make([]float64, cells))
		c.axes, c.hosted = append(c.axes, axesOf(clique)), append(c.hosted, len(terms[i]))
	}
	for i := range t.Cliques {
		small := append([]Clique(nil), terms[i]...)
		for _, child := range c.children[i] {
			small = append(small, t.Shared[child])
		}
		c.sweeps = append(c.sweeps, newSweep(d, c.axes[i], append(small, t.Shared[i])...))
	}
	return c
}

// axesOf is the order of the axes of a clique's table. Attributes with more categories come later in a domain: the last
// one makes long rows, and the one before it comes first, so that the table has two halves.
func axesOf(c Clique) []int {
	if len(c) < 3 {
		return c
	}
	n := len(c)
	axes := append([]int{c[n-2]}, c[:n-2]...)
	return append(axes, c[n-1])
}

// twin is another of the same tree, with tables of its own.
func (c *calibrated) twin() *calibrated {
	out := &calibrated{Tree: c.Tree, passes: c.passes, level: 1}
	for i := range c.tables {
		out.tables = append(out.tables, make([]float64, len(c.tables[i])))
		out.shared = append(out.shared, make([]float64, len(c.shared[i])))
	}
	return out
}

// settle multiplies the table of the root by what it is yet to be.
func (c *calibrated) settle() {
	if c.level != 1 {
		scale(c.tables[0], c.level)
		c.level = 1
	}
}

// own is the view of what a clique shares with its parent: of the root, of no attributes.
func (c *calibrated) own(i int) int { return c.hosted[i] + len(c.children[i]) }

// least is the smallest part of its largest cell that a message can have before calibrate calls it an underflow.
const least = 1e-280

// calibrate makes the law that has the factors of another and new ones, which are given for the terms of each clique,
// and this total: messages to the root, and back (Jensen, Lauritzen & Olesen 1990). With no other it is of the new ones
// alone. Every message on the way to the root is divided by its largest cell. It adds the counts of terms to those
// given.
//
// whole is false where a message has cells that are nothing beside its largest, so that digits may be lost; sound where
// all is lost.
func (c *calibrated) calibrate(from *calibrated, total float64, factors, counts [][]operand) (whole, sound bool) {
	whole = true
	for i := len(c.Cliques) - 1; i >= 0; i-- {
		in, constant := []float64(nil), 1.0
		if from != nil {
			in = from.tables[i]
		}
		multiply := append([]operand(nil), factors[i]...)
		for k, child := range c.children[i] {
			multiply = append(multiply, operand{c.hosted[i] + k, c.ratio[child]})
		}
		clear(c.shared[i])
		sums := []operand{{c.own(i), c.shared[i]}}
		if i == 0 { // the root is done once
			if from != nil {
				constant = from.level
			}
			sums = c.outgoing(0, sums, counts[0])
		}
		c.sweeps[i].run(c.tables[i], in, constant, multiply, sums)
		if i > 0 {
			old := []float64(nil)
			if from != nil {
				old = from.shared[i]
			}
			whole = c.send(i, old) && whole
		}
	}
	all := c.shared[0][0]
	if !(all > least && all <= math.MaxFloat64) {
		return false, false
	}
	c.level = total / all
	for _, o := range c.outgoing(0, nil, counts[0])[len(counts[0]):] {
		scale(o.values, c.level)
	}
	for _, o := range counts[0] {
		scale(o.values, c.level)
	}
	for i := 1; i < len(c.Cliques); i++ {
		ratio := c.ratio[i]
		for j, m := range c.message[i] {
			ratio[j] = 0
			if up := c.shared[i][j]; up != 0 {
				ratio[j] = m / up
			}
		}
		c.shared[i], c.message[i] = c.message[i], c.shared[i]
		c.sweeps[i].run(c.tables[i], c.tables[i], 1, []operand{{c.own(i), ratio}}, c.outgoing(i, nil, counts[i]))
	}
	return whole, true
}

// outgoing adds to operands the counts of a clique's terms and its messages to children, which begin at none.
func (c *calibrated) outgoing(i int, to, counts []operand) []operand {
	to = append(to, counts...)
	for k, child := range c.children[i] {
		to = append(to, operand{c.hosted[i] + k, c.message[child]})
	}
	return to
}

// send makes the message of a clique to its parent from what both share and what they shared before, nil for ones; and
// clears the one back.
func (c *calibrated) send(i int, old []float64) (whole bool) {
	ratio, most := c.ratio[i], 0.0
	whole = true
	for j, m := range c.shared[i] {
		whole = whole && !(m < least)
		switch {
		case old == nil:
			ratio[j] = m
		case old[j] == 0:
			ratio[j] = 0
		default:
			ratio[j] = m / old[j]
		}
		most = max(most, ratio[j])
	}
	for j, r := range ratio {
		ratio[j] = r / most
		whole = whole && !(ratio[j] < least)
	}
	clear(c.message[i])
	return whole
}

// calibrateLogs makes the law of tables of logarithms: slowly, and whatever their range. The tables are counts
// afterwards.
func (c *calibrated) calibrateLogs(total float64) {
	c.level = 1
	for i := len(c.Cliques) - 1; i > 0; i-- {
		logSum(c.sweeps[i], c.own(i), c.tables[i], c.shared[i])
		c.add(i, c.shared[i])
	}
	all := []float64{0}
	logSum(c.sweeps[0], c.own(0), c.tables[0], all)
	level := budget.Log(total) - all[0]
	for j := range c.tables[0] {
		c.tables[0][j] += level
	}
	for i := 1; i < len(c.Cliques); i++ {
		message, parent := c.ratio[i], c.Parent[i]
		logSum(c.sweeps[parent], c.viewIn(i), c.tables[parent], message)
		for j, old := range c.shared[i] {
			c.shared[i][j] = message[j]
			if message[j] -= old; math.IsInf(old, -1) {
				message[j] = 0
			}
		}
		c.sweeps[i].pairs(c.own(i), func(large, small int) { c.tables[i][large] += message[small] })
	}
	for i := range c.tables {
		exponentials(c.tables[i])
		if i > 0 {
			exponentials(c.shared[i])
		}
	}
}

// viewIn is the view, in the sweep of its parent, of what a clique shares with it.
func (c *calibrated) viewIn(i int) int {
	parent := c.Parent[i]
	k := 0
	for c.children[parent][k] != i {
		k++
	}
	return c.hosted[parent] + k
}

// add adds a message of logarithms to the table of a clique's parent.
func (c *calibrated) add(i int, message []float64) {
	table := c.tables[c.Parent[i]]
	c.sweeps[c.Parent[i]].pairs(c.viewIn(i), func(large, small int) { table[large] += message[small] })
}

// logSum sets a small table to the logarithms of the sums of what a large one has the logarithms of, which belong to
// each of its cells.
func logSum(s *sweep, view int, large, small []float64) {
	most := make([]float64, len(small))
	fill(most, math.Inf(-1))
	s.pairs(view, func(i, j int) { most[j] = max(most[j], large[i]) })
	clear(small)
	s.pairs(view, func(i, j int) {
		if !math.IsInf(most[j], -1) {
			small[j] += budget.Exp(large[i] - most[j])
		}
	})
	for j, x := range small {
		if small[j] = most[j]; x > 0 {
			small[j] += budget.Log(x)
		}
	}
}

func exponentials(x []float64) {
	for i, v := range x {
		x[i] = budget.Exp(v)
	}
}
