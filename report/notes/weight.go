package notes

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes the weights by which rows count.

// weightedAccuracy summarises a release with some weighted counts.
func weightedAccuracy(l *language.Language, tables []report.Table, sampled bool) report.Accuracy {
	all := report.Accuracy{Confidence: 1, OneMargin: true}
	for _, of := range []struct {
		weighted      bool
		counts, exact string
	}{{true, countsByWeight, exactlyWeights}, {false, countsUnweighed, exactlyCount}} {
		var some []report.Table
		rounded := false
		for _, t := range tables {
			if t.Weighted == of.weighted {
				t.Weighted, t.Figures = false, nil
				some = append(some, t)
				rounded = rounded || slices.ContainsFunc(t.Statistics, report.Statistic.Rounded)
			}
		}
		if some == nil {
			continue
		}
		a := accuracyIn(l, some, sampled)
		all.Groups = append(all.Groups, report.AccuracyOf{Of: l.Text(of.counts), Numbers: a.Numbers,
			Confidence: a.Confidence, Margin: a.Margin, OneMargin: a.OneMargin, Rounded: rounded})
		if rounded {
			a.Margin += 0.5
		}
		all.More = append(all.More, headlineText(l, a, of.counts, of.exact, report.AdjustmentOf(some), sampled))
		all.OneMargin = all.OneMargin && a.OneMargin && (all.Numbers == 0 || a.Margin == all.Margin)
		all.Numbers, all.Confidence, all.Margin = all.Numbers+a.Numbers, min(all.Confidence, a.Confidence),
			max(all.Margin, all.Groups[len(all.Groups)-1].Margin)
	}
	all.Sentence = all.More[0]
	all.More = append(append(all.More[1:], l.Text(ByWeight)), figureSentences(l, tables)...)
	return all
}

// ByWeight is stated wherever errors of weighted counts are.
var ByWeight = language.Key("Rows count by their weights. All errors given here cover the privacy noise only. " +
	"Sampling error comes on top, and no column contains it.")

// weightNotes say what a weighted count is, and what its margin does not include.
func weightNotes(r *report.Report, s string) []report.Note {
	if !report.Weighted(r.Tables) {
		return nil
	}
	l := r.In()
	text := l.Text("A weighted count stands for a population, of which the rows are a sample. The columns "+
		"%[1]s_noise_se, %[1]s_low and %[1]s_high, and the same columns of every other figure, cover only the noise "+
		"that was added for privacy. They say how far the published figure is from the weighted figure of the "+
		"sample. They do not say how far the sample is from the population. Do not read them as a confidence "+
		"interval of the survey. Its sampling error is in no column here. If the office publishes a sampling "+
		"standard error, the total standard error is √(sampling² + noise²).",
		s)
	text += " " + l.Text("A weighted %s is not a number of rows: a small one can come from very few rows. The "+
		"published column is rounded to a whole number, while %[1]s_unbiased is a multiple of the step of the weights.",
		s)
	return []report.Note{{Heading: report.NoteOnWeights, Text: text}}
}

// isByWeight reports whether thresholds are in units of weight, as all counts of some tables are weighted.
func isByWeight(tables []report.Table) bool {
	unweighted := slices.ContainsFunc(tables, func(t report.Table) bool { return t.Show > 0 && !t.Weighted })
	return report.Weighted(tables) && !unweighted
}

// weightBias is the bias of clamping the weights of a confidential table, none if the report has no bounds of them.
func weightBias(r *report.Report, p *plan.Plan, t *spec.Table) []report.Bias {
	l := r.In()
	var weighted []string
	for i, of := range p.Tables {
		if of.From == t.Name && of.Weighted && !r.Tables[i].Aside {
			weighted = append(weighted, of.Path)
		}
	}
	var all []report.Bias
	for _, w := range r.Bounds.Weights {
		if w.Table == t.Name {
			all = append(all, report.Bias{
				Cause: l.Text("A weight in %s outside the range from %s to %s counts as the nearer end of the range; "+
					"all weights are rounded to a multiple of %s", t.Name,
					l.Number(words.Rat(w.Low)), l.Number(words.Rat(w.High)), l.Number(words.Rat(w.Step))),
				Tables: weighted, Direction: l.Text(eitherWay), Size: l.Text(notCounted)})
		}
	}
	return all
}

// weightHazards are the hazards of weights, none if rows have none.
func weightHazards(r *report.Report) []report.Hazard {
	if !r.Bounds.OfWeights() {
		return nil
	}
	l := r.In()
	h := report.Hazard{Hazard: l.Text("Weights that depend on others"),
		Answer: l.Text("The spec says that weights are attributes of the unit. That they were not adjusted to " +
			"totals of others cannot be seen from the release."),
		AnsweredBy: report.LeftToOffice}
	calibrated := func(w report.WeightBounds) bool { return w.Kind == report.CalibratedWeights }
	if slices.ContainsFunc(r.Bounds.Weights, calibrated) {
		h.Answer, h.AnsweredBy = l.Text("Weights were calibrated, so they depend on the rows of others. The promise "+
			"is for the rows with their weights as they are; it does not cover what a weight reveals about others."),
			report.LeftToApprovers
	}
	return []report.Hazard{h, {Hazard: l.Text("Noise for privacy taken for sampling error"),
		Answer: l.Text("Weighted counts look like survey estimates, and their errors look like sampling errors. " +
			"Every page, and the metadata of every table, says that the errors here cover privacy noise only. The " +
			"sampling error is not given anywhere in this release."),
		AnsweredBy: report.LeftToApprovers}}
}
