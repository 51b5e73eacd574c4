package boosting

// This file holds Question: what a round asks.

import (
	"errors"
	"fmt"
)

// Scores are the tables of a model, in units of 1/[ScoreUnit].
type Scores struct {
	Intercept int32
	Tables    [][]int32 // by column, and then by pair: the entry of each category
}

// mostEntry bounds entries and intercept in absolute value: the sum of all tables stays below 2³¹.
const mostEntry = 1 << 24

// Of returns the score of a row in a shape, by the category of each column.
func (s *Scores) Of(shape *Shape, codes []int) int32 {
	sum := s.Intercept
	for i, table := range s.Tables {
		sum += table[shape.Category(i, codes)]
	}
	return sum
}

// Check returns an error if tables are not of a shape, or an entry is beyond the bound within which no sum overflows.
func (s *Scores) Check(shape *Shape) error {
	if len(s.Tables) != shape.Tables() {
		return errors.New("a model has one table for each column and each pair")
	}
	tables := append([][]int32{{s.Intercept}}, s.Tables...)
	for i, table := range tables {
		if i > 0 && len(table) != shape.Categories(i-1) {
			return errors.New("a table of a model has one entry for each category")
		}
		for _, entry := range table {
			if entry < -mostEntry || entry > mostEntry {
				return fmt.Errorf("an entry of a model is from %d to %d", -mostEntry, mostEntry)
			}
		}
	}
	return nil
}

// Question is what a round asks of the rows.
//
// Without Scores it asks how many rows each category of the column has. One row adds 1 to one of the counts.
//
// With Scores it asks, for each group of the categories of the column or pair, the sum of [Residuals.Of] over its rows.
// One row adds an integer from −[Bound] to Bound to one of the sums, whatever the scores and groups are.
//
// With Scores of a shape with a design it asks for the gradient: for each feature but the target, the sum of the
// feature times the residual over all rows. Column is 0. One row adds its features times one integer from −Bound to
// Bound.
type Question struct {
	Column int     // the number of a column or a pair, or [Shape.Target]
	Groups []int   // of each category, numbered from 0 without gaps; nil without Scores and for a gradient
	Scores *Scores // of the model so far
}

// Len returns how many integers answer a question of a shape.
func (q Question) Len(shape *Shape) int {
	switch {
	case q.Scores == nil:
		return shape.Categories(q.Column)
	case shape.Design != nil:
		return shape.Design.Features() - 1
	}
	groups := 0
	for _, g := range q.Groups {
		groups = max(groups, g+1)
	}
	return groups
}

// CheckQuestion returns an error if a question is none that a round of a shape may ask. What it accepts has the
// sensitivity of [Question].
func (s *Shape) CheckQuestion(round int, q Question) error {
	if round < 0 || round >= s.Rounds() {
		return errors.New("the model has no such round")
	}
	if q.Column != s.Column(round) {
		return errors.New("the round asks about another column")
	}
	if round < s.CountRounds() {
		if q.Groups != nil || q.Scores != nil {
			return errors.New("the first rounds count categories")
		}
		return nil
	}
	if s.Design != nil {
		if q.Scores == nil || q.Groups != nil {
			return errors.New("the round asks for the gradient")
		}
		return q.Scores.Check(s)
	}
	if q.Scores == nil || len(q.Groups) != s.Categories(q.Column) {
		return errors.New("the round asks for sums of residuals by group of all categories")
	}
	used := 0
	for _, g := range q.Groups {
		if g < 0 || g >= s.Groups {
			return fmt.Errorf("a round has groups 0 to %d", s.Groups-1)
		}
		used |= 1 << g
	}
	if used&(used+1) != 0 {
		return errors.New("the groups of a round are numbered without gaps")
	}
	return q.Scores.Check(s)
}
