package synth

import (
	"math"
)

// This file holds microdata: rows drawn from a model of the measurements.

// Microdata are rows drawn from a model that was fitted to measurements. No row stands for a unit, and nothing of them
// has an interval: how far a model is from the truth beyond noise is not known, but for what was measured.
type Microdata struct {
	Table  string
	Method string // by which the model was made
	Shape  string // of the model: [Tree] or [Gradual] by method tables, "" by another
	// the columns: those of a row, those that it has from its parent row, and those that others decide
	Keys       []Key
	Own, Given int        // how many are a row's own, and how many it has from its parent row
	Parents    []uint32   // of each row, the place of its parent row among those of the parent; nil without a parent
	Rows       int        // how many
	Asked      int64      // as many as the publication asked for; 0: as the plan says or the noisy total does
	Files      int        // how many times rows are drawn, each time others from the same model
	Codes      [][]uint32 // by key, then row: places among the categories of the key
	Total      float64    // the unbiased noisy number of rows of the confidential table
	TotalError float64    // the standard error of Total, from the law of the noise
	Rounds     int        // that were made
	Fits       []Fit      // of what was measured: single columns, and then larger sets
	// cells in which the rows are off by more than three standard errors, the farthest first: ten at most
	Furthest []CellFit
}

// Written are the places of the columns that are published with a row: all but those that its parent row has.
func (m Microdata) Written() (keys []int) {
	for i := range m.Keys {
		if i < m.Own || i >= m.Own+m.Given {
			keys = append(keys, i)
		}
	}
	return keys
}

// Parent is the place of the row that a row belongs to, and its own where it belongs to none.
func (m Microdata) Parent(row int) int {
	if m.Parents == nil {
		return row
	}
	return int(m.Parents[row])
}

// mostRows is how many rows are drawn at most, whatever the noisy total.
const mostRows = math.MaxInt32
