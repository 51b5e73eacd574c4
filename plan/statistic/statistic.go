package statistic

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the statistic: what every one of them declares, and the list of them.

// Statistic is what a table shows of one kind. Each has a file of its own.
type Statistic interface {
	// Plural names its figures in a sentence.
	Plural(l *language.Language) string
	// Parts returns the measurements that its figures are computed from in addition to the table's count, or a [Fault].
	Parts(t Table, s spec.Stat) ([]Part, error)
	// Figures returns its figures in the table, without their quality; none if the table's first statistic is what it
	// shows.
	Figures(t Table, s spec.Stat) []plan.Figure
	// Additive reports whether its figures can be added up: their estimates are published too, whose mean over the
	// noise is the exact figure of the rows as they are counted.
	Additive() bool
	// Limits returns the least and the most that an additive figure of a table of these rows can be by what the spec
	// declares: 0, the number of values of its column, or infinity.
	Limits(f plan.Figure, rows *spec.Table) (least, most float64)
	// IsWhole reports whether its figures are whole numbers of what is counted once, whatever a row weighs.
	IsWhole() bool
	// Clamped reports whether its values are rounded, and clamped to the range of their column.
	Clamped() bool
	// Signed reports whether its figures can be negative if the values of their column can.
	Signed() bool
	// Ranked reports whether its figures are found by their rank, so that noise changes the rank: they have no standard
	// error.
	Ranked() bool
	// OfCount reports whether a figure is also computed from the table's count.
	OfCount(f plan.Figure) bool
	// OfTotal reports whether its figures rest on the counts of other cells too, those of a total.
	OfTotal() bool
	// ErrorSources returns what the error of a figure depends on.
	ErrorSources(f plan.Figure, from Measured) ErrorSources
	// Truth returns what a figure of a table is of the true rows of each cell, by definition.
	Truth(f plan.Figure, x Exact) (func(cell int) Truth, error)
	// RowsNeeded returns about how many rows, by weight, a cell needs for a figure to be informative, if it is not
	// Ranked and has a margin; 0 if that does not depend on rows.
	RowsNeeded(f plan.Figure, rows *spec.Table) float64
	// Describe describes a figure of a table by these attributes, in the words of the rows that it counts.
	Describe(l *language.Language, f plan.Figure, by []string, rows spec.TableWords) string
	// UnitOf names the unit of a figure. protects is the noun for what the release protects.
	UnitOf(l *language.Language, f plan.Figure, protects string, rows spec.TableWords) string
	// HasMap reports whether its figures are drawn on a map.
	HasMap() bool
}

// statistics lists them by kind.
var statistics = [spec.StatKinds]Statistic{
	spec.Count: count{}, spec.Sum: sum{}, spec.Units: units{}, spec.Distinct: distinct{}, spec.Mean: mean{},
	spec.Ratio: ratio{}, spec.Variance: variance{}, spec.Deviation: deviation{}, spec.Quantiles: quantiles{},
	spec.Share: share{}, spec.Variation: cv{},
}

// Of returns the statistic of a kind.
func Of(kind spec.StatKind) Statistic { return statistics[kind] }

// OfFigure returns the statistic of a figure.
func OfFigure(f plan.Figure) Statistic { return Of(f.Kind) }
