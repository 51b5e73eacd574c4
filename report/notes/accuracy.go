package notes

// This file holds the headline: how close the published numbers are.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// Accuracy sums up the tables of a plan as they are published.
func Accuracy(p *plan.Plan, tables []report.Table) report.Accuracy {
	a := accuracyIn(tables)
	ofSample(&a, p)
	return a
}

// accuracyIn sums up tables by their noise.
func accuracyIn(tables []report.Table) report.Accuracy {
	if len(tables) == 0 {
		return report.Accuracy{Confidence: 1, OneMargin: true,
			Sentence: "No table is published, and no margin is known for what is counted in the microdata (" + report.ModelOnly +
				")."}
	}
	if without := report.Those(tables, func(t report.Table) bool { return !t.Aside }); without != nil {
		tables = without
	}
	if report.Weighted(tables) {
		return weightedAccuracy(tables)
	}
	a := report.Accuracy{Confidence: 1, OneMargin: true}
	first := true
	sparse := report.SparseIn(tables)
	for _, t := range tables {
		if t.Sparse != nil && len(sparse) < len(tables) {
			continue // of its cells those are shown that the noise has lifted: no margin is that of them alone
		}
		if t.Invariant != "" {
			continue // it has no noise
		}
		for _, s := range t.Statistics {
			a.Numbers += t.Cells - t.Impossible
			a.Confidence = min(a.Confidence, s.Confidence)
			a.OneMargin = a.OneMargin && (first || s.Margin == a.Margin)
			a.Margin = max(a.Margin, s.Margin)
			first = false
		}
	}
	if a.Sentence = headline(a, NumbersText(tables), "count", report.AdjustmentOf(tables)); len(sparse) == len(tables) {
		a.Sentence = sparseSentence(a)
	} else if len(sparse) > 0 {
		if rows := report.Total(sparse, func(t report.Table) int64 { return t.Cells }); rows > 0 {
			a.Sentence += fmt.Sprintf(
				" %s more are in tables of the cells above a threshold, about which the reading notes tell.", budget.Group(rows))
		}
	}
	if a.Numbers == 0 && slices.ContainsFunc(tables, func(t report.Table) bool { return t.Discovered != nil }) {
		a.Sentence = "No number is published: no group was selected, and a group that is not in a table need not be empty."
	}
	held := heldCells(tables)
	if held > 0 && a.Numbers == 0 {
		a.Sentence = "No number is published with noise."
	}
	a.Sentence += words.When(held > 0,
		fmt.Sprintf(" %s more are figures that were public before, or sums of these.", budget.Group(held)))
	impossible := report.Total(tables, func(t report.Table) int64 { return t.Impossible })
	a.Sentence += words.When(impossible > 0,
		fmt.Sprintf(" %s more cannot be by the spec, and are exact zeros.", budget.Group(impossible)))
	a.More = figuresSentence(tables)
	return a
}

// NumbersText names what the headline is of: the counts alone, where figures with errors of their own stand beside
// them.
func NumbersText(tables []report.Table) string {
	figured := slices.ContainsFunc(tables, func(t report.Table) bool { return t.Figures != nil })
	return words.Either(figured, "counts", "numbers")
}

// weightedAccuracy is that of a release some of whose counts are sums of weights.
func weightedAccuracy(tables []report.Table) report.Accuracy {
	all := report.Accuracy{Confidence: 1, OneMargin: true}
	for _, of := range []struct {
		weighted      bool
		counts, exact string
	}{{true, "counts by weight", "sum of weights"}, {false, "counts without weights", "count"}} {
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
		a := accuracyIn(some)
		all.Groups = append(all.Groups, report.AccuracyOf{Of: of.counts, Numbers: a.Numbers, Confidence: a.Confidence,
			Margin: a.Margin, OneMargin: a.OneMargin, Rounded: rounded})
		if rounded {
			a.Margin += 0.5
		}
		all.More = append(all.More, headline(a, of.counts, of.exact, report.AdjustmentOf(some)))
		all.OneMargin = all.OneMargin && a.OneMargin && (all.Numbers == 0 || a.Margin == all.Margin)
		all.Numbers, all.Confidence, all.Margin = all.Numbers+a.Numbers, min(all.Confidence, a.Confidence),
			max(all.Margin, all.Groups[len(all.Groups)-1].Margin)
	}
	all.Sentence = all.More[0]
	all.More = append(append(all.More[1:], ByWeight), figuresSentence(tables)...)
	return all
}

// ByWeight is said wherever errors of counts by weight are.
const ByWeight = "Rows count by their weights. Every error told here is of the noise for privacy alone: none is a sampling error, which comes on top and is in no column."

// figuresSentence says of figures beside counts how many there are, nothing where there are none.
func figuresSentence(tables []report.Table) []string {
	all, withheld, unbounded := figuresIn(tables)
	if all == 0 {
		return nil
	}
	const because = "as the noisy count of their cell is below what the spec shows"
	if withheld == all {
		return []string{fmt.Sprintf("The figures of other kinds beside the counts, such as %s, are all withheld (%s), %s.",
			figureExamples(tables), budget.Group(all), because)}
	}
	published := all - withheld - unbounded
	var s string
	switch published {
	case 0:
		s = fmt.Sprintf("No figure of another kind beside the counts, such as %s, is published: of %s the noise leaves every value open (unbounded).", figureExamples(tables), budget.Group(unbounded))
		unbounded = 0
	case 1:
		s = fmt.Sprintf("Beside the counts is published one figure of another kind, %s, with an interval of its own.",
			figureExamples(tables))
	default:
		s = fmt.Sprintf("Beside the counts are published %s of other kinds, such as %s, each with an interval of its own.",
			budget.Plural(published, "figure"), figureExamples(tables))
	}
	s += words.When(unbounded > 0, fmt.Sprintf(
		" Of %s more nothing is published, as the noise leaves every value open (unbounded).", budget.Group(unbounded)))
	return []string{s + words.When(withheld > 0, fmt.Sprintf(" %s more are withheld, %s.", budget.Group(withheld), because))}
}

// figureExamples names up to three figures.
func figureExamples(tables []report.Table) string {
	var names []string
	for _, t := range tables {
		for _, f := range t.Figures {
			if !slices.Contains(names, f.What) && len(names) < 3 {
				names = append(names, f.What)
			}
		}
	}
	return words.List(names)
}

// sparseSentence is the headline of a release of sparse tables alone.
func sparseSentence(a report.Accuracy) string {
	return words.Either(a.Numbers == 0, nothing, fmt.Sprintf("Of all cells of its tables, published or not, on average at least %s have a noisy count within ±%s of the exact one, before sampling and response error; the %s that are above their threshold are published, and are too large on the mean where they are little above it.",
		words.Level(a.Confidence), budget.Group(describe.WholeMargin(a.Margin)), budget.Group(a.Numbers)))
}

// nothing is the headline where no cell of any table is published.
const nothing = "No count is published: no cell of the tables was above its threshold, or came through the private selection of what is shown."

// one is a text on numbers, of a single one.
func one(text string) string {
	return strings.NewReplacer("numbers", "number", "counts", "count", "are off", "is off", "equal the", "equals the").
		Replace(text)
}

// outOf is a chance as so many of so many, where that is one in words, else a percentage.
func outOf(chance float64) string {
	if r := words.Exact(strconv.FormatFloat(chance, 'g', -1, 64)); r != nil && r.Denom().IsInt64() &&
		r.Denom().Int64() <= 1000 && !r.IsInt() {
		return fmt.Sprintf("%s of %s", r.Num(), r.Denom())
	}
	return words.Level(chance)
}

// headline is the headline on numbers of a name, which are what is exactly so called. Noise is drawn per number, so the
// part of numbers that are covered is an average, not a certainty. Where an interval covers, the number shown is within
// its margin rounded up, as the exact count is whole. One that was made to add up need not be: what is said is of the
// unbiased one, and how far the published ones were moved from there comes next.
func headline(a report.Accuracy, numbers, exactly string, m report.Adjustment) string {
	within := words.Either(a.Margin == 0, "equal the exact "+exactly,
		"are off the exact "+exactly+" by "+budget.Group(describe.WholeMargin(a.Margin))+" or less")
	if a.Numbers == 0 {
		return nothing
	}
	s := fmt.Sprintf("Of the %s published %s,%s on average at least %s %s, before sampling and response error",
		budget.Group(a.Numbers), numbers, movedBefore(m, a.Numbers), outOf(a.Confidence), within)
	if a.Numbers == 1 {
		before := movedBefore(m, 1)
		s = fmt.Sprintf("The one published %s%s%s %s with a chance of at least %s, before sampling and response error",
			one(numbers), words.When(before != "", ","), before, one(within), words.Level(a.Confidence))
	}
	return s + words.When(!a.OneMargin,
		"; some tables are more exact than that, and the list of tables gives the margin of each") + "." + movedAfter(m)
}
