package report

// This file holds README.txt: what lies in the folder and how to open it.

import (
	"bytes"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

//go:embed readme.txt.tmpl
var readmeText string

var readmeTemplate = template.Must(template.New("readme").Funcs(template.FuncMap{
	"wrap":      wrap,
	"quote":     strconv.Quote,
	"sql":       func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" },
	"line":      func(s string) string { return strings.Repeat("=", len([]rune(s))) },
	"underline": func(s string) string { return strings.Repeat("-", len([]rune(s))) },
	"oneRow":    oneRow,
	"level":     level,
	"capital":   capital,
}).Parse(readmeText))

// Readme is README.txt: plain text, lines of at most 78 characters.
func (r *Report) Readme() []byte {
	var b bytes.Buffer
	if err := readmeTemplate.Execute(&b, readmePageOf(r)); err != nil {
		panic("report: the readme always renders: " + err.Error())
	}
	return b.Bytes()
}

// readmePage is a report with what only the readme needs.
type readmePage struct {
	*Report
	Statistics []figure // each once
	FirstFile  string   // of the first table, relative to the release's folder
}

// figure is one that tables have.
type figure struct {
	Name       string
	Cumulative bool // it is already added up along a column
}

func readmePageOf(r *Report) readmePage {
	p := readmePage{Report: r}
	for _, t := range r.Tables {
		if p.FirstFile == "" {
			p.FirstFile = "tables/" + t.Path + ".parquet"
		}
		for _, s := range t.Statistics {
			if f := (figure{s.Name, t.Cumulative != nil}); !slices.Contains(p.Statistics, f) {
				p.Statistics = append(p.Statistics, f)
			}
		}
	}
	return p
}

// oneRow puts a text of several lines on one.
func oneRow(s string) string { return strings.Join(strings.Fields(s), " ") }

// wrap breaks a text into lines of at most 78 characters, all but the first
// indented.
func wrap(indent int, text string) string {
	var b strings.Builder
	length := indent
	for i, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' }) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case length+1+n > 78:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			length = indent
		default:
			b.WriteByte(' ')
			length++
		}
		b.WriteString(word)
		length += n
	}
	return b.String()
}
