package plan

import (
	"slices"

	"github.com/dprelease/dprelease/spec"
)

// This file holds linked microdata: those of rows that each belong to one row of another table, their parent.

// Own are the columns of the model that rows have themselves: all but those that are given.
func (s Synthetic) Own() []Factor { return s.By[:len(s.By)-s.Given] }

// GivenBy are the columns of the model that a row has from its parent row; the last is how many rows that one has.
func (s Synthetic) GivenBy() []Factor { return s.By[len(s.By)-s.Given:] }

// Parent is the place in the plan's Synthetic of the microdata that others are drawn given; false for those that stand
// for themselves.
func (p *Plan) Parent(s Synthetic) (int, bool) {
	at := slices.IndexFunc(p.Synthetic, func(other Synthetic) bool { return s.Parent != "" && other.Table == s.Parent })
	return at, at >= 0
}

// Child finds what the spec says of the microdata of a table whose rows have parent rows; false for other tables.
func (p *Plan) Child(table string) (spec.Synthetic, bool) {
	at := slices.IndexFunc(p.Release().Synthetic, func(s spec.Synthetic) bool {
		return s.Table == table &&
			s.Parent != ""
	})
	if at < 0 {
		return spec.Synthetic{}, false
	}
	return p.Release().Synthetic[at], true
}
