package synth

// This file holds forests: pairs of columns without a cycle.

// forest tells which columns are joined: two are in one tree if they have the same label.
type forest []int

func newForest(columns int) forest {
	f := make(forest, columns)
	for i := range f {
		f[i] = i
	}
	return f
}

// apart tells whether a pair joins two trees.
func (f forest) apart(pair [2]int) bool { return f[pair[0]] != f[pair[1]] }

// join makes the trees of a pair one.
func (f forest) join(pair [2]int) {
	from, to := f[pair[1]], f[pair[0]]
	for i, label := range f {
		if label == from {
			f[i] = to
		}
	}
}
