package model

// This file holds Predictor: what predicts rows, by a published model of any method.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/design"
	"github.com/dprelease/dprelease/spec/domain"
)

// Predictor predicts rows by a published model. A row has a score: an intercept plus what each input and each pair of
// inputs adds.
type Predictor struct {
	Inputs []Input
	// Least and Most are the range of predictions. That of a linear regression is infinite.
	Least, Most float64

	link      boosting.Link
	intercept float64
	pairs     []pairInput
}

// pairInput is two inputs whose categories together add an entry of scores.
type pairInput struct {
	of     [2]int
	scores [][]float64
}

// Value is the value of a row in an input: the index of its category or, if the input is a number, the number.
type Value struct {
	Category int
	Number   float64
}

// Input is a column that a model predicts by. The category of a row adds its entry of Scores. A number, which has no
// categories, adds Slope times itself.
type Input struct {
	Labels
	Scores []float64
	Slope  float64
}

// Read reads a published model: an additive one or a regression. It returns an error for what is not the JSON of one.
func Read(from []byte) (*Predictor, error) {
	var kind struct{ Method string }
	if json.NewDecoder(bytes.NewReader(from)).Decode(&kind) == nil && kind.Method != "" {
		var r Regression
		if err := readAll(from, &r); err != nil {
			return nil, err
		}
		return r.Predictor()
	}
	var p Published
	if err := readAll(from, &p); err != nil {
		return nil, err
	}
	return p.Predictor()
}

// readAll reads JSON without unknown fields, and with nothing after it.
func readAll(from []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(from))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("reading a model: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("reading a model: there is more after it")
	}
	return nil
}

// Predictor returns what predicts by an additive model. It returns an error unless the model is one that predicts.
func (p *Published) Predictor() (*Predictor, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	out := &Predictor{Least: p.Least, Most: p.Most, link: p.Link, intercept: p.Intercept}
	for _, c := range p.Columns {
		out.Inputs = append(out.Inputs, Input{Labels: c.Labels, Scores: c.Scores})
	}
	for _, pair := range p.Pairs {
		out.pairs = append(out.pairs, pairInput{p.inputsOf(pair), pair.Scores})
	}
	return out, nil
}

// Predictor returns what predicts by the weights of a regression. It returns an error unless the regression is one that
// predicts: its terms are the intercept, and then those of its columns.
func (r *Regression) Predictor() (*Predictor, error) {
	p := &Predictor{Least: math.Inf(-1), Most: math.Inf(1), link: boosting.Identity}
	switch r.Method {
	case RegressionLinear:
	case RegressionLogistic:
		p.Least, p.Most, p.link = 0, 1, boosting.Logit
	default:
		return nil, fmt.Errorf("%q is no method of a regression", r.Method)
	}
	if len(r.Columns) == 0 || len(r.Columns) > boosting.MostColumns {
		return nil, fmt.Errorf("a regression that predicts has 1 to %d columns", boosting.MostColumns)
	}
	if slices.ContainsFunc(r.Terms, func(t RegressionTerm) bool { return !(math.Abs(t.Weight) <= mostWeight) }) {
		return nil, fmt.Errorf("the weights of a regression are within ±%g", mostWeight)
	}
	rest := r.Terms
	if len(rest) == 0 || rest[0].Column != "" {
		return nil, errors.New("the terms of a regression begin with its intercept")
	}
	p.intercept, rest = rest[0].Weight, rest[1:]
	seen := map[string]bool{}
	for _, c := range r.Columns {
		if seen[c.Name] {
			return nil, duplicateColumnError(c.Name)
		}
		seen[c.Name] = true
		in := Input{Labels: c}
		err := c.check()
		if err == nil {
			rest, err = in.take(rest)
		}
		if err != nil {
			return nil, fmt.Errorf("column %q of a model: %w", c.Name, err)
		}
		p.Inputs = append(p.Inputs, in)
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("a term of a regression is of %q, which is none of its columns", rest[0].Column)
	}
	return p, nil
}

// ColumnsOf returns the columns by which a regression of a design predicts.
func ColumnsOf(d *design.Design) (all []Labels) {
	for _, c := range d.Columns()[:len(d.Columns())-1] {
		one := Labels{Name: c.Name, Categories: c.Categories}
		if c.IsNumber() {
			low, high := c.Range()
			one.Values = &Values{
				Column: c.Name,
				Type:   domain.Integer,
				Least:  []string{fmt.Sprint(low)},
				Most:   fmt.Sprint(high),
			}
		}
		all = append(all, one)
	}
	return all
}

// mostWeight bounds weights, so that no prediction overflows. Noise cannot make any as large.
const mostWeight = 1e200

// take takes the weights of an input from the terms of a regression, and returns the other terms.
func (in *Input) take(terms []RegressionTerm) (rest []RegressionTerm, err error) {
	names := in.Categories
	if in.IsNumber() {
		names = []string{""}
	}
	if len(terms) < len(names) {
		return nil, errOtherTerms
	}
	for i, name := range names {
		if terms[i].Column != in.Name || terms[i].Category != name {
			return nil, errOtherTerms
		}
		in.Scores = append(in.Scores, terms[i].Weight)
	}
	if in.IsNumber() {
		in.Scores, in.Slope = nil, in.Scores[0]
	}
	return terms[len(names):], nil
}

var errOtherTerms = errors.New("it has one term if it is a number, and one for each of its categories otherwise")

// duplicateColumnError returns the error for a column that a model has twice.
func duplicateColumnError(column string) error {
	return fmt.Errorf("column %q of a model appears twice", column)
}

// Mean returns the mean of the outcome of a row, by its value in each input: the chance of a category, the quantity or
// the count.
func (p *Predictor) Mean(row []Value) float64 {
	score := p.intercept
	for i, in := range p.Inputs {
		if in.IsNumber() {
			score += float64(in.Slope * row[i].Number)
		} else {
			score += in.Scores[row[i].Category]
		}
	}
	for _, pair := range p.pairs {
		score += pair.scores[row[pair.of[0]].Category][row[pair.of[1]].Category]
	}
	mean := score
	switch p.link {
	case boosting.Logit:
		mean = 1 / (1 + budget.Exp(-score))
	case boosting.Log:
		mean = budget.Exp(score)
	}
	return min(max(mean, p.Least), p.Most)
}
