package compiled

import (
	"fmt"
	"strconv"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the error forecasts: the accuracy of every table with another budget or other shares of it, as a
// formula that is evaluated without the planner.

// Forecast forecast the accuracy of a plan's tables with other amounts of its budget and other shares of its leaves,
// if everything that the plan chose remains: its measurements, their parts of their leaves, and their kinds of noise.
// Then the variance of a measurement is proportional to 1/x of its leaf, where x is the leaf's ρ or, in a pure
// budget, the square of its ε; the variance of an estimate from several is combined from theirs
// ([residual.Combination]).
//
// The noise is taken to be continuous: noise on integers has a variance that is smaller by at most 1/6.
type Forecast struct {
	Plan *Compiled `json:"-"`
	// Key is the amount that varies, epsilon or rho. Pure reports whether leaves have an ε of their own; else they have
	// a ρ.
	Key  string `json:"key"`
	Pure bool   `json:"pure"`
	// Split is the tree of the budget, and Amounts the amounts of its leaves in the plan: leaves that are needed keep
	// theirs.
	Split   []spec.Part `json:"-"`
	Amounts []float64   `json:"-"`
	// Totals are what is divided among the leaves for several amounts of the budget, among them the planned one.
	Totals []Total `json:"totals"`
	// Deltas are the totals with other δ, in increasing order; none if the budget has no δ or its δ cannot vary here.
	Deltas []DeltaTotals `json:"deltas,omitempty"`
	// Roots are, by leaf, Σ√(2ρ) of the measurements without Gaussian noise, divided by the root of the leaf's ρ: what
	// they add up to in ε. Laplace reports whether all noise of the plan is Laplace noise.
	Roots   []float64 `json:"roots"`
	Laplace bool      `json:"laplace"`
	// Shared are the residuals that several leaves measure: the precision of each is Σ factor·x.
	Shared [][]Rate        `json:"shared,omitempty"`
	Tables []TableForecast `json:"tables"`
}

// DeltaTotals are the totals with one δ.
type DeltaTotals struct {
	Delta  float64 `json:"delta"`
	Totals []Total `json:"totals"`
}

// Total is what is divided among the leaves with an amount of the budget: of ρ or, in a pure budget, of ε. For a
// budget of ε and δ it is found for the planned split; Least is what the conversion of ρ alone allows for every
// split, and Epsilon what mechanisms may add up to in ε.
type Total struct {
	Asked   float64 `json:"asked"`
	Total   float64 `json:"total"`
	Least   float64 `json:"least,omitempty"`
	Epsilon float64 `json:"epsilon,omitempty"`
}

// Rate is the factor of a leaf, or of a shared residual, given by index. Its JSON form is an array of the two.
type Rate struct {
	Of     int
	Factor float64
}

// MarshalJSON writes ten digits of the factor.
func (r Rate) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%s]", r.Of, strconv.FormatFloat(r.Factor, 'g', 10, 64)), nil
}

// TableForecast is the error forecast of one table. The variance of its counts is Σ factor/x over Own, by leaf, plus Σ
// factor/precision over Shared, by residual, times the square of Unit.
type TableForecast struct {
	Own    []Rate  `json:"own,omitempty"`
	Shared []Rate  `json:"shared,omitempty"`
	Unit   float64 `json:"unit"`
	// Alone is the law of the integers of a table that is one measurement; "" for a table that is estimated from
	// several, or whose noise is drawn in more shares than needed. Then Widest is the ratio of the largest standard
	// error to the mean one, and the multiples are those of the planned law.
	Alone  budget.Kind `json:"alone,omitempty"`
	Widest float64     `json:"widest,omitempty"`
	Margin float64     `json:"margin"` // over the largest standard error
	Median float64     `json:"median"` // over the standard error
	// Aimed is the ratio of its target's margin to the largest standard error, at a confidence of 1 − Tail; 0 without a
	// target.
	Aimed float64 `json:"aimed,omitempty"`
	Tail  float64 `json:"tail,omitempty"`
	// Target is the margin of its target, and Cell its average cell; 0 if there is none.
	Target float64 `json:"target,omitempty"`
	Cell   float64 `json:"cell,omitempty"`
	// Unfit is the relative standard error above which a cell is in the last class of `fit`, 0 without classes. Single
	// reports whether cells cannot be added up.
	Unfit   float64          `json:"unfit,omitempty"`
	Single  bool             `json:"single,omitempty"`
	Figures []FigureForecast `json:"figures,omitempty"`
}

// FigureForecast is the error forecast of a figure: its variance is Σ factor/x over Own, by leaf, plus Count times
// the variance of the table's count. Its margin is Margin standard errors plus Fixed.
type FigureForecast struct {
	Name   string  `json:"-"`
	Own    []Rate  `json:"own,omitempty"`
	Count  float64 `json:"count,omitempty"`
	Margin float64 `json:"margin"`
	Fixed  float64 `json:"fixed,omitempty"`
	// Wide reports whether only the margin is known, as for a quantile.
	Wide bool `json:"wide,omitempty"`
}
