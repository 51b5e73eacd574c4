package notes

// This file writes the headline: how close the published numbers are to the exact ones.

import (
	"cmp"
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

// Accuracy summarises the tables of a plan as they are published.
func Accuracy(p *plan.Plan, tables []report.Table) report.Accuracy {
	a := accuracyIn(tables)
	includeSampling(&a, p)
	return a
}

// accuracyIn summarises tables by their noise.
func accuracyIn(tables []report.Table) report.Accuracy {
	if len(tables) == 0 {
		return report.Accuracy{Confidence: 1, OneMargin: true,
			Sentence: "No table is published, and no margin is known for what is counted in the microdata (" + report.ModelOnly +
				")."}
	}
	if without := report.TablesWhere(tables, func(t report.Table) bool { return !t.Aside }); without != nil {
		tables = without
	}
	if report.Weighted(tables) {
		return weightedAccuracy(tables)
	}
	a := report.Accuracy{Confidence: 1, OneMargin: true}
	first := true
	for _, t := range withNoise(withMargins(tables)) {
		for _, s := range t.Statistics {
			a.Numbers += t.Cells - t.Impossible
			a.Confidence = min(a.Confidence, s.Confidence)
			a.OneMargin = a.OneMargin && (first || s.Margin == a.Margin)
			a.Margin = max(a.Margin, s.Margin)
			first = false
		}
	}
	sparse := report.SparseIn(tables)
	a.Sentence = headlineText(a, NumbersText(tables), "count", report.AdjustmentOf(tables))
	if len(sparse) == len(tables) {
		a.Sentence = sparseSentence(a)
	} else if len(sparse) > 0 {
		if rows := report.Total(sparse, func(t report.Table) int64 { return t.Cells }); rows > 0 {
			a.Sentence += fmt.Sprintf(
				" %s more are in tables of the cells above a threshold, about which the reading notes tell.", budget.Group(rows))
		}
	}
	a.Sentence = cmp.Or(noGroupText(a, tables), a.Sentence)
	held := publicCells(tables)
	if held > 0 && a.Numbers == 0 {
		a.Sentence = "No number is published with noise."
	}
	a.Sentence += words.When(held > 0,
		fmt.Sprintf(" %s more were public before, or are sums of such figures.", budget.Group(held)))
	impossible := report.Total(tables, func(t report.Table) int64 { return t.Impossible })
	a.Sentence += words.When(impossible > 0,
		fmt.Sprintf(" %s more are impossible by the spec, and exact zeros.", budget.Group(impossible)))
	a.More = figureSentences(tables)
	return a
}

// NumbersText names what the headline covers: only the counts, if the tables also have figures with errors of their
// own.
func NumbersText(tables []report.Table) string {
	figured := slices.ContainsFunc(tables, func(t report.Table) bool { return t.Figures != nil })
	return words.Either(figured, "counts", "numbers")
}

// figureSentences says how many figures other than counts there are, nothing if there are none.
func figureSentences(tables []report.Table) []string {
	all, withheld, unbounded := figuresIn(tables)
	if all == 0 {
		return nil
	}
	const because = "because the noisy count of their cell is below the spec's threshold"
	if withheld == all {
		return []string{fmt.Sprintf("The figures of other kinds, such as %s, are all withheld (%s), %s.",
			figureExamples(tables), budget.Group(all), because)}
	}
	published := all - withheld - unbounded
	var s string
	switch published {
	case 0:
		s = fmt.Sprintf("No figure of another kind, such as %s, is published: for %s the noise leaves every value open (unbounded).",
			figureExamples(tables), budget.Group(unbounded))
		unbounded = 0
	case 1:
		s = fmt.Sprintf("One figure of another kind, %s, is published with an interval of its own.",
			figureExamples(tables))
	default:
		s = fmt.Sprintf("Also published are %s of other kinds, such as %s, each with an interval of its own.",
			budget.Plural(published, "figure"), figureExamples(tables))
	}
	s += words.When(unbounded > 0, fmt.Sprintf(
		" %s more are not published, as the noise leaves every value open (unbounded).", budget.Group(unbounded)))
	return []string{s +
		words.When(withheld > 0, fmt.Sprintf(" %s more are withheld, %s.", budget.Group(withheld), because))}
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

// noCount is the headline if no cell of any table is published.
const noCount = "No count is published: no cell of the tables was above its threshold, or came through the private selection of what is shown."

// singular changes a text about numbers into one about a single number.
func singular(text string) string {
	return strings.NewReplacer("numbers", "number", "counts", "count", "are within", "is within", "equal the", "equals the").
		Replace(text)
}

// oddsText writes a probability as a fraction of small numbers if it is one, and otherwise as a percentage.
func oddsText(chance float64) string {
	if r := words.Exact(strconv.FormatFloat(chance, 'g', -1, 64)); r != nil && r.Denom().IsInt64() &&
		r.Denom().Int64() <= 1000 && !r.IsInt() {
		return fmt.Sprintf("%s in %s", r.Num(), r.Denom())
	}
	return words.Level(chance)
}

// headlineText is the headline about numbers, where exactly names their exact values. Noise is drawn per number, so the
// share of numbers that are covered is an average, not a certainty. If an interval covers, the published number is
// within its margin rounded up, because the exact count is whole. A number that was adjusted to add up need not be: the
// statement is about the unbiased number, followed by how far the published ones were moved from it.
func headlineText(a report.Accuracy, numbers, exactly string, m report.Adjustment) string {
	within := words.Either(a.Margin == 0, "equal the exact "+exactly,
		"are within "+budget.Group(describe.WholeMargin(a.Margin))+" of the exact "+exactly)
	if a.Numbers == 0 {
		return noCount
	}
	s := fmt.Sprintf("Of the %s published %s,%s on average at least %s %s, before sampling and response error",
		budget.Group(a.Numbers), numbers, movedBefore(m, a.Numbers), oddsText(a.Confidence), within)
	if a.Numbers == 1 {
		before := movedBefore(m, 1)
		s = fmt.Sprintf("The one published %s%s%s %s with a chance of at least %s, before sampling and response error",
			singular(numbers), words.When(before != "", ","), before, singular(within), words.Level(a.Confidence))
	}
	return s + words.When(!a.OneMargin,
		"; many are closer, as the list of tables says") + "." + movedAfter(m)
}
