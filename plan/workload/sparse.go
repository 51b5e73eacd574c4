package workload

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the sparse tables: those of the cells above a threshold.

// Sparse tells that the cells above a threshold are published, and no others.
func (t *Table) Sparse() bool { return t.Selection.Kind() == selection.KindAbove }

// askedAbove is the selection of a marginal with a threshold.
func askedAbove(m *spec.Marginal, _ []*spec.Column) (selection.Selection, bool) {
	return selection.Above{Threshold: m.Above}, m.Above > 0
}

// tellAbove says what the threshold is.
func tellAbove(t *Table, _ *spec.Release, out *plan.Table) {
	out.Sparse = &selection.AboveFacts{Above: t.Marginal.Above}
}
