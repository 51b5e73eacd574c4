package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/describe"
)

// Accuracy sums up all tables: at least Confidence of the published numbers lie
// within Margin of the exact figure, on average over the noise; where numbers were
// made to add up, what they were before.
type Accuracy struct {
	Numbers    int64   `json:"numbers"`    // published with noise, in all tables
	Confidence float64 `json:"confidence"` // the least of all statistics
	Margin     float64 `json:"margin"`     // the largest of all statistics
	OneMargin  bool    `json:"one_margin"` // true where every statistic has it
	// Groups are the counts by weight and the others, where some are by weight: their margins are not of one unit.
	Groups   []AccuracyOf `json:"groups,omitempty"`
	Sentence string       `json:"sentence"`
	More     []string     `json:"more,omitempty"` // sentences, on what stands beside
}

// AccuracyOf is how close the counts of some tables are.
type AccuracyOf struct {
	Of         string  `json:"of"`
	Numbers    int64   `json:"numbers"`
	Confidence float64 `json:"confidence"`
	Margin     float64 `json:"margin"`
	OneMargin  bool    `json:"one_margin"`
	Rounded    bool    `json:"rounded"` // what is published is rounded to a whole number, and lies up to a half further off
}

func accuracyOf(tables []Table) Accuracy {
	if len(tables) == 0 {
		return Accuracy{Confidence: 1, OneMargin: true, Sentence: "No table is published, and no margin is known for what is counted in the microdata (" + modelOnly + ")."}
	}
	if without := slices.DeleteFunc(slices.Clone(tables), func(t Table) bool { return t.Aside }); len(without) > 0 {
		tables = without
	}
	if weighted(tables) {
		return weightedAccuracy(tables)
	}
	a := Accuracy{Confidence: 1, OneMargin: true}
	first := true
	sparse := sparseIn(tables)
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
	if a.Sentence = a.sentence(numbersText(tables), "count", movedIn(tables)); len(sparse) == len(tables) {
		a.Sentence = a.sparseSentence()
	} else if len(sparse) > 0 {
		var rows int64
		for _, t := range sparse {
			rows += t.Cells
		}
		if rows > 0 {
			a.Sentence += fmt.Sprintf(" %s more are in tables of the cells above a threshold, about which the reading notes tell.", budget.Group(rows))
		}
	}
	if a.Numbers == 0 && slices.ContainsFunc(tables, func(t Table) bool { return t.Discovered != nil }) {
		a.Sentence = "No number is published: no group was selected, and a group that is not in a table need not be empty."
	}
	if n := heldCells(tables); n > 0 {
		if a.Numbers == 0 {
			a.Sentence = "No number is published with noise."
		}
		a.Sentence += fmt.Sprintf(" %s more are figures that were public before, or sums of these.", budget.Group(n))
	}
	if n := impossibleIn(tables); n > 0 {
		a.Sentence += fmt.Sprintf(" %s more cannot be by the spec, and are exact zeros.", budget.Group(n))
	}
	a.More = figuresSentence(tables)
	return a
}

// numbersText names what the headline is of: the counts alone, where figures with errors of their own stand beside them.
func numbersText(tables []Table) string {
	if slices.ContainsFunc(tables, func(t Table) bool { return t.Figures != nil }) {
		return "counts"
	}
	return "numbers"
}

// weightedAccuracy is that of a release some of whose counts are sums of weights.
func weightedAccuracy(tables []Table) Accuracy {
	all := Accuracy{Confidence: 1, OneMargin: true}
	for _, of := range []struct {
		weighted      bool
		counts, exact string
	}{{true, "counts by weight", "sum of weights"}, {false, "counts without weights", "count"}} {
		var some []Table
		rounded := false
		for _, t := range tables {
			if t.Weighted == of.weighted {
				t.Weighted, t.Figures = false, nil
				some = append(some, t)
				rounded = rounded || slices.ContainsFunc(t.Statistics, Statistic.rounded)
			}
		}
		if some == nil {
			continue
		}
		a := accuracyOf(some)
		all.Groups = append(all.Groups, AccuracyOf{Of: of.counts, Numbers: a.Numbers, Confidence: a.Confidence, Margin: a.Margin, OneMargin: a.OneMargin, Rounded: rounded})
		if rounded {
			a.Margin += 0.5
		}
		if all.Sentence == "" {
			all.Sentence = a.sentence(of.counts, of.exact, movedIn(some))
		} else {
			all.More = append(all.More, a.sentence(of.counts, of.exact, movedIn(some)))
		}
		all.OneMargin = all.OneMargin && a.OneMargin && (all.Numbers == 0 || a.Margin == all.Margin)
		all.Numbers, all.Confidence, all.Margin = all.Numbers+a.Numbers, min(all.Confidence, a.Confidence), max(all.Margin, all.Groups[len(all.Groups)-1].Margin)
	}
	all.More = append(append(all.More, byWeight), figuresSentence(tables)...)
	return all
}

// rounded tells that the published figure is rounded where the unbiased one is a multiple of a unit that is not whole.
func (s Statistic) rounded() bool {
	unit := exact(s.Unit)
	return unit != nil && !unit.IsInt()
}

// byWeight is said wherever errors of counts by weight are.
const byWeight = "Rows count by their weights. Every error told here is of the noise for privacy alone: none is a sampling error, which comes on top and is in no column."

// ByWeight is what must be said beside errors of counts by weight, "" where there are none.
func (r *Report) ByWeight() string {
	if weighted(r.Tables) {
		return byWeight
	}
	return ""
}

// figuresSentence says of figures beside counts how many there are, nothing where there are none.
func figuresSentence(tables []Table) []string {
	all, withheld, unbounded := figuresIn(tables)
	if all == 0 {
		return nil
	}
	const because = "as the noisy count of their cell is below what the spec shows"
	if withheld == all {
		return []string{fmt.Sprintf("The figures of other kinds beside the counts, such as %s, are all withheld (%s), %s.", figureExamples(tables), budget.Group(all), because)}
	}
	published := all - withheld - unbounded
	var s string
	switch published {
	case 0:
		s = fmt.Sprintf("No figure of another kind beside the counts, such as %s, is published: of %s the noise leaves every value open (unbounded).", figureExamples(tables), budget.Group(unbounded))
		unbounded = 0
	case 1:
		s = fmt.Sprintf("Beside the counts is published one figure of another kind, %s, with an interval of its own.", figureExamples(tables))
	default:
		s = fmt.Sprintf("Beside the counts are published %s of other kinds, such as %s, each with an interval of its own.", budget.Plural(published, "figure"), figureExamples(tables))
	}
	if unbounded > 0 {
		s += fmt.Sprintf(" Of %s more nothing is published, as the noise leaves every value open (unbounded).", budget.Group(unbounded))
	}
	if withheld > 0 {
		s += fmt.Sprintf(" %s more are withheld, %s.", budget.Group(withheld), because)
	}
	return []string{s}
}

// figureExamples names up to three figures.
func figureExamples(tables []Table) string {
	var names []string
	for _, t := range tables {
		for _, f := range t.Figures {
			if !slices.Contains(names, f.What) && len(names) < 3 {
				names = append(names, f.What)
			}
		}
	}
	return inWords(names)
}

// sparseIn are the sparse ones of some tables.
func sparseIn(tables []Table) []Table {
	var out []Table
	for _, t := range tables {
		if t.Sparse != nil {
			out = append(out, t)
		}
	}
	return out
}

// sparseSentence is the headline of a release of sparse tables alone.
func (a Accuracy) sparseSentence() string {
	if a.Numbers == 0 {
		return nothing
	}
	return fmt.Sprintf("Of all cells of its tables, published or not, on average at least %s have a noisy count within ±%s of the exact one, before sampling and response error; the %s that are above their threshold are published, and are too large on the mean where they are little above it.",
		level(a.Confidence), budget.Group(describe.WholeMargin(a.Margin)), budget.Group(a.Numbers))
}

// together tells that some table is not one measurement as it was drawn.
func together(tables []Table) bool {
	return some(tables, func(s Statistic) bool { return s.Mechanism == nil })
}

// joint tells that some table is put together from several measurements, or from one
// that is no table.
func joint(tables []Table) bool { return some(tables, Statistic.joint) }

func (s Statistic) joint() bool { return s.Mechanism == nil && s.SumOf == "" }

// uneven tells that cells of some table have different errors.
func uneven(tables []Table) bool {
	return some(tables, func(s Statistic) bool { return s.Largest > 0 })
}

func some(tables []Table, is func(Statistic) bool) bool {
	return slices.ContainsFunc(tables, func(t Table) bool { return slices.ContainsFunc(t.Statistics, is) })
}

// Chance is that of an interval to hold the exact count, in words.
func (r *Report) Chance() string {
	if r.Guarantee.Sample != "" {
		return "about " + level(r.Accuracy.Confidence)
	}
	return "at least " + level(r.Accuracy.Confidence)
}

// nothing is the headline where no cell of any table is published.
const nothing = "No count is published: no cell of the tables was above its threshold, or came through the private selection of what is shown."

// one is a text on numbers, of a single one.
func one(text string) string {
	return strings.NewReplacer("numbers", "number", "counts", "count", "are off", "is off", "equal the", "equals the").Replace(text)
}

// outOf is a chance as so many of so many, where that is one in words, else a percentage.
func outOf(chance float64) string {
	if r := exact(strconv.FormatFloat(chance, 'g', -1, 64)); r != nil && r.Denom().IsInt64() && r.Denom().Int64() <= 1000 && !r.IsInt() {
		return fmt.Sprintf("%s of %s", r.Num(), r.Denom())
	}
	return level(chance)
}

// sentence is the headline on numbers of a name, which are what is exactly so called. Noise is drawn per number, so the part of numbers
// that are covered is an average, not a certainty. Where an interval covers, the
// number shown is within its margin rounded up, as the exact count is whole. One
// that was made to add up need not be: what is said is of the unbiased one, and how
// far the published ones were moved from there comes next.
func (a Accuracy) sentence(numbers, exactly string, m moved) string {
	within := "are off the exact " + exactly + " by " + budget.Group(describe.WholeMargin(a.Margin)) + " or less"
	if a.Margin == 0 {
		within = "equal the exact " + exactly
	}
	if a.Numbers == 0 {
		return nothing
	}
	s := fmt.Sprintf("Of the %s published %s,%s on average at least %s %s, before sampling and response error", budget.Group(a.Numbers), numbers, m.before(a.Numbers), outOf(a.Confidence), within)
	if a.Numbers == 1 {
		name := one(numbers)
		if before := m.before(1); before != "" {
			name += "," + before
		}
		s = fmt.Sprintf("The one published %s %s with a chance of at least %s, before sampling and response error", name, one(within), level(a.Confidence))
	}
	if !a.OneMargin {
		s += "; some tables are more exact than that, and the list of tables gives the margin of each"
	}
	return s + "." + m.after()
}
