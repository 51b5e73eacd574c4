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
	tables [][]float64 // of each clique
	shared [][]float64 // of each clique and its parent
	up     []walk      // over a clique, with what it shares with its parent
	down   []walk      // over the parent, with the same
	ratio  [][]float64 // scratch, as large as shared
}

func newCalibrated(d Domain, t *Tree) *calibrated {
	c := &calibrated{Tree: t}
	for i, clique := range t.Cliques {
		c.tables = append(c.tables, make([]float64, int(d.Cells(clique))))
		cells := int(d.Cells(t.Shared[i]))
		c.shared, c.ratio = append(c.shared, make([]float64, cells)), append(c.ratio, make([]float64, cells))
		c.up = append(c.up, newWalk(d, clique, t.Shared[i]))
		if i == 0 {
			c.down = append(c.down, nil)
			continue
		}
		c.down = append(c.down, newWalk(d, t.Cliques[t.Parent[i]], t.Shared[i]))
	}
	return c
}

// twin is another of the same tree, with tables of its own.
func (c *calibrated) twin() *calibrated {
	out := &calibrated{Tree: c.Tree, up: c.up, down: c.down, ratio: c.ratio}
	for i := range c.tables {
		out.tables = append(out.tables, make([]float64, len(c.tables[i])))
		out.shared = append(out.shared, make([]float64, len(c.shared[i])))
	}
	return out
}

// least is the smallest part of its largest cell that a message can have before calibrate calls it an underflow.
const least = 1e-280

// calibrate makes cliques agree, whose tables were multiplied by anything since they last did, and gives all of them
// this total: messages to the root, and back (Jensen, Lauritzen & Olesen 1990). Every message on the way to the root is
// divided by its largest cell. whole is false where a message has cells, of such as can be, that are nothing beside its
// largest, so that digits may be lost.
func (c *calibrated) calibrate(total float64) (whole bool) {
	whole = true
	for i := len(c.Cliques) - 1; i > 0; i-- {
		message := c.ratio[i]
		clear(message)
		c.up[i].project(c.tables[i], message)
		for j, m := range message {
			old := c.shared[i][j]
			c.shared[i][j] = m
			if old == 0 {
				message[j] = 0
			} else {
				message[j] = m / old
			}
		}
		most := 0.0
		for _, m := range message {
			most = max(most, m)
		}
		for j, m := range message {
			message[j] = m / most
			whole = whole && !(message[j] < least)
		}
		c.down[i].multiply(c.tables[c.Parent[i]], c.tables[c.Parent[i]], message)
	}
	all := sum(c.tables[0])
	if !(all > least && all <= math.MaxFloat64) {
		return false
	}
	scale(c.tables[0], total/all)
	for i := 1; i < len(c.Cliques); i++ {
		message := c.ratio[i]
		clear(message)
		c.down[i].project(c.tables[c.Parent[i]], message)
		old := c.shared[i]
		c.shared[i], c.ratio[i] = message, old
		for j, m := range message {
			if old[j] == 0 {
				continue
			}
			old[j] = m / old[j]
		}
		c.up[i].multiply(c.tables[i], c.tables[i], old)
	}
	return whole
}

// calibrateLogs does for tables of logarithms what calibrate does: slowly, and whatever their range. The tables are
// counts afterwards.
func (c *calibrated) calibrateLogs(total float64) {
	for i := len(c.Cliques) - 1; i > 0; i-- {
		logSum(c.up[i], c.tables[i], c.shared[i])
		c.down[i].add(c.tables[c.Parent[i]], c.shared[i])
	}
	all := []float64{0}
	logSum(walk{{n: len(c.tables[0])}}, c.tables[0], all)
	level := budget.Log(total) - all[0]
	for j := range c.tables[0] {
		c.tables[0][j] += level
	}
	for i := 1; i < len(c.Cliques); i++ {
		message := c.ratio[i]
		logSum(c.down[i], c.tables[c.Parent[i]], message)
		for j, old := range c.shared[i] {
			c.shared[i][j] = message[j]
			if message[j] -= old; math.IsInf(old, -1) {
				message[j] = 0
			}
		}
		c.up[i].add(c.tables[i], message)
	}
	for i := range c.tables {
		exponentials(c.tables[i])
		if i > 0 {
			exponentials(c.shared[i])
		}
	}
}

// logSum sets a small table to the logarithms of the sums of what a large one has the logarithms of, which belong to
// each of its cells.
func logSum(w walk, large, small []float64) {
	most := make([]float64, len(small))
	for i := range most {
		most[i] = math.Inf(-1)
	}
	w.greatest(large, most)
	shift := make([]float64, len(small))
	for i, m := range most {
		if !math.IsInf(m, -1) {
			shift[i] = -m
		}
	}
	terms := append([]float64(nil), large...)
	w.add(terms, shift)
	exponentials(terms)
	clear(small)
	w.project(terms, small)
	for i, s := range small {
		small[i] = budget.Log(s) + most[i]
		if math.IsInf(most[i], -1) {
			small[i] = most[i]
		}
	}
}

func exponentials(x []float64) {
	for i, v := range x {
		x[i] = budget.Exp(v)
	}
}
