package plan

import (
	"slices"

	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
)

// This file holds invariants: public figures with which published counts agree, and the tables that they decide.

// Invariant is how many rows a confidential table has in every cell of a marginal, as a public fact. Its figures are
// in the plan's source, nothing is read from data for it, and it changes no measurement.
type Invariant struct {
	Name  string   `json:"name"`
	Table string   `json:"table"` // the confidential table whose rows it counts
	By    []string `json:"by"`
	From  string   `json:"from,omitempty"` // the file with the figures; "" if they are in the spec
	Cells int64    `json:"cells"`
	Total int64    `json:"total"`
	// Tables are the published ones whose cells are its figures, or sums of them.
	Tables []string `json:"tables,omitempty"`
}

// InvariantCells returns, for each figure of an invariant, the index of the table's cell in which it is counted; nil if
// the figures do not decide the table.
func (p *Plan) InvariantCells(i spec.Invariant, t Table) []int32 {
	confidential := p.Release().Table(i.Table)
	by, own := attributes.CountedBy(confidential, i.By), attributes.CountedBy(confidential, t.Attributes())
	has := func(a spec.Attribute) bool {
		return slices.ContainsFunc(by, func(b spec.Attribute) bool { return a.Column == b.Column })
	}
	if slices.ContainsFunc(own, func(a spec.Attribute) bool { return !has(a) }) {
		return nil // before levels are looked at, which may be large
	}
	of, strides := make([][]int, len(by)), make([]int, len(by))
	found, stride := 0, 1
	for k := len(own) - 1; k >= 0; k-- {
		for l, a := range by {
			if within, ok := attributes.CoarserCategories(confidential, a, own[k]); ok {
				of[l], strides[l] = within, stride
				found++
			}
		}
		level, ok := confidential.Column(own[k].Column).Domain.Level(own[k].Level)
		if !ok {
			return nil
		}
		stride *= level.Size()
	}
	if found < len(own) {
		return nil
	}
	return attributes.CellIndices(confidential, by, of, strides)
}

// PublicFigures returns an invariant's figures for a table's cells, in the table's order; nil if no invariant decides
// the table.
func (p *Plan) PublicFigures(t Table) []int64 {
	at := slices.IndexFunc(p.Release().Invariants, func(i spec.Invariant) bool { return i.Name == t.Invariant })
	if at < 0 {
		return nil
	}
	i := p.Release().Invariants[at]
	places := p.InvariantCells(i, t)
	if places == nil {
		return nil // of a plan that was not made from its release
	}
	out := make([]int64, t.Cells)
	for k, n := range i.Counts {
		out[places[k]] += n
	}
	return out
}

// RowsOf returns the number of rows that microdata of a table have whatever is measured, 0 if there is none.
func (p *Plan) RowsOf(table string) int64 {
	if at := slices.IndexFunc(p.Synthetic, func(s Synthetic) bool { return s.Table == table }); at >= 0 {
		return p.Synthetic[at].Rows
	}
	return 0
}
