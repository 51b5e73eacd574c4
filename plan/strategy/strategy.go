// Package strategy holds how a plan says in which way its tables are measured.
//
// It owns the names of the ways and their errors: which questions are asked for a group of tables, which were not and
// what they would have given, and how columns are measured along which tables count up.
//
// It never finds a strategy: package optimise does.
package strategy

import "github.com/dprelease/dprelease/budget"

// Kind names a way to measure a group of tables.
type Kind string

const (
	// Direct measures each table by itself.
	Direct Kind = "direct"
	// Largest measures the tables that lie in no other of the group; the others are sums of them.
	Largest Kind = "largest"
	// Residuals measures every part that the tables share once.
	Residuals Kind = "residuals"
	// ResidualsAndTables measures what the tables share, and some tables by themselves.
	ResidualsAndTables Kind = "residuals-and-tables"
	// EqualShares measures each table by itself, all for the same. It is what others do, and is taken where nothing else
	// leaves no table worse.
	EqualShares Kind = "equal-shares"
)

// Group is how a group of tables is measured: tables of one budget leaf that share columns.
type Group struct {
	Leaf   string      `json:"leaf,omitempty"`
	Kind   Kind        `json:"kind"`
	Noise  budget.Kind `json:"noise"`
	Tables []string    `json:"tables"`
	// Measurements is how many of the plan's measurements are for this group; they stand in the order of the strategies.
	Measurements int `json:"measurements"`
	// RMSE is the root mean square of the standard errors of all cells of these tables, as planned from this group's
	// measurements alone, every table put together from all of them that bear on it.
	RMSE float64 `json:"rmse"`
	// Instead are the strategies that were not taken, with what they would have had.
	Instead []Alternative `json:"instead,omitempty"`
}

// Alternative is a strategy that was not taken: for its error, or in a leaf of targets for what it needs, or because it
// cannot be. The error of another kind of noise is what it would be if the whole release had that kind, under the
// budget's ε and δ; that of another strategy is for the same part of the leaf.
type Alternative struct {
	Kind  Kind        `json:"kind"`
	Noise budget.Kind `json:"noise"`
	RMSE  float64     `json:"rmse,omitempty"`
	Needs string      `json:"needs,omitempty"` // of ε in a pure budget, else of ρ
	// Charge is the ρ that the release would be charged with this kind of noise, where that is another.
	Charge string `json:"charge,omitempty"`
	Why    string `json:"why,omitempty"`
}

// Summing says how columns are measured along which tables count up, or are asked for ranges.
type Summing string

const (
	// RangedApart measures them for that in the leaves that ask for it.
	RangedApart Summing = ""
	// RangedEverywhere does so in all leaves, so that their measurements bear on each other.
	RangedEverywhere Summing = "everywhere"
	// CellByCell measures them as other columns: sums are added up from cells.
	CellByCell Summing = "cells"
	// LevelsSeparate measures them as other columns too, and every level of a column as one of its own. It is taken where
	// tables are guarded and residuals of levels that lie within each other would make some worse than by themselves.
	LevelsSeparate Summing = "levels"
)

// OtherNoise is what a release of ε and δ would have with another law of noise, as `noise:` under `budget` asks for it.
type OtherNoise struct {
	Noise budget.Kind `json:"noise"` // discrete-gaussian or discrete-laplace
	// Partly is set where some tables have no way of their own with this noise, and would keep discrete Gaussian noise.
	Partly bool `json:"partly,omitempty"`
	// Charge is the ρ that the account would be charged, in four digits rounded up; absent where the release cannot be
	// planned with this noise.
	Charge string `json:"charge,omitempty"`
	// Error is the error of all tables over that of this plan, in four digits: the root of the sum over all cells of
	// weight × variance or, where the budget minimises the largest of these, the root of that. Tables of leaves that get
	// what their targets need are left out; absent where there are no others.
	Error float64 `json:"error,omitempty"`
	// Levels says what becomes of tables that show one column at several levels where that is not as in this plan: "apart"
	// where they would not agree, "agree" where they would.
	Levels string `json:"levels,omitempty"`
	// Why says why the release cannot be planned with this noise.
	Why string `json:"why,omitempty"`
}

// The values of [OtherNoise.Levels].
const (
	LevelsApart = "apart"
	LevelsAgree = "agree"
)
