package plan

// This file holds forests: pairs of columns without a cycle, as [MST] chooses them.

// Forest tells which columns of microdata chosen pairs have joined: two are in one tree if they have the same label.
type Forest []int

// Forest is the forest before the first choice: no column is joined to another.
func (s Synthetic) Forest() Forest { return NewForest(len(s.By)) }

// NewForest is the forest of so many columns, none joined to another.
func NewForest(columns int) Forest {
	f := make(Forest, columns)
	for i := range f {
		f[i] = i
	}
	return f
}

// Apart tells whether a pair would join two trees.
func (f Forest) Apart(pair []int) bool { return f[pair[0]] != f[pair[1]] }

// Join makes the trees of a pair one.
func (f Forest) Join(pair []int) {
	from, to := f[pair[1]], f[pair[0]]
	for i, label := range f {
		if label == from {
			f[i] = to
		}
	}
}
