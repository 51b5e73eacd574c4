package page

// This file renders report.html: a single page that needs no other file.

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// cellsText returns a number of cells with its share of all.
func cellsText(l *language.Language, n, of int64) string {
	return words.Either(n == 0, "0", fmt.Sprintf("%s (%s)", budget.Group(n), l.Percent(report.Ratio(n, of))))
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
		"date":     l.Date,
		"digits":   l.Number,
		"group":    budget.Group,
		"number":   func(n json.Number) string { return l.Number(words.Number(n)) },
		"margin":   words.Margin,
		"decimal":  func(v float64) string { return l.Number(words.Decimal(v)) },
		"bound":    func(e plan.Equivalent) string { return l.Number(describe.Bound(e)) },
		"share":    l.Percent,
		"chance4":  func(exact string) string { return l.Number(words.Nearest(exact)) },
		"noise":    func(m report.Mechanism) string { return noiseText(l, m) },
		"source":   func(s report.Statistic) string { return sourceText(l, s) },
		"distance": distanceText,
		"verdict":  func(t report.Table, s report.Statistic) string { return verdictText(l, t.Verdict(s)) },
		"zeros":    func(t report.Table, s report.Statistic) string { return zerosOf(l, t, s) },
		"list":     joinLabels,
		"law":      func(m report.Mechanism) string { return lawText(l, m) },
		"folded":   func(parts []report.LossOf) []report.LossOf { return foldLosses(l, parts) },
		"fraction": func(text string) string { return l.Number(formatNearest(text, budget.Percent)) },
		"capital":  words.Capital,
		"signed":   func(v float64) string { return l.Number(words.Signed(v)) },
		"part":     report.PartText,
		"once":     func(all []report.Sensitivity) []report.Sensitivity { return foldedSensitivities(l, all) },
		"of":       func(n, of int64) string { return cellsText(l, n, of) },
		"charts":   func(n int) string { return l.Plural(int64(n), "more chart") },
		"tables":   func(n int) string { return l.Plural(int64(n), "more table") },
		"rounds":   func(n int) string { return l.Plural(int64(n), "round") },
		"status":   func(s report.Status) string { return l.Text(string(s)) },
		"approved": func(debited string, a report.Approval) string { return approvedText(l, debited, a) },
		"answerer": func(h report.Hazard) string { return l.Text(answerers[h.AnsweredBy]) },
		"amount": func(block report.Mechanism) string {
			return report.Amount{Rho: block.Parameter}.In(l)
		},
	}
}

// The statuses, which are shown as messages.
var _ = []string{language.Key("release"), language.Key("practice"), language.Key("rehearsal")}

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
		"pairStyle":  func() template.CSS { return template.CSS(pairStyleText) },
		"join":       l.List,
		"keep":       keepTogether,
		"code":       codeSpans,
		"script":     func() template.JS { return template.JS(scriptText) },
		"policy":     func() string { return contentPolicy },
		"interval":   func(p report.Point, of screen.Form) string { return intervalText(l, p, of) },
		"markup":     func(text string) template.HTML { return template.HTML(text) }, // of a message without arguments
		"steps":      stepsOf,
		"add":        func(a, b int) int { return a + b },
	}).Parse(chartsText + pairsText + pageText))
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
	return unbroken(makeVisible(b.Bytes())), nil
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
	l := p.In()
	if p.Charts == nil {
		return l.Text("No table is small enough to be drawn cell by cell.")
	}
	left := report.PathsWhere(p.Tables, func(t report.Table) bool { return !t.Aside && t.Series == nil })
	return l.Text("Published figures, noise included. Bars, bands and small numbers are intervals that hold the "+
		"exact figure, before sampling and response error. The darker a cell (on a dark page, the lighter), the "+
		"larger its number. ○, a hollow dot or hatching: could be zero, or has no figure.") +
		words.When(p.FittedSome(), " "+l.Text("Where counts were made to add up, the interval is that of the "+
			"unbiased count, and the figure can lie outside.")) +
		words.When(left != nil, " "+p.undrawnText(left))
}

// undrawnText names the first tables without a chart, and says how to see them.
func (p page) undrawnText(left []string) string {
	l := p.In()
	if len(left) == 1 {
		return l.Text("%[2]s is not drawn, because it is too large or there are too many charts: `dprelease show "+
			"%[1]s %[2]s` prints it.",
			p.Release, left[0])
	}
	return l.Text("%s are not drawn, because they are too large or there are too many charts: `dprelease show %s "+
		"TABLE` prints a table.",
		l.FirstFew(left), p.Release)
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
	return patternsOf(r.In(), all)
}

// noiseText names the noise distribution with its parameter in the field's letters.
func noiseText(l *language.Language, m report.Mechanism) string {
	kind := budget.Kind(m.Kind)
	if kind.Name() != "" {
		return describe.SharesText(m.Shares) + l.Text(kind.Name()) + ", " + kind.ParameterName() + " = " +
			l.Number(formatNearest(m.Parameter, words.Decimal))
	}
	other, ok := otherMechanisms[kind]
	if !ok {
		return m.Kind + ", " + m.Parameter
	}
	return l.Text(other.name) + ", " + other.letter + " = " + l.Number(words.RoundedUp(m.Parameter))
}

// The word for the parameter of a law, which is shown as a message.
var _ = language.Key("scale")

// lawText names only the noise distribution.
func lawText(l *language.Language, m report.Mechanism) string {
	kind := budget.Kind(m.Kind)
	if word := kind.ParameterWord(); kind.Name() != "" {
		return l.Text(kind.Name()) + ", " + words.When(word != "", l.Text(word)+" ") + kind.ParameterName()
	}
	other, ok := otherMechanisms[kind]
	if !ok {
		return m.Kind
	}
	return l.Text(other.name) + ", " + other.letter
}

// otherMechanisms names mechanisms that add no noise, each with its parameter in the field's letters. The parameter is
// rounded up.
var otherMechanisms = map[budget.Kind]struct{ name, letter string }{
	budget.ExponentialMechanism: {language.Key("exponential mechanism"), "ε"},
	budget.ExponentialQuantiles: {language.Key("quantiles by the exponential mechanism"), "θ"},
	budget.AdaptiveBlock:        {language.Key("adaptive block"), "ρ"},
}

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
func sourceText(l *language.Language, s report.Statistic) string {
	switch {
	case s.Mechanism != nil:
		return noiseText(l, *s.Mechanism)
	case s.SumOf != "":
		return l.Text("sums of %s", s.SumOf)
	}
	return l.Plural(int64(s.Measurements), "measurement") + ", " + noisesText(l, s.Noise)
}

// noisesText names kinds of noise.
func noisesText(l *language.Language, kinds []string) string {
	if len(kinds) == 0 {
		return ""
	}
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = l.Text(budget.Kind(kind).Name())
	}
	return andText(l, names)
}

// pathStep matches what a step of a table's path ends with.
var pathStep = regexp.MustCompile(`/|\.|_x_`)

// stepsOf returns the steps of a table's path, between which a line may be broken.
func stepsOf(path string) []string {
	var steps []string
	for {
		end := pathStep.FindStringIndex(path)
		if end == nil {
			return append(steps, path)
		}
		steps, path = append(steps, path[:end[1]]), path[end[1]:]
	}
}

// keepTogether prevents a line break between a symbol, its equals sign and its value.
func keepTogether(s string) string { return strings.ReplaceAll(s, " = ", "\u00a0=\u00a0") }

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
