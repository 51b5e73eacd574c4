package page

// This file renders README.txt: what the folder contains and how to open it.

import (
	"bytes"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

//go:embed readme.txt.tmpl
var readmeText string

var readmeTemplate = inEach(func(l *language.Language) *template.Template {
	return template.Must(template.New("readme").Funcs(template.FuncMap{
		"t":          l.Text, // a message of the catalogue
		"language":   func() *language.Language { return l },
		"wrap":       wrapLines,
		"join":       l.List,
		"quote":      strconv.Quote,
		"sql":        func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" },
		"identifier": func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` },
		"line":       func(s string) string { return strings.Repeat("=", len([]rune(s))) },
		"head":       func(s string) string { return s + "\n" + strings.Repeat("-", len([]rune(s))) },
		"oneRow":     words.OneRow,
		"capital":    words.Capital,
		"date":       l.Date,
	}).Parse(readmeText))
})

// Readme renders README.txt: plain text, with lines of at most 78 characters.
func Readme(r *report.Report) []byte {
	var b bytes.Buffer
	if err := readmeTemplate(r.In()).Execute(&b, readmePageOf(r)); err != nil {
		panic("report: the readme always renders: " + err.Error())
	}
	return makeVisible(b.Bytes())
}

// readmePage is a report with the data that only the readme needs.
type readmePage struct {
	View
	Statistics []column // each once
	Kinds      []kind   // figures other than counts, each once
	Asides     []kind   // tables that judge bounds and rules
	Titled     []kind   // tables with titles
	Unbiased   string   // names of the unbiased figures
	// of the first table or, without tables, of the first microdata, relative to the release's folder
	FirstFile string
}

// column is a count that tables have.
type column struct {
	Name       string
	Cumulative bool   // it is cumulative along a column
	Of         string // what it counts
	Rounded    bool   // to a whole number, from a multiple of a fractional unit
	Fitted     string // how it was adjusted to add up with other tables, "" if it was not
}

// kind is a figure or a table, with what it is.
type kind struct{ Name, Text string }

func readmePageOf(r *report.Report) readmePage {
	p, l := readmePage{View: View{r}}, r.In()
	var unbiased []string
	for _, t := range r.Tables {
		if t.Title != "" {
			p.Titled = append(p.Titled, kind{t.Path, t.Title})
		}
		if t.Aside {
			p.Asides = append(p.Asides, kind{t.Path, diagnosticPurposeText(l, t)})
		}
		for _, s := range t.Statistics {
			if f := (column{s.Name, t.Cumulative != nil, s.Of, s.Rounded(), fittedFrom(l, s)}); !t.Aside &&
				!slices.Contains(p.Statistics, f) {
				p.Statistics = append(p.Statistics, f)
			}
		}
		for _, f := range t.Figures {
			if k := (kind{f.Name, l.Text("%s, in %s", f.What, f.Unit)}); !slices.Contains(p.Kinds, k) {
				p.Kinds = append(p.Kinds, k)
			}
			if f.Unbiased && !slices.Contains(unbiased, f.Name) {
				unbiased = append(unbiased, f.Name)
			}
		}
	}
	if len(r.Tables) > 0 {
		p.FirstFile = "tables/" + r.Tables[0].Path + ".parquet"
	} else if len(r.Microdata) > 0 {
		p.FirstFile = r.Microdata[0].File(r.In())
	}
	p.Unbiased = strings.Join(unbiased, ", ")
	return p
}

// fittedFrom says what a count is that was adjusted to add up.
func fittedFrom(l *language.Language, s report.Statistic) string {
	switch {
	case s.Fitted == nil:
		return ""
	case s.Fitted.Way == plan.Tabulated:
		return l.Text("how many rows of the microdata are in the cell, so that the table adds up with the other " +
			"tables: a figure of the model, like these rows")
	}
	return l.Text("the noisy figure, rounded and fitted to add up with the other tables")
}

// joiners are characters of zero width that join or separate letters, as the writing of Persian and Hindi requires.
const joiners = "\u200c\u200d"

// makeVisible returns a page on which every character is visible that could make it appear to say something else: no
// text of a spec can control a terminal or change the direction of writing. Lines end in one character, whatever the
// line endings of the spec.
func makeVisible(page []byte) []byte {
	return []byte(screen.Visible(strings.ReplaceAll(string(page), "\r\n", "\n"), "\n\t"+joiners))
}

// wrapLines breaks a text into lines of at most 78 characters, all but the first indented.
func wrapLines(indent int, text string) string {
	var b strings.Builder
	length := indent
	for i, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n\t\r", r) }) {
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
