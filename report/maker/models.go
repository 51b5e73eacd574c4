package maker

// This file describes models: what each predicts, how well, and what it must not be trusted for.

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth/model"
)

// Model is a published model, by the one method or the other.
type Model struct {
	Additive   *model.Published
	Regression *model.Regression
}

// modelsOf describes all models, in the spec's order.
func modelsOf(p *plan.Plan, all []Model) ([]report.Model, error) {
	if len(all) != len(p.AllModels()) {
		return nil, fmt.Errorf("%d models are published, the plan has %d", len(all), len(p.AllModels()))
	}
	var out []report.Model
	for i, m := range p.AllModels() {
		one, err := modelOf(p, m, all[i])
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Name, err)
		}
		out = append(out, one)
	}
	return out, nil
}

func modelOf(p *plan.Plan, m plan.Model, fitted Model) (report.Model, error) {
	l := languageOf(p)
	out := report.Model{Name: m.Name, File: m.File(), Table: m.Table, Leaf: m.Leaf, By: words.Texts(m.By),
		Rounds: m.RoundCount(), HeldOut: m.Test, Predicts: l.Text("the mean of %s", m.Target.Attribute)}
	var err error
	if out.Loss, out.PartOfBudget, err = lossOfAll(m.Mechanisms(), p.Spent()); err != nil {
		return out, err
	}
	switch {
	case m.Additive() && fitted.Additive != nil && len(fitted.Additive.Columns) == len(m.By) &&
		len(fitted.Additive.Pairs) == len(m.Pairs):
		describeAdditive(&out, l, m, fitted.Additive)
	case !m.Additive() && fitted.Regression != nil &&
		fitted.Regression.Method == cmp.Or(regressionMethods[m.Method], model.RegressionLogistic):
		describeRegression(&out, l, m, fitted.Regression)
	default:
		return out, errors.New("it is not of the plan")
	}
	return out, nil
}

// regressionMethods are the methods in published regressions; any other is a logistic regression.
var regressionMethods = map[spec.ModelMethod]string{spec.LinearModel: model.RegressionLinear}

// describePerformance describes how well a model predicts held-out rows.
func describePerformance(out *report.Model, f *model.Performance) {
	if f == nil {
		return
	}
	out.AUC, out.Accuracy, out.Baseline = estimateOf(f.AUC), estimateOf(f.Accuracy), estimateOf(f.Baseline)
	for _, c := range f.Calibration {
		out.Calibration = append(out.Calibration,
			report.Calibration{From: c.From, To: c.To, Share: estimateOf(c.Share)})
	}
}

// describeAdditive describes the scores of an additive model, and how well it predicts.
func describeAdditive(out *report.Model, l *language.Language, m plan.Model, fitted *model.Published) {
	out.Method = l.Text("additive: the prediction follows from a sum of scores, one for the category of each column " +
		"(Nori, Caruana, Bu, Shen and Kulkarni 2021)")
	out.Trust = l.Text("The score of a row is the intercept plus one score for each column: the scores of all "+
		"categories, which %s has, are the whole model. The band of a score is for the noise alone, 95%% for each "+
		"score by itself.",
		out.File)
	out.Unit, out.Intercept = l.Text("units of %s", m.Target.Attribute), &fitted.Intercept
	out.Distrust = l.Text("A score says how rows differ, not why: it is no effect, and it depends on the other " +
		"columns. The model was fitted to noisy sums and to the rows of this table; for other people and other times " +
		"nothing is known. It must not decide about a person by itself.")
	switch {
	case m.Class >= 0:
		out.Predicts = l.Text("the probability that %s is %s", m.Target.Attribute, fitted.Classes[1])
		out.Unit = l.Text("log-odds")
	case m.Link != "":
		out.Unit = l.Text("logarithm of %s", m.Target.Attribute)
		out.Trust = l.Text("The logarithm of a prediction is the intercept plus one score for each column: the "+
			"scores of all categories, which %s has, are the whole model. A score of 0.1 makes the prediction about "+
			"a tenth larger. The band of a score is for the noise alone, 95%% for each score by itself.",
			out.File)
	}
	describePerformance(out, fitted.Performance)
	for _, c := range fitted.Columns {
		out.Columns = append(out.Columns, report.ModelColumn{Name: c.Name, Importance: c.Importance,
			Categories: c.Categories, Scores: c.Scores, Errors: c.Errors, Rows: c.Rows, CountError: c.CountError})
	}
	for _, pair := range fitted.Pairs {
		out.Pairs = append(out.Pairs, report.ModelPair{Columns: pair.Columns[:], Importance: pair.Importance,
			Scores: pair.Scores, Errors: pair.Errors})
	}
	if len(out.Pairs) > 0 {
		out.Trust += " " + l.Text("The score of a pair comes on top: it is what both columns together add to the "+
			"scores of each.")
	}
}

// describeRegression describes the coefficients of a regression.
func describeRegression(out *report.Model, l *language.Language, m plan.Model, fitted *model.Regression) {
	out.Method = l.Text("linear regression of noisy sums of products: each coefficient is corrected for the noise")
	out.Trust = l.Text("An interval is for the coefficient as an estimate of what the columns say about the target, " +
		"with noise and sampling. The standard error of the noise alone is for the coefficient that the rows at hand " +
		"would give without noise.")
	if m.Method == spec.LogisticModel {
		out.Method = l.Text("logistic regression, approximated by least squares of noisy sums of products (Fisher's " +
			"discriminant)")
		out.Trust = l.Text("The model ranks rows as the linear regression of the same columns does. Its coefficients "+
			"are approximate and have no interval (%s).", l.Text(report.ModelOnly))
	}
	if m.Descends() {
		out.Method = l.Text("logistic regression, fitted by gradient descent with noisy gradients (Bassily, Smith " +
			"and Thakurta 2014)")
		out.Trust = l.Text("The weights predict: the log-odds of a row are the intercept plus the weight of each " +
			"category and each number times its weight. A short descent shrinks them, and they have no intervals: " +
			"they are no estimates of coefficients.")
	}
	if m.Local() {
		out.Method = l.Text("logistic regression by federated averaging: each holder takes steps of gradient descent " +
			"by itself, with all of the noise, and the mean of their models follows (McMahan, Moore, Ramage, Hampson " +
			"and Agüera y Arcas 2017)")
	}
	if m.From != nil {
		out.Method = l.Text("linear regression of the released tables of all pairs of its columns: each coefficient " +
			"is corrected for their noise")
		if m.Method == spec.LogisticModel {
			out.Method = l.Text("logistic regression of the released tables of all pairs of its columns, " +
				"approximated by least squares (Fisher's discriminant)")
		}
	}
	out.Distrust = l.Text("A coefficient compares rows that are equal in the other columns of the model. It is no " +
		"effect of a cause, and columns that are not in the model can explain it.")
	if m.Descends() {
		out.Distrust = l.Text("A weight says how rows differ, not why: it is no effect of a cause, and it depends on " +
			"the other columns. The model must not decide about a person by itself.")
	}
	if fitted.Positive != "" {
		out.Predicts = l.Text("the probability that %s is %s", m.Target.Attribute, fitted.Positive)
	}
	describePerformance(out, fitted.Performance)
	out.Flags = flagsIn(l, fitted.Flags)
	for _, t := range fitted.Terms {
		one := report.Term{Column: t.Column, Category: t.Category, Coefficient: t.Coefficient, Weight: t.Weight,
			Flags: flagsIn(l, t.Flags)}
		if i := t.RegressionInterval; i != nil {
			one.NoiseError, one.StandardError, one.Low, one.High = &i.NoiseError, &i.StandardError, &i.Low, &i.High
		}
		out.Terms = append(out.Terms, one)
	}
}

// regressionFlags are the flags of a regression and of its terms, in words.
var regressionFlags = map[string]string{
	model.RegressionFewRows: language.Key(
		"There are not clearly more rows than terms, so no coefficient has an interval."),
	model.RegressionConstantTarget: language.Key(
		"The target does not vary clearly above the noise."),
	model.RegressionNoResidual: language.Key(
		"The noise hides how far rows are from the fit, so intervals leave out sampling."),
	model.RegressionModelOnly:   language.Key("The coefficients are approximate and have no intervals."),
	model.RegressionWeightsOnly: language.Key("The regression has weights, and no coefficients with intervals."),
	model.RegressionReference:   language.Key("reference"),
	model.RegressionNotClear:    language.Key("not clear of the noise: no coefficient, but its weight still predicts"),
}

func flagsIn(l *language.Language, flags []string) (all []string) {
	for _, f := range flags {
		all = append(all, l.Text(regressionFlags[f]))
	}
	return all
}

func estimateOf(i *model.Interval) *report.Estimate {
	if i == nil {
		return nil
	}
	return &report.Estimate{Value: i.Estimate, Low: i.Low, High: i.High}
}
