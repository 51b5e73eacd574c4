package spec

// This file reads marginals: their attributes, sizes and weight.

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
)

func (r *reader) readMarginals(root document.Node) {
	for _, n := range r.Entries(root.Get("marginals")) {
		if r.IsSound(n) {
			r.readMarginal(root, n)
		}
	}
}

func (r *reader) readMarginal(root, n document.Node) {
	m := Marginal{Name: n.Key.Value, Stats: []Stat{{Kind: Count, Name: "count"}}, Every: r.readEvery(n)}
	t := r.readTable(n, "the marginal's table")
	if t != nil {
		m.Table = t.Name
		m.By = r.readBy(root, t, n.Get("by"))
		r.readEach(t, &m, n)
		r.readAlong(&m, t, n)
		r.checkDecided(t, &m, n)
	}
	m.Target = r.readTarget(n.Get("target"))
	m.Above = r.readAbove(n)
	m.Top = r.readTop(t, &m, n)
	r.readStats(root, t, &m, n)
	r.checkTopStats(&m, n)
	if t != nil {
		r.checkDiscovers(t, &m, n)
	}
	r.readCollectedMarginal(t, &m, n)
	r.checkHeldMarginal(&m, n)
	m.Weight = r.readWeight(n.Get("weight"))
	if !n.Get("each").Present() {
		m.Leaf = r.readLeaf(n)
	}
	r.release.Marginals = append(r.release.Marginals, m)
}

// readBy reads the attributes of a marginal, no two of the same column.
func (r *reader) readBy(root document.Node, t *Table, n document.Node) []Attribute {
	r.allowsUnlisted = true
	defer func() { r.allowsUnlisted = false }()
	return r.readAttributes(root, t, n, eachColumnOnce("each column once in a marginal"))
}

func (r *reader) readEvery(n document.Node) []int {
	var sizes []int
	most := int64(len(n.Get("by").Items()))
	for _, item := range n.Get("every").Items() {
		size := item.WholeNumber()
		switch {
		case size > most:
			r.AddProblem(item, document.Problem{Message: fmt.Sprintf("size %d of %d attributes", size, most),
				Expected: fmt.Sprintf("a size from 0 to %d", most)})
		case slices.Contains(sizes, int(size)):
			r.AddProblem(item, document.Problem{Message: fmt.Sprintf("size %d appears twice", size),
				Expected: "each size once"})
		default:
			sizes = append(sizes, int(size))
		}
	}
	return sizes
}

// readWeight reads a weight between a millionth and a million.
func (r *reader) readWeight(n document.Node) *big.Rat {
	if !n.Present() {
		return big.NewRat(1, 1)
	}
	x, ok := r.Number(n)
	if ok && (x.Cmp(big.NewRat(1, 1_000_000)) < 0 || x.Cmp(big.NewRat(1_000_000, 1)) > 0) {
		r.AddProblem(n, document.Problem{Message: "the weight is " + n.Text(), Expected: "a number from 1e-6 to 1e6"})
	}
	return x
}
