package statistic

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds what statistics have in common: each says only in what it differs.

// plain is what most statistics have in common: numbers that are not whole, and no parts of their own.
type plain struct{}

func (plain) Parts(Table, spec.Stat) ([]Part, error)                { return nil, nil }
func (plain) Additive() bool                                        { return false }
func (plain) Limits(plan.Figure, *spec.Table) (least, most float64) { return 0, unlimited }
func (plain) IsWhole() bool                                         { return false }
func (plain) Clamped() bool                                         { return false }
func (plain) Signed() bool                                          { return false }
func (plain) Ranked() bool                                          { return false }
func (plain) OfCount(plan.Figure) bool                              { return false }
func (plain) OfTotal() bool                                         { return false }
func (plain) ErrorSources(plan.Figure, Measured) ErrorSources       { return ErrorSources{} }
func (plain) RowsNeeded(plan.Figure, *spec.Table) float64           { return 0 }
func (plain) HasMap() bool                                          { return false }
func (plain) UnitOf(_ *language.Language, f plan.Figure, _ string, rows spec.TableWords) string {
	return rows.Unit(f.Column)
}

// figure returns a figure of a statistic, without its parts.
func figure(s spec.Stat) plan.Figure {
	return plan.Figure{Name: s.Name, Kind: s.Kind, Column: s.Column}
}
