package page

// This file holds report.md: the report as plain text with headings and tables, for a wiki or a review.

import (
	"bytes"
	_ "embed"
	"regexp"
	"strings"
	"text/template"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

//go:embed report.md.tmpl
var markdownText string

var markdownTemplate = template.Must(template.New("markdown").Funcs(shown).Funcs(template.FuncMap{
	"plain": plain,
	"cost":  costText,
	"fence": fence,
	"whole": func(s string) string { return strings.TrimSuffix(s, "\n") },
}).Parse(markdownText))

// Markdown is report.md, rendered from the report alone. Every text of the spec
// is escaped, so that none of it becomes markup.
func Markdown(r *report.Report) []byte {
	var b bytes.Buffer
	if err := markdownTemplate.Execute(&b, page{View: View{r}, Outlooks: outlooksOf(r.Tables)}); err != nil {
		panic("report: the markdown always renders: " + err.Error())
	}
	return visible(b.Bytes())
}

// costText is the part of the budget that a figure cost, where that is its own.
func costText(s report.Statistic) string {
	switch {
	case s.SumOf != "":
		return "–"
	case s.Mechanism == nil:
		return "shared"
	}
	return budget.Percent(s.PartOfBudget)
}

// marks are the characters that start markup within a line, or part the cells
// of a table. Backquotes stay: the report's own sentences set commands in them.
var marks = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "[", `\[`, "]", `\]`, "<", "&lt;", "&", "&amp;")

// edges are underscores that start or end a word; those within one are no markup.
var edges = regexp.MustCompile(`\b_|_\b`)

// plain puts a text on one line, as text.
func plain(s string) string { return edges.ReplaceAllString(marks.Replace(words.OneRow(s)), `\_`) }

// fence is a run of backquotes longer than any in a text, at least three.
func fence(s string) string {
	f := "```"
	for strings.Contains(s, f) {
		f += "`"
	}
	return f
}
