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
	drawn, read := quantileWays(r.Tables)
	return words.NonEmpty(
		words.When(pluralsOf(l, figureKinds(r.Tables), isOfSums) != nil,
			l.Text("Sums, means, ratios and the like are worked out from the noisy count of their table and from noisy sums that are measured for them alone. Where there is a count as well, a column is summed about the middle of its range, from which no value is further than half of it.")),
		words.When(drawn,
			l.Text("Quantiles are drawn by the exponential mechanism, and so are the two ends of each interval, which the same budget pays for.")),
		words.When(read,
			l.Text("Quantiles are read from noisy counts by bins of their column where that is expected to leave narrower intervals than drawing each: the plan says of every one what both ways would give.")),
		words.When(slices.ContainsFunc(p.Tables, func(t plan.Table) bool { return t.Show > 0 && len(t.Figures) > 0 }),
			l.Text("From which noisy count on figures are shown is the spec's, fixed before anything was read.")),
	)
}

// Choices says what the planner chose, as far as the plan shows it.
func Choices(p *plan.Plan, r *report.Report) []string {
	l := r.In()
	choices := words.NonEmpty(words.When(len(r.Tables) > 0, words.Either(r.Together(),
		l.Text("Tables that share attributes are planned together. A table made from several answers uses every answer about it, weighted by its precision."),
		l.Text("Each table is measured directly, with noise of its own on every cell."))))
	choices = append(choices, figureChoices(r, p)...)
	least, weights := p.Release().Budget.Minimise, weightsOf(l, p)
	shared := slices.ContainsFunc(p.Leaves, func(leaf plan.Leaf) bool { return leaf.Tables > 1 && !leaf.Needed })
	choices = append(choices, words.NonEmpty(
		words.When(p.Guarantee.Definition == "approximate", words.Either(p.Release().Budget.Noise == "",
			l.Text("Discrete Laplace and discrete Gaussian noise were compared, with all measurements composed, by the error of all tables together."),
			l.Text("The spec asks for %s noise.", p.Release().Budget.Noise.Law()))),
		words.When(least == spec.Guarded && shared,
			l.Text("In each part of the budget the error of all cells together is minimised, and no table is worse than if measured by itself with an equal share.")),
		words.When(least == spec.LeastLargest,
			l.Text("In each part of the budget the largest error of any cell is minimised, not that of all cells together.")),
		words.When(weights != "", l.Text("The errors of tables were weighed as the spec says, by marginal: %s.", weights)),
		words.When(len(p.Leaves) > 1, l.Text("The spec splits the budget into %s, each kept exactly.",
			l.Plural(int64(len(p.Leaves)), "part"))),
	)...)
	for _, leaf := range p.Leaves {
		if leaf.Needed {
			choices = append(choices,
				l.Text("Part %s of the budget is what the targets of its tables need; the shares of the others are of what that leaves.",
					leaf.Path))
		}
	}
	if slices.ContainsFunc(p.Leaves, func(leaf plan.Leaf) bool { return leaf.Tables > 1 }) {
		choices = append(choices, l.Text("The tables of one part of the budget share it."))
	}
	for _, s := range p.Synthetic {
		if !s.Adaptive() {
			choices = append(choices,
				l.Text("The microdata of table %s are drawn from a model of %s that is made of the tables of the release. Nothing is measured for them.",
					s.Table, l.Plural(int64(len(s.By)), "column")))
			continue
		}
		choices = append(choices,
			l.Text("The microdata of table %s are drawn from a model of %s. Each is measured by itself; then, in at most %s, the method %s chooses which of them to measure together, by what the answers so far leave unexplained, and measures them. What all of that may lose is fixed, and was debited before the first round.",
				s.Table, l.Plural(int64(len(s.By)), "column"), l.Plural(int64(s.Rounds), "round"), s.Method))
		choices[len(choices)-1] += words.When(s.Parent != "", " "+l.Text("Each row belongs to a row of %s: the model has the columns of that as well, and the rows are drawn given them. Rows of table %s whose unit has no row in %[1]s are left out of all that is counted of it.",
			s.Parent, s.Table)) +
			words.When(len(s.Derived) > 0,
				" "+l.Text("Columns that the others decide were not measured: %s.", l.FirstFew(words.Texts(s.Derived))))
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
			l.Text("Every declared cell of the other tables is published, even if empty: the list of cells comes from the spec, not from the data."),
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
