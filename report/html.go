package report

// This file holds report.html: one page that needs nothing but itself.

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

//go:embed report.html.tmpl
var pageText string

//go:embed report.css
var styleText string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"style":    func() template.CSS { return template.CSS(styleText) },
	"group":    group,
	"number":   func(n json.Number) string { return groupText(n.String()) },
	"decimal":  decimal,
	"share":    share,
	"relative": relative,
	"level":    level,
	"noise":    Mechanism.noise,
	"keep":     keep,
	"fraction": fraction,
	"code":     codeSpans,
}).Parse(pageText))

// page is a report with what only the page needs.
type page struct {
	*Report
	Chart    chart
	Outlooks []outlook
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

// outlook is what was expected of one table, or of several alike.
type outlook struct{ Tables, Text string }

// outlooksOf folds tables of one marginal with the same outlook into one line,
// so that a release of a hundred tables can still be read.
func outlooksOf(tables []Table) []outlook {
	var out []outlook
	for i, t := range tables {
		if i > 0 && t.Marginal == tables[i-1].Marginal && t.Expectation == tables[i-1].Expectation {
			out[len(out)-1].Tables = t.Marginal + "/…"
			continue
		}
		out = append(out, outlook{t.Path, t.Expectation})
	}
	return out
}

// noise names the law with its parameter in the field's letters.
func (m Mechanism) noise() string {
	switch budget.Kind(m.Kind) {
	case budget.DiscreteLaplace:
		return "discrete Laplace, t = " + nearText(m.Parameter)
	case budget.DiscreteGaussian:
		return "discrete Gaussian, σ² = " + nearText(m.Parameter)
	}
	return m.Kind + ", " + m.Parameter
}

// nearText shows an exact number in four significant digits.
func nearText(exact string) string {
	r, err := budget.ParseRat(exact)
	if err != nil {
		return exact
	}
	return roundNear(r, max(4, exponentOf(nonZero(r))+1))
}

// keep holds a symbol, its equals sign and its value on one line.
func keep(s string) string { return strings.ReplaceAll(s, " = ", "\u00a0=\u00a0") }

// fraction shows an exact part of one as a percentage.
func fraction(exact string) string {
	r, err := budget.ParseRat(exact)
	if err != nil {
		return exact
	}
	v, _ := r.Float64()
	return share(v)
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
