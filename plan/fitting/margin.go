package fitting

import (
	"slices"

	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds margins: tables as sets of columns at levels, and which of them are within which.

// Margin is a table as a level of each chain, 0 if the chain is left out. Its cells are row-major over the chains in
// order.
type Margin []int

// Within reports whether a margin is a margin of another: none of its levels is finer.
func (m Margin) Within(other Margin) bool {
	for i, level := range m {
		if level > other[i] {
			return false
		}
	}
	return true
}

// Meet returns the finest margin that is within both.
func (m Margin) Meet(other Margin) Margin {
	out := make(Margin, len(m))
	for i := range m {
		out[i] = min(m[i], other[i])
	}
	return out
}

// Join returns the coarsest margin that both are within.
func (m Margin) Join(other Margin) Margin {
	out := make(Margin, len(m))
	for i := range m {
		out[i] = max(m[i], other[i])
	}
	return out
}

// Dimensions returns how many chains the margin shows.
func (m Margin) Dimensions() int {
	n := 0
	for _, level := range m {
		if level > 0 {
			n++
		}
	}
	return n
}

// depth returns the sum of the levels: a margin within another one has a smaller depth.
func (m Margin) depth() int {
	n := 0
	for _, level := range m {
		n += level
	}
	return n
}

// singleMargin returns the margin of one chain at a level.
func singleMargin(chains, chain, level int) Margin {
	m := make(Margin, chains)
	m[chain] = level
	return m
}

// largestMargins returns the margins of a list, each once, that are within no other.
func largestMargins(all []Margin) []Margin {
	var out []Margin
	for i, m := range all {
		if !slices.ContainsFunc(all[:i], func(o Margin) bool { return slices.Equal(m, o) }) &&
			!slices.ContainsFunc(all, func(o Margin) bool { return m.Within(o) && !slices.Equal(m, o) }) {
			out = append(out, m)
		}
	}
	return out
}

// chainsOf arranges the attributes of tables in chains, and returns each table as a margin of these, with the chain
// of each of its attributes.
func chainsOf(confidential *spec.Table, tables [][]spec.Attribute) (chains []workload.Chain, margins []Margin,
	order [][]int) {
	var columns []*spec.Column
	levels := map[*spec.Column][]*domain.Level{}
	for _, a := range slices.Concat(tables...) {
		column := confidential.Column(a.Column)
		level, _ := column.Domain.Level(a.Level)
		if levels[column] == nil {
			columns = append(columns, column)
		}
		if !slices.Contains(levels[column], level) {
			levels[column] = append(levels[column], level)
		}
	}
	at := map[spec.Attribute][2]int{}
	for _, column := range columns {
		for _, chain := range workload.ChainsOf(column, levels[column]) {
			for k := range chain.Levels {
				at[chain.Attribute(k+1)] = [2]int{len(chains), k + 1}
			}
			chains = append(chains, chain)
		}
	}
	for _, by := range tables {
		m, chainAt := make(Margin, len(chains)), make([]int, len(by))
		for i, a := range by {
			chainAt[i] = at[a][0]
			m[at[a][0]] = at[a][1]
		}
		margins, order = append(margins, m), append(order, chainAt)
	}
	return chains, margins, order
}

// mostOrdered bounds the margins that are ordered.
const mostOrdered = 1000

// earOrder orders margins so that all that each shares with those before is within one of them: from the last on, it
// removes one after the other of which that is true, in any order, and of several the last (Graham 1979; Yu &
// Özsoyoğlu 1979). A margin of fewer than leastChains chains that two share is disregarded. It reports false if there
// is no such order: then those that are left come first, in their original order.
func earOrder(all []Margin, leastChains int) (order []int, ok bool) {
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
			of := sharedMargin(all[left[i]], others, leastChains)
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

// sharedMargin returns the join of the margins that this one has in common with others, without those of fewer than
// leastChains chains.
func sharedMargin(m Margin, others []Margin, leastChains int) Margin {
	out := make(Margin, len(m))
	for _, o := range others {
		if one := m.Meet(o); one.Dimensions() >= leastChains {
			out = out.Join(one)
		}
	}
	return out
}
