// Package impossible finds the cells of a query that no row can fall into, by the entries under `impossible` of a
// spec.
//
// It owns the mask of these cells, a function of release and query only. It never sees a plan or a count.
package impossible

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
)

// Mask marks the impossible cells of a query. It is a function of release and query only.
type Mask struct {
	sizes []int
	boxes []box
}

// box is the cells that one entry rules out: those whose category is marked in every factor; a nil factor marks all.
type box [][]bool

// Of returns the impossible cells of a query: those all of whose rows would meet all conditions of one entry of the
// table's `impossible`. Only a marginal has any: the query must be of identity factors. It returns an error as Levels
// does.
func Of(q plan.Query, r *spec.Release) (*Mask, error) { return New(r).Mask(q) }

// Rules are the entries of a release, with a cache of the categories that they rule out.
type Rules struct {
	release *spec.Release
	within  map[ruleKey][]bool
}

// ruleKey is a condition together with an attribute of a table.
type ruleKey struct {
	entry, condition int
	attribute        spec.Attribute
}

// New returns the rules of a release.
func New(r *spec.Release) *Rules { return &Rules{r, map[ruleKey][]bool{}} }

// Mask returns the union of a box for each entry that has all its columns among the query's factors.
func (l *Rules) Mask(q plan.Query) (*Mask, error) {
	levels, err := q.Levels(l.release)
	if err != nil {
		return nil, err
	}
	m := &Mask{sizes: make([]int, len(levels))}
	for i, level := range levels {
		m.sizes[i] = level.Size()
	}
	for entry, e := range l.release.Impossible {
		if e.Table != q.Table {
			continue
		}
		if b := l.boxOf(entry, q); b != nil {
			m.boxes = append(m.boxes, b)
		}
	}
	return m, nil
}

// boxOf returns what an entry rules out of a query's cells, nil if nothing.
func (l *Rules) boxOf(entry int, q plan.Query) box {
	table, e := l.release.Table(q.Table), l.release.Impossible[entry]
	b := make(box, len(q.Factors))
	for condition, c := range e.Where {
		at := -1
		for i, f := range q.Factors {
			if f.Basis != plan.Identity {
				return nil
			}
			if attributes.Counted(table, spec.Attribute{Column: f.Attribute,
				Level: f.Level}).Column == attributes.Counted(table,
				c.Attribute).Column {
				at = i
			}
		}
		if at < 0 {
			return nil
		}
		f := q.Factors[at]
		key := ruleKey{entry, condition, attributes.Counted(table, spec.Attribute{Column: f.Attribute, Level: f.Level})}
		within, ok := l.within[key]
		if !ok {
			within = insideOf(table, key.attribute, c)
			l.within[key] = within
		}
		b[at] = intersect(b[at], within)
	}
	for _, marked := range b {
		if marked != nil && !slices.Contains(marked, true) {
			return nil
		}
	}
	return b
}

// insideOf marks the categories of an attribute all of whose base cells meet a condition on its column.
func insideOf(t *spec.Table, a spec.Attribute, c spec.Condition) []bool {
	level, _ := t.Column(a.Column).Domain.Level(a.Level)
	in, out := make([]bool, level.Size()), make([]bool, level.Size())
	for base, meets := range CodesMeeting(t, c) {
		code := level.Category(base)
		if meets {
			in[code] = true
		} else {
			out[code] = true
		}
	}
	for i := range in {
		in[i] = in[i] && !out[i]
	}
	return in
}

// CodesMeeting reports, for each base cell of a condition's column, which for a derived column is its origin, whether a
// row with it meets the condition.
func CodesMeeting(t *spec.Table, c spec.Condition) []bool {
	a := attributes.Counted(t, c.Attribute)
	domain := t.Column(a.Column).Domain
	level, _ := domain.Level(a.Level)
	named := make([]bool, level.Size())
	for _, code := range c.Codes {
		named[code] = true
	}
	out := make([]bool, domain.Size())
	for base := range out {
		out[base] = named[level.Category(base)]
	}
	return out
}

// intersect returns the categories that two lists mark; nil marks all.
func intersect(a, b []bool) []bool {
	if a == nil {
		return b
	}
	out := make([]bool, len(a))
	for i := range a {
		out[i] = a[i] && b[i]
	}
	return out
}

// Count returns how many cells are impossible. It counts categories that the same entries rule out as one, so it does
// not visit cells.
func (m *Mask) Count() int64 {
	if len(m.boxes) == 0 {
		return 0
	}
	all := make([]byte, len(m.boxes)) // of each box whether the categories so far lie in it
	for i := range all {
		all[i] = 1
	}
	partial := map[string]int64{string(all): 1}
	for factor, size := range m.sizes {
		alike := map[string]int64{} // categories of this factor by the boxes that mark them
		for category := range size {
			alike[string(m.marksOf(factor, category))]++
		}
		next := map[string]int64{}
		for a, n := range partial {
			for b, k := range alike {
				if in, some := commonBoxes(a, b); some {
					next[in] += n * k
				}
			}
		}
		partial = next
	}
	var count int64
	for _, n := range partial {
		count += n
	}
	return count
}

// marksOf returns, for each box, whether it marks a category of a factor.
func (m *Mask) marksOf(factor, category int) []byte {
	out := make([]byte, len(m.boxes))
	for i, b := range m.boxes {
		if b[factor] == nil || b[factor][category] {
			out[i] = 1
		}
	}
	return out
}

// commonBoxes returns the boxes that are in two markings; it reports false if there is none.
func commonBoxes(a, b string) (string, bool) {
	out, some := make([]byte, len(a)), false
	for i := range out {
		out[i] = a[i] & b[i]
		some = some || out[i] == 1
	}
	return string(out), some
}

// IsImpossible reports whether one cell, given by its row-major index, is impossible.
func (m *Mask) IsImpossible(cell uint64) bool {
	if len(m.boxes) == 0 {
		return false
	}
	at := make([]int, len(m.sizes))
	for i := len(m.sizes) - 1; i >= 0; i-- {
		at[i] = int(cell % uint64(m.sizes[i]))
		cell /= uint64(m.sizes[i])
	}
	return slices.ContainsFunc(m.boxes, func(b box) bool {
		for i, marked := range b {
			if marked != nil && !marked[at[i]] {
				return false
			}
		}
		return true
	})
}

// Cells reports, for each cell, row-major, whether it is impossible; it returns nil if none is.
func (m *Mask) Cells() []bool {
	if len(m.boxes) == 0 {
		return nil
	}
	cells := 1
	for _, size := range m.sizes {
		cells *= size
	}
	out := make([]bool, cells)
	for _, b := range m.boxes {
		m.fill(b, 0, 0, out)
	}
	return out
}

// fill marks the cells of a box, given the row-major index over the factors before.
func (m *Mask) fill(b box, factor, before int, out []bool) {
	if factor == len(m.sizes) {
		out[before] = true
		return
	}
	for category := range m.sizes[factor] {
		if b[factor] == nil || b[factor][category] {
			m.fill(b, factor+1, before*m.sizes[factor]+category, out)
		}
	}
}
