package plan

import (
	"reflect"

	"github.com/dprelease/dprelease/spec"
)

// This file holds the figures of a table other than its count: what each is computed from, and its accuracy.

// Figure is one published figure per cell that is computed from noisy integers: from the table's count, which is its
// first statistic, and from parts, which are separate measurements.
type Figure struct {
	Name string        `json:"name"` // of its column
	Kind spec.StatKind `json:"kind"`
	// Column is the column of its values; "" for a ratio and for units.
	Column string `json:"column,omitempty"`
	// At is the share of a quantile, and Place its index among those that its part draws.
	At    string `json:"at,omitempty"`
	Index int    `json:"place,omitempty"`
	// Sums and Squares are the parts that hold the sums of the column's values about the middle of its range, and of
	// their squares; Part holds what is drawn or counted: quantiles, units, distinct values.
	Sums    string `json:"sums,omitempty"`
	Squares string `json:"squares,omitempty"`
	Part    string `json:"part,omitempty"`
	// Of and Over are the terms of a ratio or a share.
	Of   *Term `json:"of,omitempty"`
	Over *Term `json:"over,omitempty"`
	// Quality is its accuracy.
	Quality Quality `json:"quality"`
}

// Term is the numerator or the denominator of a ratio: the count, sum or mean over those cells of its parts that it
// takes for each cell of the table.
type Term struct {
	Kind   spec.StatKind `json:"kind"`
	Column string        `json:"column,omitempty"`
	// Counts is the part that holds the counts, "" for the table's own count, and Sums the one of the sums.
	Counts string `json:"counts,omitempty"`
	Sums   string `json:"sums,omitempty"`
	// Where are the cells that it takes: for each attribute that it adds up over, in the order of its parts, the
	// categories; none stands for all.
	Where []Condition `json:"where,omitempty"`
}

// Condition is met by the rows whose category of an attribute is one of some.
type Condition struct {
	Attribute  string   `json:"attribute"`
	Categories []string `json:"categories,omitempty"` // by their codes; none: all
}

// Quality is the accuracy of a figure.
type Quality struct {
	// Rows is the number of rows of a cell for which the rest is stated; 0 stands for every cell.
	Rows int64 `json:"rows,omitempty"`
	// StandardError and Margin are in the figure's unit; Margin is approximately the half width of its interval.
	StandardError float64 `json:"standard_error,omitempty"`
	Margin        float64 `json:"margin,omitempty"`
	// Ranks is the margin of a quantile's rank in rows, at the usual confidence; in weight for weighted ones. Margin is
	// then for Rows rows that lie evenly over a tenth of the column's range, and Cell is the width of the bins that it
	// is read from, in the column's unit: no interval is narrower. Instead is what the other way to quantiles would
	// give for the same part of the budget; nil if there is none.
	Ranks       float64  `json:"ranks,omitempty"`
	Cell        float64  `json:"cell,omitempty"`
	Bins        int64    `json:"bins,omitempty"` // of its distribution; 0: it is drawn
	Alternative *Quality `json:"instead,omitempty"`
}

// MatchesRequest reports whether a figure is the one that the spec asks for, whatever its quality.
func (f Figure) MatchesRequest(asked Figure) bool {
	f.Quality, asked.Quality = Quality{}, Quality{}
	return reflect.DeepEqual(f, asked)
}

// Parts returns the measurements that a figure is computed from in addition to its table's count.
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
