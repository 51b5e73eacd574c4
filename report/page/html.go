package page

// This file renders report.html: a single page that needs no other file.

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/language"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/report/notes"
)

// cellsText returns a number of cells with its share of all.
func cellsText(n, of int64) string {
	return words.Either(n == 0, "0", fmt.Sprintf("%s (%s)", budget.Group(n), budget.Percent(report.Ratio(n, of))))
}

//go:embed report.html.tmpl
var pageText string

//go:embed report.css
var styleText string

//go:embed charts.html.tmpl
var chartsText string

//go:embed charts.css
var chartStyleText string

//go:embed map.css
var mapStyleText string

//go:embed report.js
var scriptText string

// templateFunctions returns the functions with which report.html and report.md show the content of a report.
func templateFunctions(l *language.Language) map[string]any {
	return map[string]any{
		"t":        l.Text, // a message of the catalogue
		"language": func() *language.Language { return l },
		"group":    budget.Group,
		"number":   words.Number,
		"margin":   words.Margin,
		"decimal":  words.Decimal,
		"bound":    describe.Bound,
		"share":    budget.Percent,
		"relative": words.Relative,
		"level":    words.Level,
		"noise":    noiseText,
		"error":    errorText,
		"source":   sourceText,
		"chance":   chanceText,
		"distance": distanceText,
		"verdict":  report.Table.Verdict,
		"zeros":    zerosOf,
		"list":     joinLabels,
		"law":      lawText,
		"folded":   foldLosses,
		"fraction": percentOf,
		"capital":  words.Capital,
		"signed":   words.Signed,
		"part":     report.PartText,
		"once":     foldedSensitivities,
		"of":       cellsText,
		"plural":   func(n int, thing string) string { return budget.Plural(int64(n), thing) },
		"approved": approvedText,
		"answerer": func(h report.Hazard) string { return answerers[h.AnsweredBy] },
		"amount":   func(block report.Mechanism) string { return report.Amount{Rho: block.Parameter}.In(l) },
	}
}

// inEach returns a function that makes something once for each language, when it is first needed.
func inEach[T any](make func(*language.Language) T) func(*language.Language) T {
	all := map[*language.Language]func() T{}
	for _, tag := range language.Tags() {
		l := language.Of(tag)
		all[l] = sync.OnceValue(func() T { return make(l) })
	}
	return func(l *language.Language) T { return all[l]() }
}

var pageTemplate = inEach(func(l *language.Language) *template.Template {
	return template.Must(template.New("report").Funcs(templateFunctions(l)).Funcs(template.FuncMap{
		"style":      func() template.CSS { return template.CSS(styleText) },
		"mapStyle":   func() template.CSS { return template.CSS(mapStyleText) },
		"chartStyle": func() template.CSS { return template.CSS(chartStyleText) },
		"join":       words.List,
		"keep":       keepTogether,
		"code":       codeSpans,
		"script":     func() template.JS { return template.JS(scriptText) },
		"policy":     func() string { return contentPolicy },
		"interval":   intervalText,
		"steps":      func(path string) []string { return strings.Split(path, "/") },
		"add":        func(a, b int) int { return a + b },
	}).Parse(chartsText + pageText))
})

// contentPolicy lets the page run its own script, by its hash, and load nothing.
var contentPolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src " + sourceHash(scriptText) +
	"; base-uri 'none'; form-action 'none'"

// page is a report with the data that only the page needs.
type page struct {
	View
	Charts []seriesChart
}

// HTML renders the page from the report alone: equal reports give equal pages. The page loads nothing and
// escapes every text of the spec. Its script, which sorts and searches lists of tables, adds nothing to read.
func HTML(r *report.Report) ([]byte, error) {
	var b bytes.Buffer
	if err := pageTemplate(r.In()).Execute(&b, page{View{r}, chartsOf(r)}); err != nil {
		return nil, fmt.Errorf("rendering the report: %w", err)
	}
	return makeVisible(b.Bytes()), nil
}

// firstCharts is the number of charts that are always shown; the others are folded.
const firstCharts = 6

// FirstCharts returns the charts that are always shown: one of each marginal, in the order of the spec. It is of the
// first figure that the marginal has in addition to its count, if it has one.
func (p page) FirstCharts() []seriesChart {
	var first []seriesChart
	for _, c := range p.Charts {
		at := slices.IndexFunc(first, func(f seriesChart) bool { return f.Marginal == c.Marginal })
		switch {
		case at < 0:
			first = append(first, c)
		case first[at].Count && !c.Count:
			first[at] = c
		}
	}
	return first[:min(len(first), firstCharts)]
}

// MoreCharts returns the others.
func (p page) MoreCharts() []seriesChart {
	first := p.FirstCharts()
	return slices.DeleteFunc(slices.Clone(p.Charts), func(c seriesChart) bool {
		return slices.ContainsFunc(first, func(f seriesChart) bool { return f.ID == c.ID })
	})
}

// ChartsText says how to read the charts, and which tables have none.
func (p page) ChartsText() string {
	if p.Charts == nil {
		return "No table is small enough to be drawn cell by cell."
	}
	left := len(report.TablesWhere(p.Tables, func(t report.Table) bool { return !t.Aside && t.Series == nil }))
	return "Published figures, noise included. Bars, bands and small numbers are intervals that hold the exact figure, before sampling and response error. Darker cells, on a dark page lighter ones, are larger. ○, a hollow dot or hatching: could be zero, or has no figure." +
		words.When(p.FittedSome(), " Where counts were made to add up, the interval is that of the unbiased count, and the figure can lie outside.") +
		words.When(left > 0, fmt.Sprintf(" %s too large, or too many, to be drawn.",
			words.Either(left == 1, "1 table is", budget.Group(int64(left))+" tables are")))
}

// tile is a number that summarises the release.
type tile struct{ Name, Value, Note string }

// Tiles returns what the release promises and how good it is, each as one number.
func (p page) Tiles() []tile {
	m := p.Guarantee.Meaning
	changed := words.Either(p.Guarantee.Replaced(), "whatever its values are", "whether in the data or not")
	return []tile{
		{"Cost", keepTogether(shortAmount(p.In(), p.Budget.Asked)), p.payerText()},
		{"One " + p.Guarantee.Protects + " changes the chance of a result at most", m.Factor + "-fold", changed},
		{"An attacker guesses right at most", budget.Percent(m.Guess), "of the time; without the release 50%"},
		p.accuracyTile(),
	}
}

// payerText says who paid.
func (p page) payerText() string {
	switch p.Status {
	case report.Rehearsal:
		return "spent of no account: the data were made up"
	case report.Practice:
		return "charged to practice account " + p.Budget.Receipt.Account
	}
	return "charged to account " + p.Budget.Receipt.Account
}

// accuracyTile says how far the published numbers may be from the exact ones, for the first group of numbers if the
// report tells groups apart. A release without tables has no such margin: its tile says how many rows it made.
func (p page) accuracyTile() tile {
	if len(p.Tables) == 0 {
		m := p.Microdata[0]
		return tile{"Rows drawn from a model", budget.Group(m.Rows), "with no margin for what is counted in them"}
	}
	a, numbers := p.Accuracy, notes.NumbersText(p.Tables)
	if len(a.Groups) > 0 {
		g := a.Groups[0]
		a.Margin, a.OneMargin, a.Numbers, numbers = g.Margin, g.OneMargin, g.Numbers, g.Of
	}
	value := "±" + words.Margin(a.Margin)
	if len(report.SparseIn(p.Tables)) == len(p.Tables) {
		return tile{"A cell's noisy count is off by at most", value, fmt.Sprintf("in %s of cells, published or not",
			p.Chance())}
	}
	note := "in " + p.Chance() + " of cases" + words.When(!a.OneMargin, ", in the least exact table") +
		words.When(a.Numbers > 1, fmt.Sprintf("; there are %s %s", budget.Group(a.Numbers), numbers))
	name := words.Either(numbers == "numbers", "A number", "A count") + " is off by at most"
	if m := report.AdjustmentOf(p.Tables); m.Most > 0 && len(p.Accuracy.Groups) == 0 {
		name = "Before adding up, " + strings.ToLower(name[:1]) + name[1:]
		note += fmt.Sprintf("; adding up moved counts by up to %s", words.Margin(m.Most))
	}
	return tile{name, value, note}
}

// shortAmount returns the amount without its δ, which would not fit on a tile.
func shortAmount(l *language.Language, a report.Amount) string {
	if a.Epsilon != "" {
		return report.Amount{Epsilon: a.Epsilon}.In(l)
	}
	return a.In(l)
}

// Outlooks summarises what was expected of the tables.
func (r View) Outlooks() []pattern {
	planned := make([]describe.Expected, len(r.Tables))
	for i, t := range r.Tables {
		planned[i] = describe.Expected{Table: plan.Table{Path: t.Path, Marginal: t.Marginal, Target: t.Target},
			Expectation: t.Expectation}
	}
	var all []labelled
	for _, o := range describe.Outlooks(r.In(), planned) {
		all = append(all, labelled{o.Tables, o.Text})
	}
	return patternsOf(all)
}

// noiseText names the noise distribution with its parameter in the field's letters.
func noiseText(m report.Mechanism) string {
	kind := budget.Kind(m.Kind)
	if kind.Name() != "" {
		return kind.Name() + ", " + kind.ParameterName() + " = " + nearText(m.Parameter)
	}
	l, ok := otherMechanisms[kind]
	if !ok {
		return m.Kind + ", " + m.Parameter
	}
	return l.name + ", " + l.letter + " = " + words.RoundedUp(m.Parameter)
}

// lawText names only the noise distribution.
func lawText(m report.Mechanism) string {
	kind := budget.Kind(m.Kind)
	if word := kind.ParameterWord(); kind.Name() != "" {
		return kind.Name() + ", " + words.When(word != "", word+" ") + kind.ParameterName()
	}
	l, ok := otherMechanisms[kind]
	if !ok {
		return m.Kind
	}
	return l.name + ", " + l.letter
}

// otherMechanisms names mechanisms that add no noise, each with its parameter in the field's letters. The parameter is
// rounded up.
var otherMechanisms = map[budget.Kind]struct{ name, letter string }{
	budget.ExponentialMechanism: {"exponential mechanism", "ε"},
	budget.ExponentialQuantiles: {"quantiles by the exponential mechanism", "θ"},
	budget.AdaptiveBlock:        {"adaptive block", "ρ"},
}

// nearText shows an exact number in four significant digits.
func nearText(text string) string { return formatNearest(text, words.Decimal) }

// formatNearest writes the float64 nearest to an exact number; a text that is not a number is returned unchanged.
func formatNearest(text string, write func(float64) string) string {
	r := words.Exact(text)
	if r == nil {
		return text
	}
	v, _ := r.Float64()
	return write(v)
}

// sourceText says what a figure was made from: the noise of its only measurement, the table that it sums, or the number
// of measurements and their noise.
func sourceText(s report.Statistic) string {
	switch {
	case s.Mechanism != nil:
		return noiseText(*s.Mechanism)
	case s.SumOf != "":
		return "sums of " + s.SumOf
	}
	return budget.Plural(int64(s.Measurements), "measurement") + ", " + noisesText(s.Noise)
}

// noisesText names kinds of noise.
func noisesText(kinds []string) string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = budget.Kind(kind).Name()
	}
	return strings.Join(names, " and ")
}

// errorText returns the standard error, with the largest if cells differ.
func errorText(s report.Statistic) string {
	return words.Decimal(s.StandardError) + words.When(s.Largest > 0, ", at most "+words.Decimal(s.Largest))
}

// chanceText returns the least probability with which one number lies within its margin.
func chanceText(s report.Statistic) string { return words.Level(s.Attained) }

// keepTogether prevents a line break between a symbol, its equals sign and its value.
func keepTogether(s string) string { return strings.ReplaceAll(s, " = ", "\u00a0=\u00a0") }

// percentOf shows an exact share as a percentage.
func percentOf(text string) string { return formatNearest(text, budget.Percent) }

// span is a piece of text that may be code.
type span struct {
	Text string
	Code bool
}

// Hash reports whether a piece of code is a SHA-256 in hexadecimal, which may be broken anywhere.
func (s span) Hash() bool { return s.Code && len(s.Text) == 64 && !strings.ContainsAny(s.Text, " /") }

// codeSpans splits a sentence at its backquotes.
func codeSpans(s string) []span {
	var spans []span
	for i, text := range strings.Split(s, "`") {
		if text != "" {
			spans = append(spans, span{text, i%2 == 1})
		}
	}
	return spans
}

// joinLabels joins labels, each of which may contain a comma.
func joinLabels(labels []string) string { return strings.Join(labels, "; ") }
