package report

import (
	"bytes"
	_ "embed"
	"regexp"
	"strings"
	"text/template"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
)

//go:embed report.md.tmpl
var markdownText string

var markdownTemplate = template.Must(template.New("markdown").Funcs(template.FuncMap{
	"plain":    plain,
	"group":    budget.Group,
	"number":   number,
	"margin":   margin,
	"error":    Statistic.errorText,
	"source":   Statistic.source,
	"chance":   Statistic.chance,
	"cost":     Statistic.cost,
	"distance": Statistic.distance,
	"verdict":  Table.verdict,
	"zeros":    zerosOf,
	"list":     listed,
	"decimal":  decimal,
	"share":    budget.Percent,
	"relative": relative,
	"level":    level,
	"noise":    Mechanism.noise,
	"law":      Mechanism.law,
	"folded":   folded,
	"fraction": fraction,
	"bound":    func(e Equivalent) string { return describe.Bound(plan.Equivalent(e)) },
	"fence":    fence,
	"capital":  capital,
	"signed":   signed,
	"part":     partText,
	"once":     foldedSensitivities,
	"of":       cellsText,
	"plural":   func(n int, thing string) string { return budget.Plural(int64(n), thing) },
	"amount":   func(block Mechanism) string { return Amount{Rho: block.Parameter}.String() },
	"whole":    func(s string) string { return strings.TrimSuffix(s, "\n") },
}).Parse(markdownText))

// Markdown is report.md, rendered from the report alone. Every text of the spec
// is escaped, so that none of it becomes markup.
func (r *Report) Markdown() []byte {
	var b bytes.Buffer
	if err := markdownTemplate.Execute(&b, page{Report: r, Outlooks: outlooksOf(r.Tables)}); err != nil {
		panic("report: the markdown always renders: " + err.Error())
	}
	return visible(b.Bytes())
}

// cost is the part of the budget that a figure cost, where that is its own.
func (s Statistic) cost() string {
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
func plain(s string) string { return edges.ReplaceAllString(marks.Replace(oneRow(s)), `\_`) }

// fence is a run of backquotes longer than any in a text, at least three.
func fence(s string) string {
	f := "```"
	for strings.Contains(s, f) {
		f += "`"
	}
	return f
}
