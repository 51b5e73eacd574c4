package screen

import (
	"math"
	"slices"
	"strings"
)

// This file holds the page: paragraphs, lists and tables, one below the other, as wide as the terminal.

// Look is how a page is to look.
type Look struct {
	Columns int  // how wide the terminal is
	Whole   bool // whether tables may be wider, with all that they have
	Color   bool // whether it shows bold type and colours
}

// least is the fewest columns that a page is laid out for: a narrower terminal wraps by itself.
const least = 40

// Style is how a text is set. Nothing is told by its style alone.
type Style string

// The styles, as the attributes of a terminal.
const (
	Plain  Style = ""
	Strong Style = "1"
	Faint  Style = "2"
	Good   Style = "32"
	Middle Style = "33"
	Poor   Style = "31"
	Alert  Style = "1;7"
)

// Page is a page in the making.
type Page struct {
	look Look
	b    strings.Builder
}

// NewPage begins a page.
func NewPage(look Look) *Page {
	look.Columns = max(look.Columns, least)
	return &Page{look: look}
}

// Bytes is the page so far.
func (p *Page) Bytes() []byte { return []byte(p.b.String()) }

// Columns is how wide the page is.
func (p *Page) Columns() int { return p.look.Columns }

// styled sets a text that is visible already.
func (p *Page) styled(text string, style Style) string {
	if !p.look.Color || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Blank leaves a line.
func (p *Page) Blank() { p.b.WriteString("\n") }

// Heading begins a part of the page.
func (p *Page) Heading(text string) {
	p.Blank()
	p.Paragraph(text, Strong)
}

// Paragraph sets a text in lines that fit.
func (p *Page) Paragraph(text string, style Style) {
	for _, line := range Wrap(Visible(text, "\n\t"), p.look.Columns) {
		p.b.WriteString(p.styled(line, style) + "\n")
	}
}

// Line sets a text that may be copied: it is not wrapped, and only what it tells a terminal is made visible.
func (p *Page) Line(text string, style Style) {
	p.b.WriteString(p.styled(Visible(text, ""), style) + "\n")
}

// Verbatim sets a text in the lines that it has.
func (p *Page) Verbatim(text string) { p.b.WriteString(Visible(text, "\n\t")) }

// Item sets a text as one of a list: behind a mark, its lines below each other.
func (p *Page) Item(mark, text string) {
	mark = Visible(mark, "")
	for i, line := range Wrap(Visible(text, "\n\t"), p.look.Columns-Width(mark)) {
		if i > 0 {
			mark = strings.Repeat(" ", Width(mark))
		}
		p.b.WriteString(mark + line + "\n")
	}
}

// Column is one of a table.
type Column struct {
	Head  string
	Right bool // numbers stand to the right
	// Fold is the width to which its cells may be folded where the table is wider than the page; 0 for never.
	Fold int
	// Wrap sets a text that is folded in several lines, with nothing left out of it: it is a sentence and no name.
	Wrap bool
	// Drop says how soon the column is left out where folding is not enough: the highest first, and none of 0.
	Drop int
}

// Cell is one of a table.
type Cell struct {
	Text  string
	Style Style
}

// Cells are plain ones.
func Cells(texts ...string) []Cell {
	out := make([]Cell, len(texts))
	for i, t := range texts {
		out[i].Text = t
	}
	return out
}

// gap stands between two columns.
const gap = "  "

// Table sets rows in columns that line up. Where the page is too narrow, long names are folded, columns that say so go
// on in further lines, and then the columns left out that say so, which are returned by their heads.
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
	shown := fit(columns, widths, most)
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
			text, blank := "", "" // blanks are written when something follows them
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
					text, blank = text+blank+p.styled(t, style), ""
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

// fit narrows widths until a line fits, and says which columns are shown.
func fit(columns []Column, widths []int, most int) []int {
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
