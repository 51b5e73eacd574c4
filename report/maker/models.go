package maker

// This file describes models: what each predicts, how well, and what it must not be trusted for.

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/synth/model"
)

// modelsOf describes all models, in the plan's order.
func modelsOf(p *plan.Plan, all []*model.Published) ([]report.Model, error) {
	if len(all) != len(p.Models) {
		return nil, fmt.Errorf("%d models are published, the plan has %d", len(all), len(p.Models))
	}
	var out []report.Model
	for i, m := range p.Models {
		one, err := modelOf(p, m, all[i])
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Name, err)
		}
		out = append(out, one)
	}
	return out, nil
}

func modelOf(p *plan.Plan, m plan.Model, fitted *model.Published) (report.Model, error) {
	l := languageOf(p)
	if len(fitted.Columns) != len(m.By) {
		return report.Model{}, fmt.Errorf("it has %d columns, and the plan %d", len(fitted.Columns), len(m.By))
	}
	out := report.Model{Name: m.Name, File: m.File(), Table: m.Table, Leaf: m.Leaf, By: words.Texts(m.By),
		Rounds: m.RoundCount(), HeldOut: m.Test,
		Predicts: l.Text("the mean of %s", m.Target.Attribute),
		Method:   l.Text("additive: the prediction follows from a sum of scores, one for the category of each column (Nori, Caruana, Bu, Shen and Kulkarni 2021)"),
		Trust:    l.Text("The score of a row is the intercept plus one score for each column, so the tables below are the whole model. The band of a score is for the noise alone, 95 % for each score by itself."),
		Distrust: l.Text("A score says how rows differ, not why: it is no effect, and it depends on the other columns. The model was fitted to noisy sums and to the rows of this table; for other people and other times nothing is known. It must not decide about a person by itself."),
	}
	if m.Class >= 0 {
		out.Predicts = l.Text("the probability that %s is %s", m.Target.Attribute, fitted.Classes[1])
	}
	if f := fitted.Performance; f != nil {
		out.AUC, out.Accuracy = estimateOf(f.AUC), estimateOf(f.Accuracy)
		for _, c := range f.Calibration {
			out.Calibration = append(out.Calibration, report.Calibration{From: c.From, To: c.To, Share: estimateOf(c.Share)})
		}
	}
	for _, c := range fitted.Columns {
		out.Columns = append(out.Columns, report.ModelColumn{Name: c.Name, Importance: c.Importance,
			Categories: c.Categories, Scores: c.Scores, Errors: c.Errors})
	}
	var err error
	out.Loss, out.PartOfBudget, err = lossOfAll(m.Mechanisms(), p.Spent())
	return out, err
}

func estimateOf(i *model.Interval) *report.Estimate {
	if i == nil {
		return nil
	}
	return &report.Estimate{Value: i.Estimate, Low: i.Low, High: i.High}
}
