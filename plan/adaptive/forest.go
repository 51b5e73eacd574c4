package adaptive

import "github.com/dprelease/dprelease/plan"

// This file holds forests: pairs of columns without a cycle, as [plan.MST] chooses them. Given columns count as one: so
// each column of a row hangs on one of them at most, and is drawn given what is known already.

// Forest records which columns of microdata chosen pairs have joined: two are in one tree if they have the same
// label.
type Forest []int

// ForestOf returns the forest before the first choice: no column is joined to another, except the given ones.
func ForestOf(s plan.Synthetic) Forest {
	f := NewForest(len(s.By))
	for i := range f {
		f[i] = min(i, len(s.By)-max(s.Given, 1))
	}
	return f
}

// NewForest returns a forest of columns, none joined to another.
func NewForest(columns int) Forest {
	f := make(Forest, columns)
	for i := range f {
		f[i] = i
	}
	return f
}

// JoinCount returns how many pairs make the forest a tree.
func JoinCount(s plan.Synthetic) int { return len(s.By) - max(s.Given, 1) }

// WouldJoin reports whether a pair would join two trees.
func (f Forest) WouldJoin(pair []int) bool { return f[pair[0]] != f[pair[1]] }

// Join joins the trees of a pair.
func (f Forest) Join(pair []int) {
	from, to := f[pair[1]], f[pair[0]]
	for i, label := range f {
		if label == from {
			f[i] = to
		}
	}
}
