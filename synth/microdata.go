package synth

import (
	"errors"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/spec"
)

// This file holds microdata: rows drawn from a model of the measurements.

// Microdata are rows drawn from a model that was fitted to measurements. No row stands for a unit, and nothing of them
// has an interval: how far a model is from the truth beyond noise is not known.
type Microdata struct {
	Table      string
	Keys       []Key      // the columns
	Rows       int        // how many
	Codes      [][]uint32 // by key, then row: places among the categories of the key
	Total      float64    // the unbiased noisy number of rows of the confidential table
	TotalError float64    // the standard error of Total, from the law of the noise
	Pairs      []PairFit  // in the order of the rounds
}

// PairFit is how well the model keeps to the measurement of a pair of columns, in rows. Distance close to what noise
// alone makes, √(2/π)·Sigma·Cells, or below is as it should be: the model takes out the noise that cannot be true.
type PairFit struct {
	First, Second spec.Attribute
	Cells         int
	Sigma         float64 // standard deviation of the noise of a cell
	Distance      float64 // L1: Σ|model − measured| over the cells
}

// Draw fits a model to the measurements of a method of the plan, s.Plan.Synthetic[method], and draws its rows.
func Draw(s *measured.Sealed, method int) (Microdata, error) {
	return Microdata{}, errors.New("this version makes no microdata")
}
