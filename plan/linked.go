package plan

import (
	"slices"

	"github.com/dprelease/dprelease/spec"
)

// This file holds linked microdata, whose rows each belong to one row of another table, their parent.

// OwnColumns returns the columns of the model that rows have themselves: all but the given ones.
func (s Synthetic) OwnColumns() []Factor { return s.By[:len(s.By)-s.Given] }

// GivenColumns returns the columns of the model that a row has from its parent row; the last is how many rows the
// parent row has.
func (s Synthetic) GivenColumns() []Factor { return s.By[len(s.By)-s.Given:] }

// Parent returns the index in Synthetic of the microdata given which others are drawn; it reports false for microdata
// without a parent.
func (p *Plan) Parent(s Synthetic) (int, bool) {
	at := slices.IndexFunc(p.Synthetic, func(other Synthetic) bool { return s.Parent != "" && other.Table == s.Parent })
	return at, at >= 0
}

// Child returns the spec of the microdata of a table whose rows have parent rows; it reports false for other tables.
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
