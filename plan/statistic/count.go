package statistic

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the count: it is the table's own number, and no figure beside it.

type count struct{ plain }

func (count) Plural() string                         { return "counts" }
func (count) Figures(Table, spec.Stat) []plan.Figure { return nil }
func (count) Additive() bool                         { return true }
func (count) What(plan.Figure) string                { return "rows" }
func (count) In(plan.Figure, string) string          { return "rows" }

// WeightOf returns the value of rows that count by their weights, nil where each is one.
func WeightOf(t *spec.Table) *plan.Value {
	if t.Weight == nil {
		return nil
	}
	return &plan.Value{Weight: true}
}
