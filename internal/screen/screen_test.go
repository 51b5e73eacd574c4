package screen

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Widths by the Unicode standard: East Asian wide characters take two columns, marks none.
func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "ages": 4, "± ε ≤ … –": 9, "日本": 4, "ｶﾅ": 2, "Ａ": 2, "e\u0301": 1,
		"한글 x": 6, "█▌": 2, "🙂": 2} {
		if got := Width(text); got != want {
			t.Errorf("%q: %d columns, want %d", text, got, want)
		}
	}
}

// What does not fit is left out of the middle, and no wide character is cut in two.
func TestFold(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"status", 6, "status"}, {"status", 5, "st…us"}, {"status", 4, "st…s"}, {"status", 1, "…"}, {"status", 0, ""},
		{"日本語日本語", 7, "日…本語"}, {"日本語日本語", 8, "日本…語"}, {"ab e\u0301", 3, "a…e\u0301"}, {"abcde\u0301", 4, "ab…e\u0301"},
	} {
		got := Fold(c.text, c.columns)
		if got != c.want || Width(got) > c.columns {
			t.Errorf("Fold(%q, %d) = %q of %d columns, want %q", c.text, c.columns, got, Width(got), c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    []string
	}{
		{"", 10, []string{""}},
		{"one two  three", 8, []string{"one two", "three"}},
		{"one two\nthree", 13, []string{"one two three"}},
		{"a longestword b", 6, []string{"a", "longes", "tword", "b"}},
		{"日本語 語", 5, []string{"日本", "語 語"}},
	} {
		if got := Wrap(c.text, c.columns); !slices.Equal(got, c.want) {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

// A bar is as long as its part, to an eighth of a column, and what is more than nothing shows.
func TestBar(t *testing.T) {
	for _, c := range []struct {
		part    float64
		columns int
		want    string
	}{{0, 4, ""}, {-1, 4, ""}, {1, 4, "████"}, {7, 4, "████"}, {0.5, 4, "██"}, {0.5, 1, "▌"}, {1e-9, 4, "▏"},
		{1.0 / 32, 4, "▏"}, {0.25, 3, "▊"}} {
		if got := Bar(c.part, c.columns); got != c.want {
			t.Errorf("Bar(%g, %d) = %q, want %q", c.part, c.columns, got, c.want)
		}
	}
}

// Whatever is in its cells, no line of a table is wider than the page: names are folded, then columns left out, the
// first to be dropped first, and columns line up.
func TestTableFits(t *testing.T) {
	columns := []Column{{Head: "table", Fold: 8}, {Head: "cells", Right: true}, {Head: "error", Right: true, Drop: 1},
		{Head: "note", Fold: 4, Drop: 2}}
	rows := [][]Cell{Cells("pairs/age.ten_x_education.school_x_region", "1 234", "12.5", "usable"),
		Cells("状況の表の名前", "7", "3", "")}
	for _, width := range []int{200, 60, 44, 40} {
		p := NewPage(Look{Columns: width})
		if dropped := p.Table(columns, rows); dropped != nil {
			t.Errorf("%d columns: %q are left out", width, dropped)
		}
		end := -1
		for i, line := range strings.Split(strings.TrimSuffix(string(p.Bytes()), "\n"), "\n") {
			if Width(line) > width {
				t.Errorf("%d columns: %q takes %d", width, line, Width(line))
			}
			figure := []string{"cells", "1 234", "7"}[i]
			at := Width(line[:strings.Index(line, figure)]) + Width(figure)
			if end >= 0 && at != end {
				t.Errorf("%d columns: numbers end at %d and %d", width, end, at)
			}
			end = at
		}
	}
	wide := append(slices.Clone(columns), Column{Head: strings.Repeat("x", 30), Drop: 1})
	p := NewPage(Look{Columns: 40})
	if dropped := p.Table(wide, [][]Cell{append(rows[0], Cell{})}); !slices.Equal(dropped,
		[]string{"note", wide[4].Head}) {
		t.Errorf("%q are left out", dropped)
	}
	p = NewPage(Look{Columns: 40, Whole: true})
	if dropped := p.Table(wide, [][]Cell{append(rows[0], Cell{})}); dropped != nil ||
		!strings.Contains(string(p.Bytes()), rows[0][0].Text) {
		t.Errorf("where nothing is to be cut, %q are left out of\n%s", dropped, p.Bytes())
	}
}

// A sentence in a table goes on in further lines of its column, and no word of it is left out.
func TestTableWraps(t *testing.T) {
	const note = "pay mean: withheld; pay q10: no interval; count: noise dominates"
	p := NewPage(Look{Columns: 40})
	p.Table([]Column{{Head: "region", Fold: 8}, {Head: "count", Right: true}, {Head: "note", Fold: 20, Wrap: true}},
		[][]Cell{Cells("North", "12", note), Cells("South", "7", "")})
	lines := strings.Split(strings.TrimSuffix(string(p.Bytes()), "\n"), "\n")
	var said []string
	for _, line := range lines[1 : len(lines)-1] {
		if Width(line) > 40 {
			t.Errorf("%q takes %d columns", line, Width(line))
		}
		said = append(said, strings.TrimSpace(line[min(len(line), len("region  count  ")):]))
	}
	if got := strings.Join(said, " "); got != note {
		t.Errorf("the note reads %q, want %q", got, note)
	}
	if got := lines[len(lines)-1]; got != "South       7" {
		t.Errorf("the row below is %q", got)
	}
}

// No text can command the terminal, and nothing is styled where there are no colours.
func TestHostileTexts(t *testing.T) {
	const hostile = "a\x1b[2Jb\r\u202ec\u009bd\x07"
	for _, look := range []Look{{Columns: 80}, {Columns: 80, Color: true}} {
		p := NewPage(look)
		p.Heading(hostile)
		p.Paragraph(hostile, Strong)
		p.Line(hostile, Alert)
		p.Item("• ", hostile)
		p.Verbatim(hostile)
		p.Table([]Column{{Head: hostile}}, [][]Cell{{{hostile, Good}}})
		text := string(p.Bytes())
		for _, style := range []Style{Strong, Faint, Alert, Good} {
			text = strings.ReplaceAll(text, "\x1b["+string(style)+"m", "")
		}
		if text = strings.ReplaceAll(text, "\x1b[0m", ""); strings.ContainsAny(text, "\x1b\r\u202e\u009b\x07") {
			t.Errorf("%+v: %q", look, text)
		}
		if styled := strings.Contains(string(p.Bytes()), "\x1b["); styled != look.Color {
			t.Errorf("%+v: styled: %v", look, styled)
		}
	}
}

func ExamplePage() {
	p := NewPage(Look{Columns: 40})
	p.Heading("Budget")
	p.Table([]Column{{Head: "leaf", Fold: 8}, {Head: "share"}, {Right: true}}, [][]Cell{
		Cells("headline", Bar(0.5, 8), "50%"), Cells("detail", Bar(0.125, 8), "12.5%"),
	})
	fmt.Fprintf(os.Stdout, "%s", p.Bytes())
	// Output:
	//
	// Budget
	// leaf      share
	// headline  ████     50%
	// detail    █      12.5%
}
