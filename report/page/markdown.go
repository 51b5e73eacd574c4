package page

// This file renders report.md: the report as plain text with headings and tables, for a wiki or a review.

import (
	"bytes"
	_ "embed"
	"regexp"
	"strings"
	"text/template"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

//go:embed report.md.tmpl
var markdownText string

var markdownTemplate = inEach(func(l *language.Language) *template.Template {
	return template.Must(template.New("markdown").Funcs(templateFunctions(l)).Funcs(template.FuncMap{
		"plain": plainText,
		"join":  l.List,
		"cost":  func(s report.Statistic) string { return costText(l, s) },
		"fence": codeFence,
		"whole": func(s string) string { return strings.TrimSuffix(s, "\n") },
	}).Parse(markdownText))
})

// Markdown renders report.md from the report alone. It escapes every text of the spec, so that none becomes markup.
func Markdown(r *report.Report) []byte {
	var b bytes.Buffer
	if err := markdownTemplate(r.In()).Execute(&b, page{View: View{r}}); err != nil {
		panic("report: the markdown always renders: " + err.Error())
	}
	return makeVisible(b.Bytes())
}

// costText returns the share of the budget that a figure cost, if that cost is its own.
func costText(l *language.Language, s report.Statistic) string {
	switch {
	case s.SumOf != "":
		return "–"
	case s.Mechanism == nil:
		return l.Text("shared")
	}
	return l.Percent(s.PartOfBudget)
}

// markupEscapes escapes the characters that start markup within a line, or separate the cells of a table. Backquotes
// stay: the report's own sentences set commands in them.
var markupEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "[", `\[`, "]", `\]`, "<", "&lt;")

// references matches the ampersand that starts a character reference, with the rest of it. Any other ampersand stays,
// as people read this page as it is.
var references = regexp.MustCompile(`&(#?[0-9A-Za-z]+;)`)

// edgeUnderscores matches underscores at the start or end of a word; those within a word are not markup.
var edgeUnderscores = regexp.MustCompile(`\b_|_\b`)

// plainText puts a text on one line, without markup.
func plainText(s string) string {
	s = references.ReplaceAllString(words.OneRow(s), "&amp;$1")
	return edgeUnderscores.ReplaceAllString(markupEscapes.Replace(s), `\_`)
}

// codeFence returns a run of backquotes longer than any in a text, at least three.
func codeFence(s string) string {
	f := "```"
	for strings.Contains(s, f) {
		f += "`"
	}
	return f
}
