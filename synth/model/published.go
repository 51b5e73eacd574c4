package model

// This file holds Published: the form in which a model is published, and read back.

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/boosting"
)

// Published is an additive model as it is published, in JSON. The score of a row is Intercept plus one of the Scores of
// each column and of each pair. It is on the scale of the link: a log-odds, the outcome, or the logarithm of the
// outcome.
type Published struct {
	Target  string        `json:"target"` // the column whose outcome is predicted
	Link    boosting.Link `json:"link"`
	Classes []string      `json:"classes,omitempty"` // of link logit: what the chance is not of, and what it is of
	// Least and Most are the range of outcomes, to which means are clamped.
	Least       float64      `json:"least"`
	Most        float64      `json:"most"`
	Intercept   float64      `json:"intercept"`
	Columns     []Column     `json:"columns"`
	Pairs       []Pair       `json:"pairs,omitempty"`
	Performance *Performance `json:"performance,omitempty"`
}

// Column is the table of a column of a published model.
type Column struct {
	Labels
	Scores     []float64 `json:"scores"`     // of each category
	Errors     []float64 `json:"errors"`     // standard errors of Scores, of the noise
	Importance float64   `json:"importance"` // mean absolute score
	// Rows are the noisy numbers of rows with each category that the model was fitted to, for judging its scores:
	// nothing predicts by them. CountError is the standard error of each.
	Rows       []int64 `json:"counts,omitempty"`
	CountError float64 `json:"count_error,omitempty"`
}

// Pair is the table of a pair of columns of a published model: what both together add to what each adds by itself.
type Pair struct {
	Columns    [2]string   `json:"columns"`    // by name
	Scores     [][]float64 `json:"scores"`     // of each category of the first column, and of the second
	Errors     [][]float64 `json:"errors"`     // standard errors of Scores, of the noise
	Importance float64     `json:"importance"` // mean absolute score, as if both columns were independent
}

// Labels are the names of a model's column and of its categories, and how values fall into these. A number of a
// regression has no categories: its values are the range.
type Labels struct {
	Name       string   `json:"name"`
	Values     *Values  `json:"values,omitempty"` // nil: only categories by name are known
	Categories []string `json:"categories,omitempty"`
}

// Publish returns the published form of a model of a target. labels has an entry for each column; classes name outcome
// 0 and outcome 1 of link [boosting.Logit], and are nil for other links. It returns an error unless there is a label
// for everything.
func (m *Additive) Publish(target string, labels []Labels, classes []string) (*Published, error) {
	low, span := m.Shape.Range()
	p := &Published{Target: target, Link: m.Shape.Link, Classes: classes, Least: low, Most: low + span}
	p.Intercept = float64(m.Scores.Intercept) / boosting.ScoreUnit
	switch m.Shape.Link {
	case boosting.Identity:
		p.Intercept = low + float64(span*p.Intercept)
	case boosting.Log:
		p.Intercept = math.Round(float64((p.Intercept+budget.Log(span))*boosting.ScoreUnit)) / boosting.ScoreUnit
	}
	if len(labels) != len(m.Shape.Columns) {
		return nil, errors.New("a published model has labels for each column")
	}
	scaled := func(units float64) float64 { // on the scale of the link
		if m.Shape.Link == boosting.Identity {
			return float64(units*span) / boosting.ScoreUnit
		}
		return units / boosting.ScoreUnit
	}
	for c, table := range m.Scores.Tables {
		var scores, errors []float64
		for k, entry := range table {
			scores = append(scores, scaled(float64(entry)))
			errors = append(errors, scaled(math.Ceil(m.Errors[c][k])))
		}
		importance := scaled(math.Round(m.Importance[c]))
		pair, ok := m.Shape.Pair(c)
		if !ok {
			p.Columns = append(p.Columns,
				Column{Labels: labels[c], Scores: scores, Errors: errors, Importance: importance, Rows: m.Counts[c],
					CountError: math.Sqrt(m.Shape.CountVariance)})
			continue
		}
		width := m.Shape.Columns[pair[1]].Categories
		p.Pairs = append(p.Pairs, Pair{Columns: [2]string{labels[pair[0]].Name, labels[pair[1]].Name},
			Scores: slices.Collect(slices.Chunk(scores, width)), Errors: slices.Collect(slices.Chunk(errors, width)),
			Importance: importance})
	}
	return p, p.check()
}

// check returns an error unless a model is one that predicts.
func (p *Published) check() error {
	switch p.Link {
	case boosting.Logit:
		if len(p.Classes) != 2 || p.Least != 0 || p.Most != 1 {
			return errors.New("a model of link logit has two classes, and outcomes from 0 to 1")
		}
	case boosting.Identity, boosting.Log:
		if p.Classes != nil {
			return errors.New("only a model of link logit has classes")
		}
	default:
		return fmt.Errorf("%q is no link of a model", p.Link)
	}
	if len(p.Columns) == 0 || len(p.Columns) > boosting.MostColumns || !(p.Least < p.Most) {
		return fmt.Errorf("a model has 1 to %d columns, and a range of outcomes", boosting.MostColumns)
	}
	seen := map[string]bool{}
	for _, c := range p.Columns {
		if seen[c.Name] {
			return duplicateColumnError(c.Name)
		}
		seen[c.Name] = true
		if err := c.check(); err != nil {
			return fmt.Errorf("column %q of a model: %w", c.Name, err)
		}
	}
	if len(p.Pairs) > boosting.MostPairs {
		return fmt.Errorf("a model has at most %d pairs", boosting.MostPairs)
	}
	for i, pair := range p.Pairs {
		if err := p.checkPair(i); err != nil {
			return fmt.Errorf("pair %q and %q of a model: %w", pair.Columns[0], pair.Columns[1], err)
		}
	}
	if !isScore(p.Intercept) || !isScore(p.Least) || !isScore(p.Most) {
		return errOutOfRange
	}
	return nil
}

// inputsOf returns the indices of the columns of a pair, −1 for one that the model does not have.
func (p *Published) inputsOf(pair Pair) (of [2]int) {
	for i, name := range pair.Columns {
		of[i] = slices.IndexFunc(p.Columns, func(c Column) bool { return c.Name == name })
	}
	return of
}

// checkPair returns an error unless a pair can be predicted by.
func (p *Published) checkPair(i int) error {
	pair := p.Pairs[i]
	of := p.inputsOf(pair)
	if min(of[0], of[1]) < 0 || of[0] == of[1] {
		return errors.New("it is of two of its columns")
	}
	for _, other := range p.Pairs[:i] {
		if slices.Contains(other.Columns[:], pair.Columns[0]) && slices.Contains(other.Columns[:], pair.Columns[1]) {
			return errors.New("it appears twice")
		}
	}
	rows, columns := len(p.Columns[of[0]].Categories), len(p.Columns[of[1]].Categories)
	if len(pair.Scores) != rows || len(pair.Errors) != rows || rows*columns > boosting.MostCategories {
		return errOtherCells
	}
	for k, scores := range pair.Scores {
		if len(scores) != columns || len(pair.Errors[k]) != columns {
			return errOtherCells
		}
		if !isScore(slices.Min(scores)) || !isScore(slices.Max(scores)) {
			return errOutOfRange
		}
	}
	return nil
}

var errOtherCells = fmt.Errorf("it has a score and an error for each category of the one and the other, at most %d",
	boosting.MostCategories)

// check returns an error unless a column can be predicted by.
func (c Column) check() error {
	n := len(c.Categories)
	if n == 0 || n > boosting.MostCategories || len(c.Scores) != n || len(c.Errors) != n {
		return fmt.Errorf("it has a score and an error for each of 1 to %d categories", boosting.MostCategories)
	}
	if len(c.Rows) > 0 && len(c.Rows) != n {
		return errors.New("it has a count for each category, or none")
	}
	if !isScore(slices.Min(c.Scores)) || !isScore(slices.Max(c.Scores)) {
		return errOutOfRange
	}
	return c.Labels.check()
}

var errOutOfRange = errors.New("the numbers of a model are within ±1e18")

// isScore reports whether a number can be a score: no sum of scores overflows.
func isScore(x float64) bool { return math.Abs(x) <= 1e18 }
