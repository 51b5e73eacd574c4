package notes

// This file writes the bias: what moves figures away from the truth on average. It states the size as far as published
// figures determine it exactly, or noisy counts that were paid for estimate it.

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// The directions of a bias.
var (
	tooHigh   = language.Key("too high")
	tooLow    = language.Key("too low")
	eitherWay = language.Key("either way")
	// lowCounts is the direction for rows that are left out of tables with other figures: without values below zero
	// their sum is too high, and their mean may be either.
	lowCounts = language.Key("counts too low, other figures either way")
	// oneCategory and otherCategories are the directions for values that count as a category which has rows of its own,
	// or none.
	oneCategory     = language.Key("that category too high, the others too low")
	otherCategories = language.Key("the other categories too low")
)

// Bias lists what moves the figures of a release on average.
func Bias(r *report.Report, p *plan.Plan) []report.Bias {
	l := r.In()
	all := slices.Concat(shownBias(r), fittedBias(r), invariantBias(r, p))
	for _, t := range p.Release().Tables {
		all = append(all, tableBias(r, p, t)...)
	}
	all = slices.Concat(all, perUnitBias(r), sparseBias(r), withheldBias(r), estimateBias(r))
	if len(r.Microdata) > 0 {
		b := report.Bias{Cause: l.Text("Rows of microdata are drawn from a model. It reproduces what was measured, " +
			"and makes assumptions about the rest"),
			Direction: l.Text(eitherWay), Size: l.Text("not known; the section “Microdata” says how far the model is " +
				"from the noisy counts")}
		for _, m := range r.Microdata {
			b.Tables = append(b.Tables, "microdata/"+m.Table)
		}
		all = append(all, b)
	}
	return append(all, report.Bias{Cause: l.Text("The data themselves: people who did not answer, or answered wrongly"),
		Tables: []string{}, Direction: l.Text(eitherWay), Size: l.Text("not known to this release")})
}

// shownBias is the bias of showing negative numbers as 0, which the published figures determine exactly.
func shownBias(r *report.Report) []report.Bias {
	l := r.In()
	b := report.Bias{Cause: l.Text(
		"Numbers below zero are shown as 0 in the published column, not in the unbiased one"),
		Direction: l.Text(tooHigh)}
	b.Tables = report.PathsWhere(r.Tables, func(t report.Table) bool { return t.ShownAsZero() > 0 })
	worst, by := "", new(big.Rat)
	for _, t := range r.Tables {
		for _, s := range t.Statistics {
			if more := shownMore(s); s.ShownAsZero > 0 && more != nil && more.Cmp(by) > 0 {
				worst, by = t.Path, more
			}
		}
	}
	if b.Tables == nil {
		return nil
	}
	b.Size = l.Text("known exactly, by comparing the published and the unbiased sums: this concerns %s in all",
		l.Plural(report.Total(r.Tables, report.Table.ShownAsZero), "number"))
	if worst != "" {
		most, _ := by.Float64()
		b.Size += l.Text("; the effect is largest in %s, whose published sum is %s too high (rounded)", worst,
			budget.Group(int64(math.Round(most))))
	}
	return []report.Bias{b}
}

// shownMore returns by how much the sum of the published figures exceeds the sum of the unbiased ones. It returns nil
// if they are not summed or the difference is above 10^18.
func shownMore(s report.Statistic) *big.Rat {
	published, added := new(big.Rat).SetString(s.TotalPublished.String())
	unbiased, known := new(big.Rat).SetString(s.TotalUnbiased.String())
	if !added || !known {
		return nil
	}
	more := new(big.Rat).Sub(published, unbiased)
	if limit := big.NewRat(1e18, 1); more.Cmp(limit) > 0 {
		return nil
	}
	return more
}

// tableBias is the bias that the rules of a confidential table cause in the tables made from it.
func tableBias(r *report.Report, p *plan.Plan, t *spec.Table) []report.Bias {
	var paths []string
	for i, of := range p.Tables {
		if of.From == t.Name && !r.Tables[i].Aside {
			paths = append(paths, of.Path)
		}
	}
	for _, m := range r.Microdata {
		if m.Table == t.Name {
			paths = append(paths, "microdata/"+m.Table)
		}
	}
	paths = append(paths, modelsOf(p, t, "")...)
	if paths == nil {
		return nil
	}
	l := r.In()
	var all []report.Bias
	if !t.Unit.Row {
		cause := words.Either(t.Unit.MaxRows == 1,
			l.Text("Each %s counts once: of several rows in %s, one is counted",
				r.Guarantee.Protects, t.Name),
			l.Text("At most %[2]s of each %[1]s in %[3]s are counted; the others are left out", r.Guarantee.Protects,
				l.Plural(t.Unit.MaxRows, "row"), t.Name))
		all = append(all,
			withSize(r, p, t, overBound, report.Bias{Cause: cause, Tables: paths,
				Direction: leftOutDirection(r, paths)}))
	}
	parent := p.Release().ParentOf(t.Name)
	left := words.NonEmpty(
		words.When(describe.LeavesRowsOut(p, t),
			l.Text("Rows of %s with unknown, missing or impossible values are left out where the spec says so",
				t.Name)),
		words.When(parent != "", l.Text("Rows of %s are left out if their %s has no row in %s that is counted", t.Name,
			r.Guarantee.Protects, parent)))
	if len(left) > 0 {
		all = append(all, withSize(r, p, t, "rows_left_out", report.Bias{Cause: strings.Join(left, ". "), Tables: paths,
			Direction: leftOutDirection(r, paths)}))
	}
	all = append(all, categoryBias(r, p, t, paths)...)
	if r.Bounds == nil {
		return all
	}
	for _, c := range r.Bounds.Columns {
		if c.Table != t.Name {
			continue
		}
		b := report.Bias{Cause: l.Text("A value of %s outside its range counts as the nearer end of the range; all "+
			"values are rounded to a multiple of %s", c.Column,
			l.Number(words.Rat(c.Step))), Tables: figuredWith(r, paths, c.Column), Direction: l.Text(eitherWay)}
		if len(b.Tables) > 0 {
			all = append(all, withSize(r, p, t, c.Column+"_clamped", b))
		}
	}
	return append(all, weightBias(r, p, t)...)
}

// categoryBias is the bias of policies that count unknown or missing values as a category: it counts them in addition
// to its own rows, and the categories to which they belong lack them. A category without rows of its own shows how many
// they are.
func categoryBias(r *report.Report, p *plan.Plan, t *spec.Table, paths []string) []report.Bias {
	l := r.In()
	var all []report.Bias
	for _, c := range t.Columns {
		if c.Null.Action == spec.As {
			b := report.Bias{Cause: l.Text("Missing values of %s count as the number that the spec gives them", c.Name),
				Tables: figuredWith(r, paths, c.Name), Direction: l.Text(eitherWay), Size: l.Text(notCounted)}
			if len(b.Tables) > 0 {
				all = append(all, b)
			}
		}
		if c.Domain == nil || c.DerivedFrom != nil {
			continue
		}
		finest, ok := c.Domain.Level("")
		if !ok {
			continue
		}
		for _, of := range []struct {
			cause  string
			policy spec.Policy
		}{{language.Key("Unknown values of %s count as %s"), c.Unknown},
			{language.Key("Missing values of %s count as %s"), c.Null}} {
			if of.policy.Action != spec.As || of.policy.Category >= finest.Size() {
				continue
			}
			finest := p.Release().Words.Labelled(t.Name, c.Name, finest)
			into := words.Category(finest.Categories[of.policy.Category])
			b := report.Bias{Cause: l.Text(of.cause, c.Name, into), Tables: []string{},
				Direction: l.Text(oneCategory), Size: l.Text(notCounted)}
			if of.policy.Category >= c.Domain.Declared() {
				b.Direction, b.Size = l.Text(otherCategories), intoCategory(l, c, of.policy.Category, into)
			}
			for _, shown := range p.Tables {
				if slices.Contains(paths, shown.Path) &&
					slices.ContainsFunc(shown.By, func(
						by string) bool {
						return plan.AttributeOf(by).Column == c.Name
					}) {
					b.Tables = append(b.Tables, shown.Path)
				}
			}
			b.Tables = append(b.Tables, modelsOf(p, t, c.Name)...)
			if len(b.Tables) > 0 {
				all = append(all, b)
			}
		}
	}
	return all
}

// intoCategory says which values of a column a category without rows of its own takes, by its name.
func intoCategory(l *language.Language, c *spec.Column, category int, name string) string {
	takes := func(policy spec.Policy) bool { return policy.Action == spec.As && policy.Category == category }
	switch {
	case takes(c.Unknown) && takes(c.Null):
		return l.Text("by at most the count of “%s”, a category of missing or unknown values of %s only", name, c.Name)
	case takes(c.Unknown):
		return l.Text("by at most the count of “%s”, a category of unknown values of %s only", name, c.Name)
	}
	return l.Text("by at most the count of “%s”, a category of missing values of %s only", name, c.Name)
}

// figuredWith returns the tables among paths that have figures of a column.
func figuredWith(r *report.Report, paths []string, column string) []string {
	return report.PathsWhere(r.Tables, func(of report.Table) bool {
		return slices.Contains(paths, of.Path) &&
			slices.ContainsFunc(of.Figures, func(f report.Figure) bool { return slices.Contains(f.Columns, column) })
	})
}

// modelsOf returns the paths of the models of a table or, if a column is named, of the models that have the column.
func modelsOf(p *plan.Plan, t *spec.Table, column string) (paths []string) {
	for _, m := range p.AllModels() {
		if m.Table == t.Name && (column == "" || slices.ContainsFunc(m.Columns(),
			func(f plan.Factor) bool { return f.Attribute == column })) {
			paths = append(paths, m.Path())
		}
	}
	return paths
}

// leftOutDirection is the direction of the bias of tables from which rows are left out, and of models that are fitted
// without them, whose predictions may move either way.
func leftOutDirection(r *report.Report, paths []string) string {
	isModel := func(path string) bool { return strings.HasPrefix(path, "models/") }
	figured := slices.ContainsFunc(r.Tables, func(t report.Table) bool {
		return t.Figures != nil && slices.Contains(paths, t.Path)
	})
	switch {
	case len(paths) > 0 && isModel(paths[0]): // models come last
		return r.In().Text(eitherWay)
	case figured || slices.ContainsFunc(paths, isModel):
		return r.In().Text(lowCounts)
	}
	return r.In().Text(tooLow)
}

// perUnitBias is the bias of tables with bounds of their own on the rows of a unit.
func perUnitBias(r *report.Report) []report.Bias {
	if r.Bounds == nil || len(r.Bounds.Tables) == 0 {
		return nil
	}
	l := r.In()
	b := report.Bias{Cause: l.Text(
		"Tables with bounds of their own leave out the rows of a unit that exceed these bounds"),
		Size: l.Text(notCounted)}
	for _, t := range r.Bounds.Tables {
		b.Tables = append(b.Tables, t.Table)
	}
	b.Direction = leftOutDirection(r, b.Tables)
	return []report.Bias{b}
}

// withheldBias is the bias in counts of cells whose figures are shown, because figures of other cells are withheld.
func withheldBias(r *report.Report) []report.Bias {
	l := r.In()
	show := report.Bias{Cause: l.Text("Figures are withheld where the noisy count is below the limit in the spec. So " +
		"in cells just above the limit the count is too large on average, and figures computed with it are off"),
		Direction: l.Text(eitherWay)}
	withholds := func(t report.Table) bool { return t.Show > 0 }
	show.Tables = report.PathsWhere(r.Tables, withholds)
	if show.Tables == nil {
		return nil
	}
	_, withheld, _ := figuresIn(report.TablesWhere(r.Tables, withholds))
	figures := l.Plural(withheld, "figure")
	show.Size = words.Either(withheld == 1, l.Text("not known; %s was withheld", figures),
		l.Text("not known; %s were withheld", figures))
	return []report.Bias{show}
}

// estimateBias is the bias of figures to which noise is not simply added.
func estimateBias(r *report.Report) []report.Bias {
	l := r.In()
	b := report.Bias{Cause: l.Text(
		"%s are computed from noisy counts and sums, or drawn: noise does not average out in them",
		words.Capital(l.List(pluralsOf(l, figureKinds(r.Tables), isBiased)))), Direction: l.Text(eitherWay),
		Size: l.Text("small compared with the standard error where the count of a cell is many times its margin; " +
			"elsewhere, go by the interval")}
	b.Tables = report.PathsWhere(r.Tables, func(t report.Table) bool {
		return slices.ContainsFunc(t.Figures, func(f report.Figure) bool { return !f.Unbiased })
	})
	if b.Tables == nil {
		return nil
	}
	return []report.Bias{b}
}
