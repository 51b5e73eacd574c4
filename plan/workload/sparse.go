package workload

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the sparse tables, which publish the cells above a threshold.

// Sparse reports whether the cells above a threshold are published, and no others.
func (t *Table) Sparse() bool { return t.Selection.Kind() == selection.KindAbove }

// requestedAbove returns the selection of a marginal with a threshold.
func requestedAbove(m *spec.Marginal, _ []*spec.Column) (selection.Selection, bool) {
	return selection.Above{Threshold: m.Above}, m.Above > 0
}

// describeAbove says what the threshold is.
func describeAbove(t *Table, _ *spec.Release, out *plan.Table) {
	out.Sparse = &selection.AboveFacts{Above: t.Marginal.Above}
}
