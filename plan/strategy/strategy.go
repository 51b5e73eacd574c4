// Package strategy holds how a plan states the way in which its tables are measured.
//
// It owns the names of the ways and their errors: what is measured for a group of tables, what the alternatives were
// and the errors they would have had, and how columns are measured along which tables accumulate.
//
// It never finds a strategy: package optimise does.
package strategy

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/phrase"
)

// Kind names a way to measure a group of tables.
type Kind string

const (
	// Direct measures each table by itself.
	Direct Kind = "direct"
	// Largest measures the tables that are within no other of the group; the others are sums of their cells.
	Largest Kind = "largest"
	// Residuals measures every part that the tables share once.
	Residuals Kind = "residuals"
	// ResidualsAndTables measures what the tables share, and some tables by themselves.
	ResidualsAndTables Kind = "residuals-and-tables"
	// EqualShares measures each table by itself, all with the same share. Other systems do this; it is chosen only if
	// nothing else leaves no table worse.
	EqualShares Kind = "equal-shares"
	// DrawnQuestions asks each respondent one question, which the device draws, and AllQuestions asks each all of them.
	DrawnQuestions Kind = "drawn-questions"
	AllQuestions   Kind = "all-questions"
)

// Group is how a group of tables is measured: tables of one budget leaf that share columns.
type Group struct {
	Leaf   string      `json:"leaf,omitempty"`
	Kind   Kind        `json:"kind"`
	Noise  budget.Kind `json:"noise"`
	Tables []string    `json:"tables"`
	// Measurements is how many of the plan's measurements are for this group; these are in the order of the strategies.
	Measurements int `json:"measurements"`
	// RMSE is the root mean square of the standard errors of all cells of these tables, as planned from this group's
	// measurements only, with every table estimated from all of them that contribute to it.
	RMSE float64 `json:"rmse"`
	// Alternatives are the strategies that were not chosen, with the errors they would have had.
	Alternatives []Alternative `json:"instead,omitempty"`
}

// Alternative is a strategy that was not chosen: because of its error, or in a leaf of targets its cost, or because
// it is not possible. The error of another kind of noise is for the whole release with that kind, under the budget's
// ε and δ; the error of another strategy is for the same part of the leaf.
type Alternative struct {
	Kind         Kind        `json:"kind"`
	Noise        budget.Kind `json:"noise"`
	RMSE         float64     `json:"rmse,omitempty"`
	BudgetNeeded string      `json:"needs,omitempty"` // of ε in a pure budget, else of ρ
	// Charge is the ρ that the release would be charged with this kind of noise, if it is another one.
	Charge string        `json:"charge,omitempty"`
	Why    phrase.Phrase `json:"why,omitzero"`
}

// Summing says how columns are measured along which tables accumulate, or need ranges.
type Summing string

const (
	// RangedPerLeaf measures them for these sums in the leaves that need them.
	RangedPerLeaf Summing = ""
	// RangedEverywhere does so in all leaves, so that their measurements contribute to each other.
	RangedEverywhere Summing = "everywhere"
	// CellByCell measures them as other columns: sums are added up from cells.
	CellByCell Summing = "cells"
	// LevelsSeparate measures them as other columns too, and every level of a column as a separate column. It is chosen
	// if tables are guarded and residuals of nested levels would make some worse than by themselves.
	LevelsSeparate Summing = "levels"
)

// OtherNoise is what a release of ε and δ would have with another law of noise, as `noise:` under `budget` can ask
// for it.
type OtherNoise struct {
	Noise budget.Kind `json:"noise"` // discrete-gaussian or discrete-laplace
	// Partly is set if some tables have no design with this noise, and would keep discrete Gaussian noise.
	Partly bool `json:"partly,omitempty"`
	// Charge is the ρ that the account would be charged, in four digits rounded up; absent if the release cannot be
	// planned with this noise.
	Charge string `json:"charge,omitempty"`
	// Error is the ratio of the error of all tables to that of this plan, in four digits: the root of the sum over all
	// cells of weight × variance or, if the budget minimises the largest of these, the root of that. Tables of leaves
	// that get what their targets need are left out; absent if there are no others.
	Error float64 `json:"error,omitempty"`
	// Levels says whether tables at several levels of a column would agree, if that differs from this plan: "apart" if
	// they would not agree, "agree" if they would.
	Levels string `json:"levels,omitempty"`
	// Why is the reason why the release cannot be planned with this noise.
	Why phrase.Phrase `json:"why,omitzero"`
}

// The values of [OtherNoise.Levels].
const (
	LevelsDisagree = "apart"
	LevelsAgree    = "agree"
)
