package boosting

// This file holds Shape: the public definition of a model.

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/plan/design"
)

// Link says how the mean of the outcome follows from the score.
type Link string

const (
	// Logit is the link of a class: the mean is the chance 1/(1 + exp(−score)), and outcomes are 0 or 1.
	Logit Link = "logit"
	// Identity is the link of a quantity: the mean is the score.
	Identity Link = "identity"
	// Log is the link of a count: the mean is exp(score), and outcomes are not negative.
	Log Link = "log"
)

// Limits of a shape. No sum of scores overflows within them.
const (
	MostColumns    = 64
	MostPairs      = 16
	MostCategories = 1 << 12 // of a column, of a pair, and of the target
	MostGroups     = 8
	MostEpochs     = 1 << 12
	mostOutcome    = int64(1) << 53 // in absolute value
)

// Column is a column that a model predicts by.
type Column struct {
	Categories int
	Ordered    bool // groups are of adjacent categories
}

// Shape is all of a model that is fixed before the data are seen: of an additive model, or, with a design, of a
// logistic regression by gradient descent, whose tables are its weights times the features.
//
// Its tables are numbered, columns first and then pairs. The category of a row in a pair is its category
// in the first column, times the number of categories of the second, plus its category in the second.
type Shape struct {
	Columns  []Column // that the model predicts by
	Pairs    [][2]int // of different columns; each has a table for both together
	Link     Link
	Outcomes []int64 // value of each category of the target, which is the last column of the data
	Schedule
	Design  *design.Design // of the same columns and target; nil: of an additive model
	Descent Descent        // of a shape with a design
	Seed    [32]byte       // of the groups; public
	// CountVariance and SumVariance are the variances of the noise of each count of the first rounds, in squares of
	// rows, and of each sum of residuals, in squares of 1/[Bound] of the range of outcomes; they are not used with a
	// design.
	CountVariance, SumVariance float64
}

// Check returns an error if a shape is none that can be fitted.
func (s *Shape) Check() error {
	if len(s.Columns) == 0 || len(s.Columns) > MostColumns {
		return fmt.Errorf("a model predicts by 1 to %d columns", MostColumns)
	}
	for i, c := range s.Columns {
		if c.Categories < 1 || c.Categories > MostCategories {
			return fmt.Errorf("column %d of a model has 1 to %d categories", i+1, MostCategories)
		}
	}
	if err := s.checkPairs(); err != nil {
		return err
	}
	for _, v := range []float64{s.CountVariance, s.SumVariance} {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return errors.New("the variance of noise is a number from 0")
		}
	}
	if err := s.checkOutcomes(); err != nil {
		return err
	}
	if s.Design != nil {
		return s.checkDesign()
	}
	return s.Schedule.Check()
}

// checkDesign returns an error unless the design is of the shape's columns and class.
func (s *Shape) checkDesign() error {
	sizes := s.Design.Sizes()
	if s.Link != Logit || len(sizes) != len(s.Columns)+1 {
		return errors.New("gradient descent fits a model of a class, to all columns of its design")
	}
	for i, n := range sizes {
		if n != s.Categories(i) {
			return errors.New("the design of a model has other columns")
		}
	}
	return s.Descent.Check()
}

// checkPairs returns an error if a pair is none, is there twice, or has too many categories.
func (s *Shape) checkPairs() error {
	if len(s.Pairs) > MostPairs {
		return fmt.Errorf("an additive model has at most %d pairs", MostPairs)
	}
	for i, p := range s.Pairs {
		if min(p[0], p[1]) < 0 || max(p[0], p[1]) >= len(s.Columns) || p[0] == p[1] {
			return errors.New("a pair of an additive model is of two of its columns")
		}
		if slices.Contains(s.Pairs[:i], p) || slices.Contains(s.Pairs[:i], [2]int{p[1], p[0]}) {
			return errors.New("an additive model has each pair once")
		}
		if s.Categories(len(s.Columns)+i) > MostCategories {
			return fmt.Errorf("a pair of an additive model has at most %d categories", MostCategories)
		}
	}
	return nil
}

// checkOutcomes returns an error if the outcomes are none of the link.
func (s *Shape) checkOutcomes() error {
	if len(s.Outcomes) < 2 || len(s.Outcomes) > MostCategories {
		return fmt.Errorf("the target of a model has 2 to %d categories", MostCategories)
	}
	low, high := slices.Min(s.Outcomes), slices.Max(s.Outcomes)
	if low == high {
		return errors.New("all categories of the target have the same outcome: there is nothing to predict")
	}
	if low < -mostOutcome || high > mostOutcome {
		return errors.New("an outcome is from -2^53 to 2^53")
	}
	switch s.Link {
	case Logit:
		if low != 0 || high != 1 {
			return errors.New("the outcomes of a class are 0 and 1")
		}
	case Log:
		if low < 0 {
			return errors.New("the outcomes of a count are not negative")
		}
	case Identity:
	default:
		return fmt.Errorf("%q is no link: use logit, identity or log", s.Link)
	}
	return nil
}

// CountRounds returns how many rounds count categories: one for each column, and the last for the target. With a design
// only the target is counted.
func (s *Shape) CountRounds() int {
	if s.Design != nil {
		return 1
	}
	return len(s.Columns) + 1
}

// Rounds returns how many rounds there are: those that count, then Epochs for each table, or the gradients of a
// descent.
func (s *Shape) Rounds() int {
	if s.Design != nil {
		return s.CountRounds() + s.Descent.Gradients()
	}
	return s.CountRounds() + s.Epochs*s.Tables()
}

// Tables returns the number of tables: one for each column and for each pair.
func (s *Shape) Tables() int { return len(s.Columns) + len(s.Pairs) }

// Target returns the number of the target among what rounds ask about: it comes after all tables.
func (s *Shape) Target() int { return s.Tables() }

// Column returns what a round asks about: the number of a column or pair, or [Shape.Target]. All rounds of columns come
// before the rounds of pairs. Of a round that asks for a gradient it is 0.
func (s *Shape) Column(round int) int {
	columns := len(s.Columns)
	switch residual := round - s.CountRounds(); {
	case s.Design != nil && residual >= 0:
		return 0
	case s.Design == nil && round < columns:
		return round
	case residual < 0:
		return s.Target()
	case residual < s.Epochs*columns:
		return residual % columns
	default:
		return columns + (residual-s.Epochs*columns)%len(s.Pairs)
	}
}

// RowUnit returns how far one row can move the answer of a round that sums residuals, in the L2 norm, rounded down: a
// held-out row counts as much.
func (s *Shape) RowUnit() int64 {
	if s.Design == nil {
		return Bound
	}
	squares := s.Design.Gradient(Bound, design.Change{Added: 1}).L2Squared
	return squares.Sqrt(squares).Int64()
}

// Pair returns the columns of a pair by its number, and false for a column and the target.
func (s *Shape) Pair(column int) (of [2]int, ok bool) {
	if column < len(s.Columns) || column >= s.Tables() {
		return of, false
	}
	return s.Pairs[column-len(s.Columns)], true
}

// Categories returns the number of categories of a column, a pair or the target, by its number.
func (s *Shape) Categories(column int) int {
	if pair, ok := s.Pair(column); ok {
		return s.Columns[pair[0]].Categories * s.Columns[pair[1]].Categories
	}
	if column == s.Target() {
		return len(s.Outcomes)
	}
	return s.Columns[column].Categories
}

// Category returns the category of a row in a column or a pair, by its number, from the categories of the columns.
func (s *Shape) Category(column int, codes []int) int {
	if pair, ok := s.Pair(column); ok {
		return codes[pair[0]]*s.Columns[pair[1]].Categories + codes[pair[1]]
	}
	return codes[column]
}

// Sizes returns the number of categories of each column of the data, of which the target is the last.
func (s *Shape) Sizes() (sizes []int) {
	for _, c := range s.Columns {
		sizes = append(sizes, c.Categories)
	}
	return append(sizes, len(s.Outcomes))
}
