package report

// This file holds report.html: one page that needs nothing but itself.

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

//go:embed report.html.tmpl
var pageText string

//go:embed report.css
var styleText string

//go:embed map.css
var mapStyleText string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"style":    func() template.CSS { return template.CSS(styleText) },
	"mapStyle": func() template.CSS { return template.CSS(mapStyleText) },
	"group":    budget.Group,
	"number":   number,
	"margin":   margin,
	"decimal":  decimal,
	"bound":    func(e Equivalent) string { return plan.Equivalent(e).Bound() },
	"share":    budget.Percent,
	"relative": relative,
	"level":    level,
	"noise":    Mechanism.noise,
	"error":    Statistic.errorText,
	"source":   Statistic.source,
	"chance":   Statistic.chance,
	"keep":     keep,
	"law":      Mechanism.law,
	"folded":   folded,
	"fraction": fraction,
	"code":     codeSpans,
	"capital":  capital,
	"signed":   signed,
	"steps":    func(path string) []string { return strings.Split(path, "/") },
	"part":     partText,
	"once":     foldedSensitivities,
	"of":       cellsText,
	"plural":   func(n int, thing string) string { return budget.Plural(int64(n), thing) },
	"add":      func(a, b int) int { return a + b },
	"amount":   func(block Mechanism) string { return Amount{Rho: block.Parameter}.String() },
}).Parse(pageText))

// page is a report with what only the page needs.
type page struct {
	*Report
	Chart    chart
	Outlooks []plan.Outlook
}

// HTML renders the page from the report alone: the same report gives the same
// page. It loads nothing, runs no script, and escapes every text of the spec.
func (r *Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, page{r, chartOf(r), outlooksOf(r.Tables)}); err != nil {
		return nil, fmt.Errorf("rendering the report: %w", err)
	}
	return b.Bytes(), nil
}

// outlooksOf says what was expected, in few lines.
func outlooksOf(tables []Table) []plan.Outlook {
	planned := make([]plan.Table, len(tables))
	for i, t := range tables {
		planned[i] = plan.Table{Path: t.Path, Marginal: t.Marginal, Expectation: t.Expectation, Target: (*plan.Target)(t.Target)}
	}
	return plan.Outlooks(planned)
}

// noise names the law with its parameter in the field's letters.
func (m Mechanism) noise() string {
	switch budget.Kind(m.Kind) {
	case budget.DiscreteLaplace:
		return "discrete Laplace, t = " + nearText(m.Parameter)
	case budget.DiscreteGaussian:
		return "discrete Gaussian, σ² = " + nearText(m.Parameter)
	case budget.ExponentialMechanism:
		return "exponential mechanism, ε = " + upText(m.Parameter)
	case budget.ExponentialQuantiles:
		return "quantiles by the exponential mechanism, θ = " + upText(m.Parameter)
	case budget.AdaptiveBlock:
		return "adaptive block, ρ = " + upText(m.Parameter)
	}
	return m.Kind + ", " + m.Parameter
}

// law names the law alone.
func (m Mechanism) law() string {
	switch budget.Kind(m.Kind) {
	case budget.DiscreteLaplace:
		return "discrete Laplace, scale t"
	case budget.DiscreteGaussian:
		return "discrete Gaussian, σ²"
	case budget.ExponentialMechanism:
		return "exponential mechanism, ε"
	case budget.ExponentialQuantiles:
		return "quantiles by the exponential mechanism, θ"
	case budget.AdaptiveBlock:
		return "adaptive block, ρ"
	}
	return m.Kind
}

// nearText shows an exact number in four significant digits.
func nearText(text string) string {
	r := exact(text)
	if r == nil {
		return text
	}
	v, _ := r.Float64()
	return decimal(v)
}

// source says what a figure was made from: the noise of its one measurement, or the
// table that it is a sum of, or how many measurements, of which noise, it is put
// together from.
func (s Statistic) source() string {
	switch {
	case s.Mechanism != nil:
		return s.Mechanism.noise()
	case s.SumOf != "":
		return "sums of " + s.SumOf
	}
	return "from " + budget.Plural(int64(s.Measurements), "measurement") + ", " + noisesText(s.Noise)
}

// noisesText names kinds of noise.
func noisesText(kinds []string) string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = noiseNames[budget.Kind(kind)]
	}
	return strings.Join(names, " and ")
}

// errorText is the standard error, with the largest where cells differ.
func (s Statistic) errorText() string {
	if s.Largest > 0 {
		return decimal(s.StandardError) + ", at most " + decimal(s.Largest)
	}
	return decimal(s.StandardError)
}

// chance is the least that one number has to lie within its margin.
func (s Statistic) chance() string { return level(s.Attained) }

// Together tells that some table is not one measurement as it was drawn.
func (r *Report) Together() bool { return together(r.Tables) }

// Joint tells that some table is put together from several measurements.
func (r *Report) Joint() bool { return joint(r.Tables) }

// Uneven tells that cells of some table have different errors.
func (r *Report) Uneven() bool { return uneven(r.Tables) }

// keep holds a symbol, its equals sign and its value on one line.
func keep(s string) string { return strings.ReplaceAll(s, " = ", "\u00a0=\u00a0") }

// fraction shows an exact part of one as a percentage.
func fraction(text string) string {
	r := exact(text)
	if r == nil {
		return text
	}
	v, _ := r.Float64()
	return budget.Percent(v)
}

// span is a piece of text that may be code.
type span struct {
	Text string
	Code bool
}

// codeSpans parts a sentence at its backquotes.
func codeSpans(s string) []span {
	var spans []span
	for i, text := range strings.Split(s, "`") {
		if text != "" {
			spans = append(spans, span{text, i%2 == 1})
		}
	}
	return spans
}
