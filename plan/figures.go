package plan

import (
	"reflect"

	"github.com/dprelease/dprelease/spec"
)

// This file holds the figures of a table beside its count: what each is worked out from, and how good it will be.

// Figure is one published figure per cell that is worked out from noisy integers: of the table's count, which its first
// statistic says, and of parts, measurements of their own.
type Figure struct {
	Name string        `json:"name"` // of its column
	Kind spec.StatKind `json:"kind"`
	// Column is what it is of; "" of a ratio and of units.
	Column string `json:"column,omitempty"`
	// At is the share of a quantile, and Place its place among those that its part draws.
	At    string `json:"at,omitempty"`
	Place int    `json:"place,omitempty"`
	// Sums and Squares are the parts that hold the sums of the column's values about the middle of its range, and of their
	// squares; Part holds what is drawn or counted: quantiles, units, distinct values.
	Sums    string `json:"sums,omitempty"`
	Squares string `json:"squares,omitempty"`
	Part    string `json:"part,omitempty"`
	// Of and Over are the terms of a ratio.
	Of   *Term `json:"of,omitempty"`
	Over *Term `json:"over,omitempty"`
	// Within are the attributes that the cells of the total of a share have in common; none: the total is the table's.
	Within []string `json:"within,omitempty"`
	// Quality is how good it will be.
	Quality Quality `json:"quality"`
}

// Term is one of the two that a ratio is of: over the cells of its parts that it takes for each cell of the table,
// their count, sum or mean.
type Term struct {
	Kind   spec.StatKind `json:"kind"`
	Column string        `json:"column,omitempty"`
	// Counts is the part that holds the counts, "" for the table's own count, and Sums the one of the sums.
	Counts string `json:"counts,omitempty"`
	Sums   string `json:"sums,omitempty"`
	// Where are the cells that it takes: of the attributes that it adds up over, in the order of what it rests on, the
	// categories; none stands for all.
	Where []Condition `json:"where,omitempty"`
}

// Condition is met by the rows whose category of an attribute is one of some.
type Condition struct {
	Attribute  string   `json:"attribute"`
	Categories []string `json:"categories,omitempty"` // by their codes; none: all
}

// Quality is how good a figure will be.
type Quality struct {
	// Rows is for a cell of how many rows the rest is said; 0: for every cell.
	Rows int64 `json:"rows,omitempty"`
	// StandardError and Margin are in the figure's unit; Margin is half the width of its interval, about.
	StandardError float64 `json:"standard_error,omitempty"`
	Margin        float64 `json:"margin,omitempty"`
	// Ranks is, of a quantile, by how many rows at most its rank is off, at the usual confidence; by how much weight of
	// weighted ones. Margin is then for Rows rows that lie evenly over a tenth of the column's range, and Cell is the
	// width of the bins that it is read from, in the column's unit: no interval is narrower. Instead is what the other way
	// to quantiles would give for the same part of the budget; nil where there is none.
	Ranks   float64  `json:"ranks,omitempty"`
	Cell    float64  `json:"cell,omitempty"`
	Bins    int64    `json:"bins,omitempty"` // of its distribution; 0: it is drawn
	Instead *Quality `json:"instead,omitempty"`
}

// AsAsked tells that a figure is the one that the spec asks for, whatever is said of its quality.
func (f Figure) AsAsked(asked Figure) bool {
	f.Quality, asked.Quality = Quality{}, Quality{}
	return reflect.DeepEqual(f, asked)
}

// Parts are the measurements that a figure rests on beside its table's count.
func (f Figure) Parts() []string {
	var all []string
	add := func(ids ...string) {
		for _, id := range ids {
			if id != "" {
				all = append(all, id)
			}
		}
	}
	add(f.Part, f.Sums, f.Squares)
	for _, t := range []*Term{f.Of, f.Over} {
		if t != nil {
			add(t.Counts, t.Sums)
		}
	}
	return all
}
