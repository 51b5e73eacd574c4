package screen

import (
	"math"
	"slices"
	"strings"
)

// This file lays out pages: paragraphs, lists and tables, one below the other, as wide as the terminal.

// Look describes the output of a page.
type Look struct {
	Columns int  // width of the terminal
	Whole   bool // tables may be wider than that, with nothing left out
	Color   bool // the output shows bold type and colours
}

// minColumns is the least width for which a page is laid out: a narrower terminal wraps by itself.
const minColumns = 40

// Style is the style of a text. No information is conveyed by style alone.
type Style string

// The styles, as attributes of a terminal.
const (
	Plain  Style = ""
	Strong Style = "1"
	Faint  Style = "2"
	Good   Style = "32"
	Middle Style = "33"
	Poor   Style = "31"
	Alert  Style = "1;7"
)

// Page is a page under construction.
type Page struct {
	look Look
	b    strings.Builder
}

// NewPage begins a page.
func NewPage(look Look) *Page {
	look.Columns = max(look.Columns, minColumns)
	return &Page{look: look}
}

// Bytes returns the page so far.
func (p *Page) Bytes() []byte { return []byte(p.b.String()) }

// Columns returns the width of the page.
func (p *Page) Columns() int { return p.look.Columns }

// withStyle adds a style to a text that is escaped already.
func (p *Page) withStyle(text string, style Style) string {
	if !p.look.Color || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Blank adds an empty line.
func (p *Page) Blank() { p.b.WriteString("\n") }

// Heading begins a section of the page.
func (p *Page) Heading(text string) {
	p.Blank()
	p.Paragraph(text, Strong)
}

// Paragraph adds a text in lines that fit.
func (p *Page) Paragraph(text string, style Style) {
	for _, line := range Wrap(Visible(text, "\n\t"), p.look.Columns) {
		p.b.WriteString(p.withStyle(line, style) + "\n")
	}
}

// Line adds a text that may be copied: it is not wrapped, and only what would control a terminal is escaped.
func (p *Page) Line(text string, style Style) {
	p.b.WriteString(p.withStyle(Visible(text, ""), style) + "\n")
}

// Verbatim adds a text with its own line breaks.
func (p *Page) Verbatim(text string) { p.b.WriteString(Visible(text, "\n\t")) }

// Item adds an item of a list: a text after a mark, with its further lines indented.
func (p *Page) Item(mark, text string) {
	mark = Visible(mark, "")
	for i, line := range Wrap(Visible(text, "\n\t"), p.look.Columns-Width(mark)) {
		if i > 0 {
			mark = strings.Repeat(" ", Width(mark))
		}
		p.b.WriteString(mark + line + "\n")
	}
}

// Column is a column of a table.
type Column struct {
	Head  string
	Right bool // aligned right, as numbers are
	// Fold is the width to which cells may be folded if the table is wider than the page; 0: never.
	Fold int
	// Wrap breaks a folded text into several lines without leaving anything out: it is a sentence and not a name.
	Wrap bool
	// Drop is how early the column is left out if folding is not enough: the highest first, and 0 never.
	Drop int
}

// Cell is a cell of a table.
type Cell struct {
	Text  string
	Style Style
}

// Cells returns plain cells.
func Cells(texts ...string) []Cell {
	out := make([]Cell, len(texts))
	for i, t := range texts {
		out[i].Text = t
	}
	return out
}

// gap separates two columns.
const gap = "  "

// Table adds rows in aligned columns. If the page is too narrow, it folds long names, wraps the columns that allow it,
// and then leaves out the columns that allow it. It returns the heads of the columns that it left out.
func (p *Page) Table(columns []Column, rows [][]Cell) (dropped []string) {
	widths := make([]int, len(columns))
	texts := make([][]string, len(rows))
	for i, c := range columns {
		widths[i] = Width(Visible(c.Head, ""))
	}
	for r, row := range rows {
		texts[r] = make([]string, len(columns))
		for i := range columns {
			texts[r][i] = Visible(row[i].Text, "")
			widths[i] = max(widths[i], Width(texts[r][i]))
		}
	}
	most := p.look.Columns
	if p.look.Whole {
		most = math.MaxInt32
	}
	shown := fitColumns(columns, widths, most)
	line := func(cell func(i int) (string, Style)) {
		parts, lines := make([][]string, len(columns)), 1
		for _, i := range shown {
			t, _ := cell(i)
			parts[i] = []string{Fold(t, widths[i])}
			if columns[i].Wrap && widths[i] > 0 {
				parts[i] = Wrap(t, widths[i])
			}
			lines = max(lines, len(parts[i]))
		}
		for n := range lines {
			text, blank := "", "" // blanks are written only before a text
			for k, i := range shown {
				if k > 0 {
					blank += gap
				}
				t := ""
				if n < len(parts[i]) {
					t = parts[i][n]
				}
				_, style := cell(i)
				space := strings.Repeat(" ", widths[i]-Width(t))
				if columns[i].Right {
					blank, space = blank+space, ""
				}
				if t != "" {
					text, blank = text+blank+p.withStyle(t, style), ""
				}
				blank += space
			}
			p.b.WriteString(text + "\n")
		}
	}
	if slices.ContainsFunc(columns, func(c Column) bool { return c.Head != "" }) {
		line(func(i int) (string, Style) { return Visible(columns[i].Head, ""), Faint })
	}
	for r := range rows {
		line(func(i int) (string, Style) { return texts[r][i], rows[r][i].Style })
	}
	for i, c := range columns {
		if !slices.Contains(shown, i) {
			dropped = append(dropped, c.Head)
		}
	}
	return dropped
}

// fitColumns narrows widths until a line fits, and returns the indices of the columns that are shown.
func fitColumns(columns []Column, widths []int, most int) []int {
	var shown []int
	for i := range columns {
		shown = append(shown, i)
	}
	for {
		over := -len(gap) - most
		for _, i := range shown {
			over += widths[i] + len(gap)
		}
		if over <= 0 {
			return shown
		}
		widest, last := -1, -1
		for k, i := range shown {
			if f := columns[i].Fold; f > 0 && widths[i] > f && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
			if d := columns[i].Drop; d > 0 && (last < 0 || d >= columns[shown[last]].Drop) {
				last = k
			}
		}
		foldable := 0
		for _, i := range shown {
			if f := columns[i].Fold; f > 0 {
				foldable += max(0, widths[i]-f)
			}
		}
		switch {
		case widest >= 0 && (foldable >= over || last < 0):
			widths[widest]--
		case last >= 0:
			shown = slices.Delete(shown, last, last+1)
		default:
			return shown
		}
	}
}
