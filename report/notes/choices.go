package notes

// This file says what the planner chose, as far as the plan shows it.

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// figureChoices says what was chosen for figures other than counts.
func figureChoices(r *report.Report, p *plan.Plan) []string {
	l := r.In()
	drawn, read := quantileWays(l, r.Tables)
	return words.NonEmpty(
		words.When(pluralsOf(l, figureKinds(r.Tables), isOfSums) != nil,
			l.Text("Sums, means, ratios and the like are computed from the noisy count of their table and from noisy "+
				"sums that are measured only for them. A value enters such a sum as its distance from the middle of "+
				"the column's range, which is at most half the width of the range.")),
		words.When(drawn != nil,
			l.Text("Quantiles that are drawn come from the exponential mechanism, and so do the two ends of each of "+
				"their intervals. The same budget pays for all of these draws.")),
		words.When(read != nil,
			l.Text("Quantiles are read from noisy counts by bins of their column where this is expected to give "+
				"narrower intervals than drawing each of them. For every quantile, the plan says how the other way "+
				"would compare.")),
		words.When(slices.ContainsFunc(p.Tables, func(t plan.Table) bool { return t.Show > 0 && len(t.Figures) > 0 }),
			l.Text("The spec fixes the smallest noisy count at which figures are shown. This was fixed before any "+
				"data were read.")),
	)
}

// Choices says what the planner chose, as far as the plan shows it.
func Choices(p *plan.Plan, r *report.Report) []string {
	if r.Collection != nil {
		return collectionChoices(r)
	}
	l := r.In()
	choices := words.NonEmpty(words.When(len(r.Tables) > 0, words.Either(r.Together(),
		l.Text("Tables that share attributes are planned together. A table made from several answers uses every "+
			"answer about it, weighted by its precision."),
		l.Text("Each table is measured directly, with noise of its own on every cell."))))
	choices = append(choices, figureChoices(r, p)...)
	least, weights := p.Release().Budget.Minimise, weightsOf(l, p)
	shared := slices.ContainsFunc(p.Leaves, func(leaf plan.Leaf) bool { return leaf.Tables > 1 && !leaf.Needed })
	choices = append(choices, words.NonEmpty(
		words.When(p.Guarantee.Definition == "approximate" &&
			!isOfModels(r), words.Either(p.Release().Budget.Noise == "",
			l.Text("Discrete Laplace and discrete Gaussian noise were compared, with all measurements composed, by "+
				"the error of all tables together."),
			l.Text("The spec asks for %s noise.", p.Release().Budget.Noise.Law()))),
		words.When(len(p.Models) > 0,
			l.Text("The noise of models is discrete Gaussian. How many rounds each has, and their noise, were fixed "+
				"beforehand.")),
		words.When(least == spec.Guarded && shared,
			l.Text("In each part of the budget the error of all cells together is minimised, and no table is worse "+
				"than if measured by itself with an equal share.")),
		words.When(least == spec.LeastLargest,
			l.Text("In each part of the budget the largest error of any cell is minimised, not that of all cells together.")),
		words.When(weights != "", l.Text("The errors of tables were weighed as the spec says, by marginal: %s.",
			weights)),
		words.When(len(p.Leaves) > 1, l.Text("The spec splits the budget into %s. Each pays only for what the spec "+
			"assigns to it.",
			l.Plural(int64(len(p.Leaves)), "part"))),
	)...)
	for _, leaf := range p.Leaves {
		if leaf.Needed {
			choices = append(choices,
				l.Text("Part %s of the budget gets what the targets of its tables need. The shares of the other "+
					"parts refer to what is left after that.",
					leaf.Path))
		}
	}
	if slices.ContainsFunc(p.Leaves, func(leaf plan.Leaf) bool { return leaf.Tables > 1 }) {
		choices = append(choices, l.Text("The tables of one part of the budget share it."))
	}
	for _, s := range p.Synthetic {
		if !s.Adaptive() {
			choices = append(choices,
				l.Text("The microdata of table %s are drawn from a model of %s that is made from the tables of the "+
					"release. Nothing more is measured for them.",
					s.Table, l.Plural(int64(len(s.By)), "column")))
			continue
		}
		choices = append(choices,
			l.Text("The microdata of table %s are drawn from a model of %s. Each column is measured by itself. Then, "+
				"in at most %s, the method %s chooses columns to measure together, according to what the answers so "+
				"far leave unexplained, and measures them. The total privacy loss of these choices and measurements "+
				"is fixed, and was debited before the first round.",
				s.Table, l.Plural(int64(len(s.By)), "column"), l.Plural(int64(s.Rounds), "round"), s.Method))
		choices[len(choices)-1] += words.When(s.Parent != "", " "+l.Text("Each row belongs to a row of %s. The model "+
			"contains the columns of that table as well, and the rows are drawn given those columns. Rows of table "+
			"%s whose unit has no row in %[1]s are left out of everything that is counted in table %[2]s.",
			s.Parent, s.Table)) +
			words.When(len(s.Derived) > 0,
				" "+l.Text("Columns whose values follow from other columns were not measured: %s.",
					l.FirstFew(words.Texts(s.Derived))))
	}
	for _, t := range p.Release().Tables {
		for _, c := range t.Columns {
			if c.DerivedFrom != nil {
				choices = append(choices, l.Text("Column %s is %s under another name: it is neither read nor measured.",
					c.Name, c.DerivedFrom))
			}
		}
	}
	if slices.ContainsFunc(p.Tables, func(t plan.Table) bool { return !t.SomeCells() }) {
		choices = append(choices, words.Either(slices.ContainsFunc(p.Tables, plan.Table.SomeCells),
			l.Text("Every declared cell of the other tables is published, even if empty: the list of cells comes "+
				"from the spec, not from the data."),
			l.Text("Every declared cell is published, even if empty: the list of cells comes from the spec, not from the data.")))
	}
	return choices
}

// weightsOf lists the weights of the marginals, "" if all are equal.
func weightsOf(l *language.Language, p *plan.Plan) string {
	all := p.Release().Marginals
	var weights []string
	allEqual := true
	for _, m := range all {
		allEqual = allEqual && m.Weight.Cmp(all[0].Weight) == 0
		weights = append(weights, m.Name+" "+l.Number(budget.FormatRat(m.Weight)))
	}
	if allEqual {
		return ""
	}
	return strings.Join(weights, ", ")
}
