package graphical

import (
	"math"

	"github.com/dprelease/dprelease/budget"
)

// This file holds calibration: making the cliques of a tree agree on what they share.

// calibrated is a junction tree with a table for every clique. Neighbouring cliques agree on the attributes that they
// share: the law is the product of the clique tables divided by the product of the shared tables.
type calibrated struct {
	*Tree
	tables [][]float64 // of each clique, in the order of its axes
	shared [][]float64 // of each clique and its parent
	level  float64     // factor by which the table of the root has yet to be multiplied
	*passes
}

// passes holds what calibration needs in addition to the tables of a tree.
type passes struct {
	axes     [][]int // of each clique's table
	sweeps   []*sweep
	children [][]int
	// number of terms of each clique. The views of a sweep are those of the terms, then of what is shared with each
	// child, then of what is shared with the parent.
	hosted  []int
	ratio   [][]float64 // scratch, of the sizes of shared
	message [][]float64
}

// newCalibrated returns the tree, uncalibrated, where terms[i] lists the cliques of the terms that clique i hosts.
func newCalibrated(d Domain, t *Tree, terms [][]Clique) *calibrated {
	c := &calibrated{Tree: t, level: 1, passes: &passes{children: make([][]int, len(t.Cliques))}}
	for i, clique := range t.Cliques {
		if i > 0 {
			c.children[t.Parent[i]] = append(c.children[t.Parent[i]], i)
		}
		c.tables = append(c.tables, make([]float64, int(d.Cells(clique))))
		cells := int(d.Cells(t.Shared[i]))
		c.shared, c.ratio, c.message = append(c.shared, make([]float64, cells)),
			append(c.ratio, make([]float64, cells)),
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

// axesOf returns the order of the axes of a clique's table. Attributes with more categories come later in a domain: the
// last one makes long rows, and the one before it comes first, so that the table can be halved.
func axesOf(c Clique) []int {
	if len(c) < 3 {
		return c
	}
	n := len(c)
	axes := append([]int{c[n-2]}, c[:n-2]...)
	return append(axes, c[n-1])
}

// emptyCopy returns a calibrated tree with the same cliques and zeroed tables of its own.
func (c *calibrated) emptyCopy() *calibrated {
	out := &calibrated{Tree: c.Tree, passes: c.passes, level: 1}
	for i := range c.tables {
		out.tables = append(out.tables, make([]float64, len(c.tables[i])))
		out.shared = append(out.shared, make([]float64, len(c.shared[i])))
	}
	return out
}

// applyLevel multiplies the table of the root by the factor that is still outstanding.
func (c *calibrated) applyLevel() {
	if c.level != 1 {
		scale(c.tables[0], c.level)
		c.level = 1
	}
}

// parentView returns the view of what a clique shares with its parent. For the root the view has no attributes.
func (c *calibrated) parentView(i int) int { return c.hosted[i] + len(c.children[i]) }

// leastMessage is the smallest ratio of a message cell to the largest cell of the message that calibrate does not treat
// as an underflow.
const leastMessage = 1e-280

// calibrate computes the law whose factors are those of another law, from, and new ones, which are given for the terms
// of each clique, scaled to this total: messages to the root, and back (Jensen, Lauritzen & Olesen 1990). If from is
// nil the law has only the new factors. Every message towards the root is divided by its largest cell. The counts
// expected for the terms are added to those given.
//
// whole is false if a message has cells that underflow next to its largest, so that digits may be lost; sound is false
// if everything underflows.
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
		sums := []operand{{c.parentView(i), c.shared[i]}}
		if i == 0 { // the root is visited once
			if from != nil {
				constant = from.level
			}
			sums = c.outgoingSums(0, sums, counts[0])
		}
		c.sweeps[i].run(c.tables[i], in, constant, multiply, sums)
		if i > 0 {
			old := []float64(nil)
			if from != nil {
				old = from.shared[i]
			}
			whole = c.sendMessage(i, old) && whole
		}
	}
	all := c.shared[0][0]
	if !(all > leastMessage && all <= math.MaxFloat64) {
		return false, false
	}
	c.level = total / all
	for _, o := range c.outgoingSums(0, nil, counts[0])[len(counts[0]):] {
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
		c.sweeps[i].run(c.tables[i], c.tables[i], 1, []operand{{c.parentView(i), ratio}},
			c.outgoingSums(i, nil, counts[i]))
	}
	return whole, true
}

// outgoingSums appends to operands the counts of a clique's terms and its messages to children, which start at zero.
func (c *calibrated) outgoingSums(i int, to, counts []operand) []operand {
	to = append(to, counts...)
	for k, child := range c.children[i] {
		to = append(to, operand{c.hosted[i] + k, c.message[child]})
	}
	return to
}

// sendMessage computes the message of a clique to its parent from what both share and what they shared before (nil
// stands for ones), and clears the message back.
func (c *calibrated) sendMessage(i int, old []float64) (whole bool) {
	ratio, most := c.ratio[i], 0.0
	whole = true
	for j, m := range c.shared[i] {
		whole = whole && !(m < leastMessage)
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
		whole = whole && !(ratio[j] < leastMessage)
	}
	clear(c.message[i])
	return whole
}

// calibrateLogs computes the law from tables of logarithms: slowly, but for any range of values. Afterwards the tables
// hold counts.
func (c *calibrated) calibrateLogs(total float64) {
	c.level = 1
	for i := len(c.Cliques) - 1; i > 0; i-- {
		logSum(c.sweeps[i], c.parentView(i), c.tables[i], c.shared[i])
		c.addToParent(i, c.shared[i])
	}
	all := []float64{0}
	logSum(c.sweeps[0], c.parentView(0), c.tables[0], all)
	level := budget.Log(total) - all[0]
	for j := range c.tables[0] {
		c.tables[0][j] += level
	}
	for i := 1; i < len(c.Cliques); i++ {
		message, parent := c.ratio[i], c.Parent[i]
		logSum(c.sweeps[parent], c.childView(i), c.tables[parent], message)
		for j, old := range c.shared[i] {
			c.shared[i][j] = message[j]
			if message[j] -= old; math.IsInf(old, -1) {
				message[j] = 0
			}
		}
		c.sweeps[i].visitCells(c.parentView(i), func(large, small int) { c.tables[i][large] += message[small] })
	}
	for i := range c.tables {
		exponentiate(c.tables[i])
		if i > 0 {
			exponentiate(c.shared[i])
		}
	}
}

// childView returns the view, in the sweep of clique i's parent, of what the two share.
func (c *calibrated) childView(i int) int {
	parent := c.Parent[i]
	k := 0
	for c.children[parent][k] != i {
		k++
	}
	return c.hosted[parent] + k
}

// addToParent adds a message of logarithms to the table of a clique's parent.
func (c *calibrated) addToParent(i int, message []float64) {
	table := c.tables[c.Parent[i]]
	c.sweeps[c.Parent[i]].visitCells(c.childView(i), func(large, small int) { table[large] += message[small] })
}

// logSum sets each cell of a small table to the logarithm of the sum of the cells of the large table that project onto
// it. Both tables hold logarithms.
func logSum(s *sweep, view int, large, small []float64) {
	most := make([]float64, len(small))
	fillWith(most, math.Inf(-1))
	s.visitCells(view, func(i, j int) { most[j] = max(most[j], large[i]) })
	clear(small)
	s.visitCells(view, func(i, j int) {
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

func exponentiate(x []float64) {
	for i, v := range x {
		x[i] = budget.Exp(v)
	}
}
