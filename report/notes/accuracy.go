package notes

// This file writes the headline: how close the published numbers are to the exact ones.

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// Accuracy summarises the tables of a plan as they are published.
func Accuracy(l *language.Language, p *plan.Plan, tables []report.Table) report.Accuracy {
	a := accuracyIn(l, tables, p.Sample.Partial())
	if len(tables) == 0 && len(p.Synthetic) == 0 {
		a.Sentence = l.Text("No table is published. How well the models predict is in the section “Models”.")
	}
	if n := int64(len(p.AllModels())); n > 0 && len(tables)+len(p.Synthetic) > 0 {
		a.More = append(a.More, l.Text("This release also has %s. How well models predict is in the section “Models”.",
			l.Plural(n, "model")))
	}
	includeSampling(l, &a, p)
	return a
}

// accuracyIn summarises tables by their noise. sampled says that it is that of a secret sample too.
func accuracyIn(l *language.Language, tables []report.Table, sampled bool) report.Accuracy {
	if len(tables) == 0 {
		return report.Accuracy{Confidence: 1, OneMargin: true,
			Sentence: l.Text("No table is published, and no margin is known for what is counted in the microdata (%s).",
				l.Text(report.ModelOnly))}
	}
	if without := report.TablesWhere(tables, func(t report.Table) bool { return !t.Aside }); without != nil {
		tables = without
	}
	if report.Weighted(tables) {
		return weightedAccuracy(l, tables, sampled)
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
	a.Sentence = headlineText(l, a, numbersOf(tables), exactlyCount, report.AdjustmentOf(tables), sampled)
	if len(sparse) == len(tables) {
		a.Sentence = sparseSentence(l, a, sampled)
	} else if len(sparse) > 0 {
		a.Sentence += oneMore(l, report.Total(sparse, func(t report.Table) int64 { return t.Cells }),
			language.Key("1 more is in a table that shows only cells above a threshold; the notes on reading explain it."),
			language.Key("%s more are in tables that show only cells above a threshold; the notes on reading explain them."))
	}
	a.Sentence = cmp.Or(noGroupText(l, a, tables), a.Sentence)
	held := publicCells(tables)
	if held > 0 && a.Numbers == 0 {
		a.Sentence = l.Text("No number is published with noise.")
	}
	a.Sentence += oneMore(l, held, language.Key("1 more was public before, or is a sum of such figures."),
		language.Key("%s more were public before, or are sums of such figures."))
	a.Sentence += oneMore(l, report.Total(tables, func(t report.Table) int64 { return t.Impossible }),
		language.Key("1 more is impossible by the spec, and an exact zero."),
		language.Key("%s more are impossible by the spec, and exact zeros."))
	a.More = figureSentences(l, tables)
	return a
}

// What numbers are called in the headline.
var (
	allNumbers      = language.Key("numbers")
	allCounts       = language.Key("counts")
	countsByWeight  = language.Key("counts by weight")
	countsUnweighed = language.Key("counts without weights")
)

// What their exact values are called, after "exact".
var (
	exactlyCount   = language.Key("count")
	exactlyWeights = language.Key("sum of weights")
)

// numbersOf names what the headline covers: only the counts, if the tables also have figures with errors of their own.
func numbersOf(tables []report.Table) string {
	figured := slices.ContainsFunc(tables, func(t report.Table) bool { return t.Figures != nil })
	return words.Either(figured, allCounts, allNumbers)
}

// figureSentences says how many figures other than counts there are, nothing if there are none.
func figureSentences(l *language.Language, tables []report.Table) []string {
	all, withheld, unbounded := figuresIn(tables)
	if all == 0 {
		return nil
	}
	if withheld == all {
		return []string{l.Text("The figures of other kinds, such as %s, are all withheld (%s), because the noisy "+
			"count of their cell is below the limit in the spec.",
			figureExamples(l, tables), budget.Group(all))}
	}
	published := all - withheld - unbounded
	var s string
	switch published {
	case 0:
		s = l.Text("No figure of another kind, such as %s, is published: for %s the noise leaves every value open "+
			"(unbounded).",
			figureExamples(l, tables), budget.Group(unbounded))
		unbounded = 0
	case 1:
		s = l.Text("One figure of another kind, %s, is published with an interval of its own.",
			figureExamples(l, tables))
	default:
		s = l.Text("Also published are %s of other kinds, such as %s, each with an interval of its own.",
			l.Plural(published, "figure"), figureExamples(l, tables))
	}
	s += oneMore(l, unbounded,
		language.Key("1 more is not published, as the noise leaves every value open (unbounded)."),
		language.Key("%s more are not published, as the noise leaves every value open (unbounded)."))
	return []string{s + oneMore(l, withheld,
		language.Key("1 more is withheld, because the noisy count of its cell is below the limit in the spec."),
		language.Key("%s more are withheld, because the noisy count of their cell is below the limit in the spec."))}
}

// oneMore returns a sentence on further numbers, with a space before it: the first for one and the second for several;
// "" for none.
func oneMore(l *language.Language, n int64, one, several string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " " + l.Text(one)
	}
	return " " + l.Text(several, budget.Group(n))
}

// figureExamples names up to three figures.
func figureExamples(l *language.Language, tables []report.Table) string {
	var names []string
	for _, t := range tables {
		for _, f := range t.Figures {
			if !slices.Contains(names, f.What) && len(names) < 3 {
				names = append(names, f.What)
			}
		}
	}
	return l.List(names)
}

// noCount is the headline if no cell of any table is published.
func noCount(l *language.Language) string {
	return l.Text("No count is published: no cell of the tables was above its threshold, or came through the private " +
		"selection of what is shown.")
}

// singular names one of some numbers.
func singular(l *language.Language, numbers string) string {
	switch numbers {
	case allCounts:
		return l.Text("count")
	case countsByWeight:
		return l.Text("count by weight")
	case countsUnweighed:
		return l.Text("count without weights")
	}
	return l.Text("number")
}

// onAverage writes which share of numbers is meant at least, or about in a sample: as a fraction of small numbers if it
// is one, and otherwise as a percentage.
func onAverage(l *language.Language, share float64, sampled bool) string {
	if r := words.Exact(strconv.FormatFloat(share, 'g', -1, 64)); r != nil && r.Denom().IsInt64() &&
		r.Denom().Int64() <= 1000 && !r.IsInt() {
		return words.Either(sampled, l.Text("on average about %s in %s", r.Num(), r.Denom()),
			l.Text("on average at least %s in %s", r.Num(), r.Denom()))
	}
	level := l.Number(words.Level(share))
	return words.Either(sampled, l.Text("on average about %s", level), l.Text("on average at least %s", level))
}

// headlineText is the headline about numbers, where exactly names their exact values. Noise is drawn per number, so the
// share of numbers that are covered is an average, not a certainty. If an interval covers, the published number is
// within its margin rounded up, because the exact count is whole. A number that was adjusted to add up need not be: the
// statement is about the unbiased number, followed by how far the published ones were moved from it.
func headlineText(l *language.Language, a report.Accuracy, numbers, exactly string, m report.Adjustment,
	sampled bool) string {
	if a.Numbers == 0 {
		return noCount(l)
	}
	s := headlineOfMany(l, a, numbers, exactly, m, sampled)
	switch {
	case a.Numbers == 1:
		s = headlineOfOne(l, a, numbers, exactly, m, sampled)
	case a.Numbers < fewNumbers:
		s = headlineOfFew(l, a, numbers, exactly, m, sampled)
	}
	return words.Either(a.OneMargin, s, l.Text("%s; many are closer: see %s", s, l.Text(TableList))) + "." +
		movedAfter(l, m)
}

func headlineOfMany(l *language.Language, a report.Accuracy, numbers, exactly string, m report.Adjustment,
	sampled bool) string {
	before, share, exact := movedBefore(l, m, a.Numbers), onAverage(l, a.Confidence, sampled), l.Text(exactly)
	text := ""
	all, margin := budget.Group(a.Numbers), budget.Group(describe.WholeMargin(a.Margin))
	switch {
	case a.Margin == 0 && sampled:
		text = l.Text("%[4]s of the %[1]s published %[2]s%[3]s equal the exact %[5]s, before response error and any "+
			"sampling error of the data themselves",
			all, l.Text(numbers), before, share, exact)
	case a.Margin == 0:
		text = l.Text("%[4]s of the %[1]s published %[2]s%[3]s equal the exact %[5]s, before sampling and response error", all,
			l.Text(numbers), before, share, exact)
	case sampled:
		text = l.Text("%[4]s of the %[1]s published %[2]s%[3]s are within %[5]s of the exact %[6]s, before response "+
			"error and any sampling error of the data themselves",
			all, l.Text(numbers), before, share, margin, exact)
	default:
		text = l.Text("%[4]s of the %[1]s published %[2]s%[3]s are within %[5]s of the exact %[6]s, before sampling "+
			"and response error", all,
			l.Text(numbers), before, share, margin, exact)
	}
	return words.Capital(text)
}

// fewNumbers is the number of published numbers below which the headline says how likely each is within the margin: a
// share of so few, such as 19 in 20 of 2, says nothing.
const fewNumbers = 20

func headlineOfFew(l *language.Language, a report.Accuracy, numbers, exactly string, m report.Adjustment,
	sampled bool) string {
	before, exact, chance := movedBefore(l, m, a.Numbers), l.Text(exactly), l.Number(words.Level(a.Confidence))
	all, margin := budget.Group(a.Numbers), budget.Group(describe.WholeMargin(a.Margin))
	switch {
	case a.Margin == 0 && sampled:
		return l.Text("Each of the %s published %s%s equals the exact %s with a chance of about %s, before response "+
			"error and any sampling error of the data themselves",
			all, l.Text(numbers), before, exact, chance)
	case a.Margin == 0:
		return l.Text("Each of the %s published %s%s equals the exact %s with a chance of at least %s, before "+
			"sampling and response error",
			all, l.Text(numbers), before, exact, chance)
	case sampled:
		return l.Text("Each of the %s published %s%s is within %s of the exact %s with a chance of about %s, before "+
			"response error and any sampling error of the data themselves",
			all, l.Text(numbers), before, margin, exact, chance)
	}
	return l.Text("Each of the %s published %s%s is within %s of the exact %s with a chance of at least %s, before "+
		"sampling and response error",
		all, l.Text(numbers), before, margin, exact, chance)
}

func headlineOfOne(l *language.Language, a report.Accuracy, numbers, exactly string, m report.Adjustment,
	sampled bool) string {
	what, exact, chance := singular(l, numbers)+movedBefore(l, m, 1), l.Text(exactly),
		l.Number(words.Level(a.Confidence))
	margin := budget.Group(describe.WholeMargin(a.Margin))
	switch {
	case a.Margin == 0 && sampled:
		return l.Text("The one published %s equals the exact %s with a chance of about %s, before response error and "+
			"any sampling error of the data themselves",
			what, exact, chance)
	case a.Margin == 0:
		return l.Text("The one published %s equals the exact %s with a chance of at least %s, before sampling and "+
			"response error",
			what, exact, chance)
	case sampled:
		return l.Text("The one published %s is within %s of the exact %s with a chance of about %s, before response "+
			"error and any sampling error of the data themselves",
			what, margin, exact, chance)
	}
	return l.Text("The one published %s is within %s of the exact %s with a chance of at least %s, before sampling "+
		"and response error",
		what, margin, exact, chance)
}
