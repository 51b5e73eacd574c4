package compiled

import (
	"fmt"
	"strconv"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the prospects: how good every table would be with another budget or other shares of it, as a formula
// that is worked out without the planner.

// Prospects say how good the tables of a plan would be with other amounts of its budget and other shares of its leaves,
// where all that the plan chose stays: which measurements there are, their parts of their leaves, and their kinds of
// noise. Then the variance of a measurement is in proportion to 1/x of its leaf, where x is the leaf's ρ or, in a pure
// budget, the square of its ε; that of an estimate from several is put together from theirs ([residual.Combination]).
//
// The noise is taken to be continuous: that on integers has a variance that is less by at most 1/6.
type Prospects struct {
	Plan *Compiled `json:"-"`
	// Key is the amount that is varied, epsilon or rho, and Pure tells that leaves have an ε of their own; else they have
	// a ρ.
	Key  string `json:"key"`
	Pure bool   `json:"pure"`
	// Split is the tree of the budget, and Amounts what its leaves have in the plan: those that are needed keep it.
	Split   []spec.Part `json:"-"`
	Amounts []float64   `json:"-"`
	// Totals are what is divided among the leaves for several amounts of the budget, the planned one with them.
	Totals []Total `json:"totals"`
	// Roots are, of each leaf, Σ√(2ρ) of its measurements without Gaussian noise, over the root of its ρ: what they add up
	// to in ε. Laplace tells that all noise of the plan is Laplace noise.
	Roots   []float64 `json:"roots"`
	Laplace bool      `json:"laplace"`
	// Shared are the residuals that several leaves measure: the precision of each is Σ factor·x.
	Shared [][]Rate   `json:"shared,omitempty"`
	Tables []Prospect `json:"tables"`
}

// Total is what is divided among the leaves with an amount of the budget: of ρ or, in a pure budget, of ε. For a budget
// of ε and δ, found for the planned split, Least is what the conversion of ρ alone allows for every split, and Epsilon
// what mechanisms may add up to in ε.
type Total struct {
	Asked   float64 `json:"asked"`
	Total   float64 `json:"total"`
	Least   float64 `json:"least,omitempty"`
	Epsilon float64 `json:"epsilon,omitempty"`
}

// Rate is a factor that goes with a leaf, or with a shared residual, by its place. Its JSON form is an array of the
// two.
type Rate struct {
	Of     int
	Factor float64
}

// MarshalJSON writes ten digits of the factor.
func (r Rate) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%s]", r.Of, strconv.FormatFloat(r.Factor, 'g', 10, 64)), nil
}

// Prospect is the error of one table. The variance of its counts is Σ factor/x over Own, by leaf, plus Σ
// factor/precision over Shared, by residual, times the square of Unit.
type Prospect struct {
	Own    []Rate  `json:"own,omitempty"`
	Shared []Rate  `json:"shared,omitempty"`
	Unit   float64 `json:"unit"`
	// Alone is the law of the integers of a table that is one measurement; "" where it is put together from several. Then
	// Widest is the largest standard error over that of the mean, and the multiples are those of the planned law.
	Alone  budget.Kind `json:"alone,omitempty"`
	Widest float64     `json:"widest,omitempty"`
	Margin float64     `json:"margin"` // over the largest standard error
	Median float64     `json:"median"` // over the standard error
	// Aimed is the margin of its target over the largest standard error, at a confidence of 1 − Tail; 0 where it has none.
	Aimed float64 `json:"aimed,omitempty"`
	Tail  float64 `json:"tail,omitempty"`
	// Target is the margin of its target, and Cell its average cell; 0 where there is none.
	Target float64 `json:"target,omitempty"`
	Cell   float64 `json:"cell,omitempty"`
	// Unfit is the relative standard error above which a cell is in the last class of `fit`, 0 without classes, and Single
	// is true where cells cannot be added up.
	Unfit   float64          `json:"unfit,omitempty"`
	Single  bool             `json:"single,omitempty"`
	Figures []FigureProspect `json:"figures,omitempty"`
}

// FigureProspect is the error of a figure: its variance is Σ factor/x over Own, by leaf, plus Count times that of the
// table's count. Its margin is Margin standard errors, and Fixed more.
type FigureProspect struct {
	Name   string  `json:"-"`
	Own    []Rate  `json:"own,omitempty"`
	Count  float64 `json:"count,omitempty"`
	Margin float64 `json:"margin"`
	Fixed  float64 `json:"fixed,omitempty"`
	// Wide tells that only the margin is known, as of a quantile.
	Wide bool `json:"wide,omitempty"`
}
