package derive

// This file holds published models: each is fitted again from the sealed answers to its rounds.

import (
	"context"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/design"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/synth/model"
)

// writeModels writes the models of a release, and returns them in the order of the spec.
func writeModels(ctx context.Context, out *Folder, s *measured.Sealed) (all []maker.Model, err error) {
	fitted := s.Training
	for _, m := range s.Plan.AllModels() {
		ctx := progress.Begin(ctx, 0, "fitting the model %s", m.Name)
		var one maker.Model
		var content any
		var answers measured.Training
		if m.From == nil {
			answers, fitted = fitted[0], fitted[1:]
		}
		switch {
		case m.Additive():
			one.Additive, err = publishModel(ctx, s.Plan, m, answers)
			content = one.Additive
		case m.Descends():
			one.Regression, err = publishDescended(ctx, s.Plan, m, answers)
			content = one.Regression
		case m.From != nil:
			one.Regression, err = publishFromTables(ctx, s, m)
			content = one.Regression
		default:
			one.Regression, err = publishRegression(s.Plan, m, answers)
			content = one.Regression
		}
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Name, err)
		}
		b, err := canonical.Indented(content)
		if err == nil {
			err = out.Write(m.File(), b)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// publishRegression returns the published form of a regression.
func publishRegression(p *compiled.Compiled, m plan.Model, answers measured.Training) (*model.Regression, error) {
	d, err := p.Plan().Design(m)
	if err != nil {
		return nil, err
	}
	moments, err := model.NewRegressionMoments(d, answers.Rounds[0], answers.Rounds[1], m.Rounds[0].Noise.Variance(),
		m.Rounds[1].Noise.Variance())
	if err != nil {
		return nil, err
	}
	return regressionOf(p, m, moments)
}

// regressionOf returns the regression of moments by the method of a model.
func regressionOf(p *compiled.Compiled, m plan.Model, moments *model.RegressionMoments) (*model.Regression, error) {
	d, err := p.Plan().Design(m)
	if err != nil {
		return nil, err
	}
	fit := model.LinearRegression
	if m.Method == spec.LogisticModel {
		fit = model.LogisticRegression
	}
	out, err := fit(moments, model.RegressionOptions{})
	if err != nil {
		return nil, err
	}
	out.Columns, err = regressionColumns(p, m, d)
	return out, err
}

// regressionColumns returns the labels of the columns of a regression: numbers have no categories.
func regressionColumns(p *compiled.Compiled, m plan.Model, d *design.Design) ([]model.Labels, error) {
	labels, _, err := labelsOf(p, m)
	if err != nil {
		return nil, err
	}
	for i, c := range d.Columns()[:len(m.By)] {
		if c.IsNumber() {
			labels[i].Categories, labels[i].Values.Least = nil, labels[i].Values.Least[:1]
		}
	}
	return labels, nil
}

// publishDescended returns the published form of a regression that was fitted by gradient descent.
func publishDescended(ctx context.Context, p *compiled.Compiled, m plan.Model, answers measured.Training) (
	*model.Regression, error) {
	shape, err := p.Plan().Shape(m)
	if err != nil {
		return nil, err
	}
	var fitted *model.Descended
	if m.Local() {
		fitted, err = model.AverageUpdates(shape, answers.Rounds)
	} else {
		fitted, err = model.Descend(ctx, shape, sealedRounds(answers.Rounds))
	}
	if err != nil {
		return nil, err
	}
	out := fitted.Publish()
	if out.Columns, err = regressionColumns(p, m, shape.Design); err == nil {
		out.Performance, err = performanceOf(p, m, shape, fitted.Scores.Intercept, answers)
	}
	return out, err
}

// performanceOf returns how well a model predicts the held-out rows; nil if there are none. The counts are sums over as
// many draws as there are rounds of residuals, of all holders that draw noise by themselves, in units of 1/RowUnit of a
// row.
func performanceOf(p *compiled.Compiled, m plan.Model, shape *boosting.Shape, intercept int32,
	answers measured.Training) (*model.Performance, error) {
	if answers.HeldOut == nil {
		return nil, nil
	}
	last := m.Rounds[len(m.Rounds)-1]
	unit := float64(last.Times) * float64(shape.RowUnit())
	counts := make([]float64, len(answers.HeldOut))
	for i, n := range answers.HeldOut {
		counts[i] = float64(n) / unit
	}
	variance := float64(float64(p.Plan().Draws(m)) * last.Noise.Variance())
	return model.Judge(intercept, counts, variance/float64(unit*float64(shape.RowUnit())))
}

// publishModel returns the published form of an additive model.
func publishModel(ctx context.Context, p *compiled.Compiled, m plan.Model, answers measured.Training) (*model.Published,
	error) {
	shape, err := p.Plan().Shape(m)
	if err != nil {
		return nil, err
	}
	fitted, err := model.Train(ctx, shape, sealedRounds(answers.Rounds))
	if err != nil {
		return nil, err
	}
	labels, target, err := labelsOf(p, m)
	if err != nil {
		return nil, err
	}
	var classes []string
	if m.Class >= 0 {
		class := target.Categories[m.Class].Code
		classes = []string{"not " + class, class}
		if target.Size() == 2 {
			classes[0] = target.Categories[1-m.Class].Code
		}
	}
	out, err := fitted.Publish(m.Target.String(), labels, classes)
	if err == nil {
		out.Performance, err = performanceOf(p, m, shape, fitted.Scores.Intercept, answers)
	}
	return out, err
}

// labelsOf returns the labels of the columns that a model predicts by, and the level of its target.
func labelsOf(p *compiled.Compiled, m plan.Model) (labels []model.Labels, target *domain.Level, err error) {
	levels, err := plan.Query{Table: m.Table, Factors: m.Columns()}.Levels(p.Release())
	if err != nil {
		return nil, nil, err
	}
	for i, f := range m.By {
		one := model.Labels{
			Name:   f.String(),
			Values: valuesOf(p.Release().Table(m.Table).Column(f.Attribute), levels[i]),
		}
		for _, c := range levels[i].Categories {
			one.Categories = append(one.Categories, c.Code)
		}
		labels = append(labels, one)
	}
	return labels, levels[len(m.By)], nil
}

// valuesOf says how the values of a column fall into the categories of a level, as they did when rows were counted; nil
// for a column that is not made of one value, such as a grid.
func valuesOf(c *spec.Column, l *domain.Level) *model.Values {
	if c.Grid != nil {
		return nil
	}
	v := &model.Values{Column: c.Name}
	if c.Null.Action == spec.As {
		v.Missing = l.Categories[l.Category(c.Null.Category)].Code
	}
	if least, most, ok := c.Domain.Edges(l); ok {
		v.Type, v.Least, v.Most = c.Type, least, most
	} else if l.Name != "" {
		v.Of = make([][]string, l.Size())
		for base, value := range c.Domain.Categories() {
			at := l.Category(base)
			v.Of[at] = append(v.Of[at], value.Code)
		}
	}
	return v
}

// sealedRounds answers the rounds of a model from what was sealed.
type sealedRounds [][]int64

func (r sealedRounds) Answer(ctx context.Context, round int, _ boosting.Question) ([]int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if round >= len(r) {
		return nil, errors.New("there are fewer answers than rounds")
	}
	return r[round], nil
}
