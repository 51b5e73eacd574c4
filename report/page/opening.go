package page

// This file writes the opening: what every reader should know about a release, in the order of a first page.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/report/notes"
	"github.com/dprelease/dprelease/spec/language"
)

// MicrodataSentence says in the headline that there are microdata; "" if there are none.
func (r View) MicrodataSentence() string {
	if len(r.Microdata) == 0 {
		return ""
	}
	var parts []string
	l := r.In()
	for _, m := range r.Microdata {
		parts = append(parts, l.Text("%s of microdata of table %s", l.Plural(m.Rows, "row"), m.Table))
	}
	list, only := l.List(parts), l.Text(report.ModelOnly)
	return words.Either(len(r.Tables) == 0,
		l.Text("This release publishes %s. They are drawn from a model and belong to nobody, and figures counted in "+
			"them have no margin of error (%s).", list, only),
		l.Text("In addition to the tables, this release has %s. They are drawn from a model and belong to nobody, "+
			"and figures counted in them have no margin of error (%s).",
			list, only))
}

// Opening returns what the figures are about, what is promised to those in the data, and how close the figures are to
// the exact ones, in this order.
func (r View) Opening() []string {
	return slices.Concat([]string{r.Subject()}, r.Promise(), r.HowClose())
}

// HowClose says how close the figures are to the exact ones.
func (r View) HowClose() []string {
	return slices.Concat([]string{r.Accuracy.Sentence}, words.NonEmpty(r.otherFiguresText()), r.singleColumnTexts())
}

// mostFigures is the number of figures whose widths the opening states.
const mostFigures = 3

// otherFiguresText says how wide the intervals of figures other than counts are, for one figure of each of the first
// kinds; "" if there are no such figures.
func (r View) otherFiguresText() string {
	var figures []report.Figure
	for _, t := range report.TablesWhere(r.Figured(), func(t report.Table) bool { return !t.Aside }) {
		figures = append(figures, t.Figures...)
	}
	if figures == nil {
		return ""
	}
	l := r.In()
	var kinds, typical []string
	for _, f := range figures {
		if f.HalfWidth == nil || len(kinds) == mostFigures || slices.Contains(kinds, f.Kind) {
			continue
		}
		kinds, typical = append(kinds, f.Kind), append(typical, f.What+" "+widthsText(l, figures, f.What))
	}
	if typical == nil {
		return l.Text("No figure of another kind has an interval: see %s.", l.Text(notes.FigureList))
	}
	return l.Text("Half of the %s intervals of other figures are no wider than: %s (see %s).",
		l.Number(words.Level(figures[0].Confidence)), strings.Join(typical, "; "), l.Text(notes.FigureList))
}

// widthsText writes half the width of a typical interval of the figures that are called what: the smallest and the
// largest, if tables differ.
func widthsText(l *language.Language, figures []report.Figure, what string) string {
	var same []report.Figure
	for _, f := range figures {
		if f.What == what && f.HalfWidth != nil {
			same = append(same, f)
		}
	}
	byWidth := func(a, b report.Figure) int { return cmp.Compare(*a.HalfWidth, *b.HalfWidth) }
	least, most := slices.MinFunc(same, byWidth).HalfText(l), slices.MaxFunc(same, byWidth).HalfText(l)
	return words.Either(least == most, most, l.Text("%s to %s, by table", least, most))
}

// singleColumnTexts says for which microdata no two columns were measured together, although the method could have
// selected some.
func (r View) singleColumnTexts() []string {
	var all []string
	for _, m := range r.Microdata {
		if m.Block != nil && len(m.Together(r.In())) == 0 {
			all = append(all, r.In().Text(
				"The microdata of %s show each column by itself: no two columns were measured together, and the rows "+
					"say nothing about how columns depend on each other.",
				m.Table))
		}
	}
	return all
}

// ShortPromise returns the guarantee for the table at a glance: without the factor, which is in [page.LongPromise].
func (p page) ShortPromise() []string {
	factor := notes.FactorSentence(p.In(), p.Guarantee)
	return slices.DeleteFunc(p.Promise(), func(s string) bool { return s == factor })
}

// LongPromise returns the factor, and what the opening omits.
func (p page) LongPromise() []string {
	return append(words.NonEmpty(notes.FactorSentence(p.In(), p.Guarantee)), p.Further()...)
}

// Further returns the sentences on accuracy and on the guarantee that the opening omits.
func (r View) Further() []string {
	opening := strings.Join(r.Promise(), "\n")
	promise := slices.DeleteFunc(slices.Clone(r.Guarantee.Sentences),
		func(s string) bool { return strings.Contains(opening, s) })
	return slices.Concat(r.Accuracy.More, words.NonEmpty(r.MicrodataSentence()), promise, r.allUsableText())
}

// allUsableText says that no whole table must be avoided, nothing if the box names one or no cell is published.
func (r View) allUsableText() []string {
	published := slices.ContainsFunc(r.Tables, func(t report.Table) bool { return !t.Aside && t.Cells > t.Impossible })
	if !published || len(report.NotUsableSingly(r.Report)) > 0 {
		return nil
	}
	_, cells, _ := r.CouldBeZero()
	l := r.In()
	none := words.Either(len(report.PathsWhere(r.Tables, report.Table.RulesOut)) > 0,
		l.Text("No table has to be avoided, and no count could be zero, apart from those that the spec declares "+
			"impossible."),
		l.Text("No table has to be avoided, and no count could be zero."))
	return []string{words.Either(cells == 0, none,
		l.Text("No table has to be avoided as a whole: in each, the noise is small compared with the average cell."))}
}

// Subject says which population and period the figures are about.
func (r View) Subject() string {
	l := r.In()
	return words.Either(r.Population == "", l.Text("The spec does not say which population these figures are about."),
		asSentence(l.Text("These figures are about %s", words.OneRow(r.Population)))) +
		words.When(r.Period != "", " "+asSentence(l.Text("Their period is %s", words.OneRow(r.Period))))
}

// asSentence adds a full stop to a text, unless it ends like a sentence.
func asSentence(text string) string {
	ends := strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?")
	return text + words.When(!ends, ".")
}

// Promise returns the guarantee for the first page: what is protected, how much a release helps somebody who guesses,
// how much a result can depend on one unit, and in plain words what a large factor means.
func (r View) Promise() []string {
	l, g := r.In(), r.Guarantee
	return words.NonEmpty(notes.ProtectedSentence(l, g)+" "+notes.GuessSentence(l, g), notes.FactorSentence(l, g),
		notes.PlainSentence(l, g), notes.WeakSentence(l, g))
}
