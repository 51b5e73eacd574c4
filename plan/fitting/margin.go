package fitting

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
)

// This file holds margins: tables as sets of columns at levels, and which of them lie within which.

// Chain is a column of a confidential table with those of its levels that tables show, of which each lies within the
// one before. Levels of one column that do not lie within each other are in several chains.
type Chain struct {
	Column string
	Levels []*spec.Level // coarsest first
	Names  []string
	parent [][]int // of each category its category at the level before
}

// text names its levels.
func (c Chain) text() string {
	names := make([]string, len(c.Names))
	for i, level := range c.Names {
		names[i] = spec.Attribute{Column: c.Column, Level: level}.String()
	}
	return strings.Join(names, " with ")
}

// Size is the number of categories of a level, counted from 1; level 0 is the total, of one.
func (c Chain) Size(level int) int {
	if level == 0 {
		return 1
	}
	return c.Levels[level-1].Size()
}

// Within is, of each category of a level, the category of a coarser one that it lies in.
func (c Chain) Within(fine, coarse int) []int {
	of := make([]int, c.Size(fine))
	for i := range of {
		if coarse == 0 {
			continue
		}
		of[i] = i
		for level := fine; level > coarse; level-- {
			of[i] = c.parent[level-1][of[i]]
		}
	}
	return of
}

// Margin is a table as its chains show it: of each chain the level, 0 where it is left out. Its cells are row-major
// over the chains in order.
type Margin []int

// Within tells that a margin is one of another: none of its levels is finer.
func (m Margin) Within(other Margin) bool {
	for i, level := range m {
		if level > other[i] {
			return false
		}
	}
	return true
}

// Meet is the finest margin that lies within both.
func (m Margin) Meet(other Margin) Margin {
	out := make(Margin, len(m))
	for i := range m {
		out[i] = min(m[i], other[i])
	}
	return out
}

// Join is the coarsest margin that both lie within.
func (m Margin) Join(other Margin) Margin {
	out := make(Margin, len(m))
	for i := range m {
		out[i] = max(m[i], other[i])
	}
	return out
}

// Ways is how many chains the margin shows.
func (m Margin) Ways() int {
	n := 0
	for _, level := range m {
		if level > 0 {
			n++
		}
	}
	return n
}

// depth is the sum of the levels: a margin within another one has less.
func (m Margin) depth() int {
	n := 0
	for _, level := range m {
		n += level
	}
	return n
}

// Single is the margin of one chain at a level.
func single(chains, chain, level int) Margin {
	m := make(Margin, chains)
	m[chain] = level
	return m
}

// largest are those margins of a list, each once, that lie within no other.
func largest(all []Margin) []Margin {
	var out []Margin
	for i, m := range all {
		if !slices.ContainsFunc(all[:i], func(o Margin) bool { return slices.Equal(m, o) }) &&
			!slices.ContainsFunc(all, func(o Margin) bool { return m.Within(o) && !slices.Equal(m, o) }) {
			out = append(out, m)
		}
	}
	return out
}

// chainsOf puts the attributes of tables into chains, and is each table as a margin of these, with the chain of each of
// its attributes.
func chainsOf(confidential *spec.Table, tables [][]spec.Attribute) (chains []Chain, margins []Margin, order [][]int) {
	var columns []string
	levels := map[string][]string{}
	for _, by := range tables {
		for _, a := range by {
			if levels[a.Column] == nil {
				columns = append(columns, a.Column)
			}
			if !slices.Contains(levels[a.Column], a.Level) {
				levels[a.Column] = append(levels[a.Column], a.Level)
			}
		}
	}
	at := map[spec.Attribute][2]int{}
	for _, column := range columns {
		domain := confidential.Column(column).Domain
		level := func(name string) *spec.Level { l, _ := domain.Level(name); return l }
		left := levels[column]
		slices.SortStableFunc(left, func(a, b string) int { return cmp.Compare(level(a).Size(), level(b).Size()) })
		for len(left) > 0 {
			chain := Chain{Column: column}
			var rest []string
			for _, name := range left {
				parent, nested := make([]int, level(name).Size()), true
				if n := len(chain.Levels); n > 0 {
					parent, nested = attributes.Nesting(domain.Size(), level(name), chain.Levels[n-1])
				}
				if !nested {
					rest = append(rest, name)
					continue
				}
				chain.Levels, chain.Names, chain.parent = append(chain.Levels, level(name)), append(chain.Names, name),
					append(chain.parent, parent)
				at[spec.Attribute{Column: column, Level: name}] = [2]int{len(chains), len(chain.Levels)}
			}
			chains, left = append(chains, chain), rest
		}
	}
	for _, by := range tables {
		m, places := make(Margin, len(chains)), make([]int, len(by))
		for i, a := range by {
			places[i] = at[a][0]
			m[at[a][0]] = at[a][1]
		}
		margins, order = append(margins, m), append(order, places)
	}
	return chains, margins, order
}

// mostOrdered bounds the margins for which an order is looked for.
const mostOrdered = 1000

// ears orders margins so that all that each shares with those before lies within one of them: from the last on, it
// takes away one after the other of which that holds, in any order, and of several the last (Graham 1979; Yu &
// Özsoyoğlu 1979). What two share of fewer chains than least counts as nothing. false where there is no such order:
// then those that are left come first, as they were.
func ears(all []Margin, least int) (order []int, ok bool) {
	left := make([]int, len(all))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 && len(all) <= mostOrdered {
		ear := -1
		for i := len(left) - 1; i >= 0 && ear < 0; i-- {
			others := make([]Margin, 0, len(left)-1)
			for _, at := range left {
				if at != left[i] {
					others = append(others, all[at])
				}
			}
			of := shared(all[left[i]], others, least)
			if len(others) == 0 || slices.ContainsFunc(others, of.Within) {
				ear = i
			}
		}
		if ear < 0 {
			break
		}
		order = append(order, left[ear])
		left = slices.Delete(left, ear, ear+1)
	}
	slices.Reverse(order)
	return append(left, order...), len(left) == 0
}

// shared is the join of all that a margin has in common with others.
func shared(m Margin, others []Margin, least int) Margin {
	out := make(Margin, len(m))
	for _, o := range others {
		if one := m.Meet(o); one.Ways() >= least {
			out = out.Join(one)
		}
	}
	return out
}
