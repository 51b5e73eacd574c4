package synth

import (
	"math"
)

// This file holds microdata: rows drawn from a model of the measurements.

// Microdata are rows drawn from a model that was fitted to measurements. No row represents a unit, and figures computed
// from them have no interval: except for what was measured, the error of a model beyond noise is not known.
type Microdata struct {
	Table  string
	Method string // by which the model was made
	Shape  string // of the model: [Tree] or [Gradual] by method tables, otherwise ""
	// the columns: a row's own, those given by its parent row, and derived ones
	Keys                     []Key
	OwnColumns, GivenColumns int        // number of a row's own columns, and of those given by its parent row
	Parents                  []uint32   // by row: the index of its parent row; nil without a parent table
	Rows                     int        // number of rows
	RowsRequested            int64      // number that the publication asked for; 0: as the plan or the noisy total says
	Files                    int        // number of files, each with other rows of the same model
	Codes                    [][]uint32 // by key, then row: indexes of the categories
	Total                    float64    // the unbiased noisy number of rows of the confidential table
	TotalError               float64    // the standard error of Total, from the law of the noise
	Rounds                   int        // number of rounds made
	Fits                     []Fit      // of what was measured: single columns, then larger sets
	// cells in which the rows are off by more than three standard errors, the farthest first: at most ten
	FarthestCells []CellFit
}

// Written returns the indexes of the columns that are published with a row: all except those given by its parent row.
func (m Microdata) Written() (keys []int) {
	for i := range m.Keys {
		if i < m.OwnColumns || i >= m.OwnColumns+m.GivenColumns {
			keys = append(keys, i)
		}
	}
	return keys
}

// Parent returns the index of the row's parent row, or the row itself without a parent table.
func (m Microdata) Parent(row int) int {
	if m.Parents == nil {
		return row
	}
	return int(m.Parents[row])
}

// mostRows is the greatest number of rows that are drawn, whatever the noisy total.
const mostRows = math.MaxInt32
