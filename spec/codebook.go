package spec

// This file holds the code book: a public CSV file of codes, labels and parents.

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/spec/document"
)

// codebook is a code book as a table. Column 0 holds the codes.
type codebook struct {
	file    string
	what    string // it is called
	rowsAre string // what its rows are
	headed  string // what stands in its first line
	comma   rune
	lines   []string
	header  []string
	rows    [][]string
	at      []int // the line of each row
}

// bookProblem is a problem in a line of a code book.
func (b *codebook) problem(line, column int, message, expected string) *document.Problem {
	p := &document.Problem{File: b.file, Line: max(line, 1), Column: max(column, 1), Message: message, Expected: expected}
	if p.Line <= len(b.lines) {
		p.Snippet = strings.TrimSuffix(b.lines[p.Line-1], "\r")
	}
	return p
}

// parseCodebook reads a code book: a header, then a row for each code.
func parseCodebook(file, text string) (*codebook, *document.Problem) {
	b := &codebook{file: file, what: "code book", rowsAre: "codes", headed: "code,label", comma: ','}
	if p := b.parse(text); p != nil {
		return nil, p
	}
	if column := slices.Index(b.header, "code"); column > 0 {
		return nil, b.problem(1, 1, fmt.Sprintf("the codes are in the first column, %q, and column %d is called code", document.Clip(b.header[0]), column+1), "the column of the codes first, and another name for the other")
	}
	seen, trimmed := make(map[string]int, len(b.rows)), map[string]string{}
	for i, row := range b.rows {
		if p := b.checkBlanks(i, row[0], trimmed); p != nil {
			return nil, p
		}
		switch first := seen[row[0]]; {
		case row[0] == "":
			return nil, b.problem(b.at[i], 1, "an empty code", "a code in the first column")
		case first > 0:
			return nil, b.problem(b.at[i], 1, fmt.Sprintf("duplicate code %q", document.Clip(row[0])), fmt.Sprintf("each code once; the first is in line %d", first))
		}
		seen[row[0]] = b.at[i]
	}
	if p := b.checkParents(); p != nil {
		return nil, p
	}
	return b, nil
}

// parse reads header and rows of a text, and checks the header.
func (b *codebook) parse(text string) *document.Problem {
	text = strings.TrimPrefix(text, "\ufeff")
	if lines := strings.Count(text, "\n"); lines > maxCells+1 { // the header's and those of as many rows: counted before memory is set aside
		return b.problem(1, 1, fmt.Sprintf("%d lines", lines), fmt.Sprintf("at most %d below the header", maxCells))
	}
	if line := longLine(text); line > 0 {
		return b.problem(line, 1, "a line of more than "+regular.Size(mostLine), "shorter lines")
	}
	b.lines = strings.Split(text, "\n")
	for i, line := range b.lines {
		if !utf8.ValidString(line) {
			p := b.problem(i+1, 1, "not UTF-8", "a CSV file in UTF-8")
			p.Snippet = strings.ToValidUTF8(p.Snippet, "\ufffd")
			return p
		}
	}
	if p := b.readRows(text, MaxPublicFields); p != nil {
		return p
	}
	return b.checkHeader()
}

// checkParents checks a column called parent whose values are codes of the book itself: each is one, and going from parent to
// parent ends, at a code without one or at one that is its own. A book whose column holds none of its codes lists them
// elsewhere, and there is nothing to follow.
func (b *codebook) checkParents() *document.Problem {
	column := slices.Index(b.header, "parent")
	if column < 1 {
		return nil
	}
	of := make(map[string]int, len(b.rows)) // code to row
	for i, row := range b.rows {
		of[row[0]] = i
	}
	within := func(row []string) bool { _, ok := of[row[column]]; return ok }
	if !slices.ContainsFunc(b.rows, within) {
		return nil
	}
	for i, row := range b.rows {
		if row[column] != "" && !within(row) {
			return b.problem(b.at[i], 1, fmt.Sprintf("code %q is an orphan: its parent %q is no code of this book", document.Clip(row[0]), document.Clip(row[column])),
				"a line for the parent; where parents are codes of another list, another name for the column")
		}
	}
	ended := make([]int, len(b.rows)) // by row, the walk that came by, plus one
	for start := range b.rows {
		for i := start; ended[i] == 0; {
			ended[i] = start + 1
			up, ok := of[b.rows[i][column]]
			if ok && up != i && ended[up] == start+1 {
				return b.problem(b.at[i], 1, fmt.Sprintf("code %q lies within itself, by way of its parent %q: a cycle", document.Clip(b.rows[i][0]), document.Clip(b.rows[i][column])),
					"parents that end at a code without one")
			}
			if ok {
				i = up
			}
		}
	}
	return nil
}

// maxDelimiters bounds those of a row, within quotes as well.
const maxDelimiters = 1 << 20

var errTooWide = fmt.Errorf("a row with more than %d delimiters", maxDelimiters)

// narrow is the text of a table, which ends with [errTooWide] in a row that is too wide: the reader of rows would hold all of its fields first.
type narrow struct {
	text       *strings.Reader
	delimiter  []byte
	delimiters int // read of the row
}

func (n *narrow) Read(into []byte) (int, error) {
	if n.delimiters > maxDelimiters {
		return 0, errTooWide
	}
	read, err := n.text.Read(into)
	n.delimiters += bytes.Count(into[:read], n.delimiter)
	return read, err
}

// readRows reads header and rows, of `most` fields together.
func (b *codebook) readRows(text string, most int) *document.Problem {
	within := &narrow{text: strings.NewReader(text), delimiter: []byte(string(b.comma))}
	r := csv.NewReader(within)
	r.Comma = b.comma
	all, err := r.Read()
	for ; err == nil; all, err = r.Read() {
		line, _ := r.FieldPos(0)
		within.delimiters = 0
		if most -= len(all); most < 0 {
			return b.problem(line, 1, "more fields than are read of a "+b.what, "fewer "+b.rowsAre+" or columns")
		}
		if b.header == nil {
			b.header = all
			continue
		}
		b.rows, b.at = append(b.rows, all), append(b.at, line)
		if len(b.rows) > maxCells {
			return b.problem(line, 1, errTooFine.Error(), "fewer "+b.rowsAre)
		}
	}
	var broken *csv.ParseError
	switch {
	case errors.Is(err, errTooWide):
		b.lines = nil // no line of them is shown
		return b.problem(1, 1, err.Error(), "fewer columns")
	case errors.As(err, &broken) && errors.Is(err, csv.ErrFieldCount):
		return b.problem(broken.Line, 1, fmt.Sprintf("%d fields", len(all)), fmt.Sprintf("%d fields, as in the header", len(b.header)))
	case errors.As(err, &broken):
		return b.problem(broken.Line, broken.Column, "not CSV: "+broken.Err.Error(), b.fields())
	case b.header == nil:
		return b.problem(1, 1, "the "+b.what+" is empty", "a header line, as "+b.headed)
	case len(b.rows) == 0:
		return b.problem(1, 1, "the "+b.what+" has no "+b.rowsAre, "a line for each "+strings.TrimSuffix(b.rowsAre, "s")+" below the header")
	}
	return nil
}

// fields says how the fields of a line are parted.
func (b *codebook) fields() string {
	if b.comma == ',' {
		return "fields parted by commas, in double quotes where they hold commas or quotes"
	}
	return fmt.Sprintf("fields parted by %q, in double quotes where they hold it or quotes", b.comma)
}

func (b *codebook) checkHeader() *document.Problem {
	if i := strings.IndexAny(b.header[0], ";\t|"); len(b.header) == 1 && b.comma == ',' && i >= 0 {
		return b.problem(1, 1, fmt.Sprintf("the header is one field, with %q in it", b.header[0][i:i+1]), "fields separated by commas")
	}
	for i, name := range b.header {
		switch {
		case name == "":
			return b.problem(1, 1, fmt.Sprintf("column %d has no name", i+1), "a name for each column")
		case slices.Contains(b.header[:i], name):
			return b.problem(1, 1, fmt.Sprintf("column %q is there twice", document.Clip(name)), "each column once")
		}
	}
	return nil
}

// labels is the index of the column that labels a column, -1 where there is none.
func (b *codebook) labels(column int) int {
	if column == 0 {
		if i := slices.Index(b.header, "label"); i > 0 {
			return i
		}
	}
	return slices.Index(b.header, b.header[column]+"_label")
}

// parents are the columns that can be levels.
func (b *codebook) parents() []string {
	var names []string
	for i, name := range b.header {
		_, isLabel := strings.CutSuffix(name, "_label")
		isLabel = isLabel && slices.Contains(b.header, strings.TrimSuffix(name, "_label"))
		if i > 0 && name != "label" && !isLabel {
			names = append(names, name)
		}
	}
	return names
}

// codes are the codes with their labels, in row order.
func (b *codebook) codes() []Category {
	label := b.labels(0)
	all := make([]Category, len(b.rows))
	for i, row := range b.rows {
		all[i].Code = row[0]
		if label > 0 {
			all[i].Label = row[label]
		}
	}
	return all
}

// level is the level of a parent column: its categories in order of first appearance, and
// the parent of each code.
func (b *codebook) level(column int) (*Level, *document.Problem) {
	l := &Level{Name: b.header[column], Of: make([]uint32, len(b.rows))}
	label, seen, trimmed := b.labels(column), map[string]uint32{}, map[string]string{}
	for i, row := range b.rows {
		if p := b.checkBlanks(i, row[column], trimmed); p != nil {
			return nil, p
		}
		c := Category{Code: row[column]}
		if label > 0 {
			c.Label = row[label]
		}
		code, known := seen[c.Code]
		switch {
		case c.Code == "":
			return nil, b.problem(b.at[i], 1, fmt.Sprintf("an empty code in column %s", l.Name), "a code in each column that is a level")
		case !known:
			code = uint32(len(l.Categories))
			seen[c.Code] = code
			l.Categories = append(l.Categories, c)
		case l.Categories[code].Label != c.Label:
			return nil, b.problem(b.at[i], 1, fmt.Sprintf("%s %q has two labels", l.Name, document.Clip(c.Code)), fmt.Sprintf("%q as before", document.Clip(l.Categories[code].Label)))
		}
		l.Of[i] = code
	}
	return l, nil
}

// checkBlanks reports a code that differs from one of an earlier row by blanks around it alone. trimmed holds the codes of the rows
// before, by what they are without blanks.
func (b *codebook) checkBlanks(row int, code string, trimmed map[string]string) *document.Problem {
	bare := strings.TrimSpace(code)
	first, known := trimmed[bare]
	if !known {
		trimmed[bare] = code
	} else if first != code {
		return b.problem(b.at[row], 1, fmt.Sprintf("the codes %q and %q differ by blanks alone", document.Clip(first), document.Clip(code)), "one of the two throughout")
	}
	return nil
}

// nests reports a code of the finer level that lies in two of the coarser.
func (b *codebook) nests(coarse, fine *Level) *document.Problem {
	parent := make([]int, len(fine.Categories))
	for i := range b.rows {
		child, above := fine.Of[i], int(coarse.Of[i])+1
		if parent[child] == 0 {
			parent[child] = above
		}
		if parent[child] != above {
			return b.problem(b.at[i], 1,
				fmt.Sprintf("%s %q lies in %s %q and in %q: levels must nest", fine.Name, document.Clip(fine.Categories[child].Code),
					coarse.Name, document.Clip(coarse.Categories[parent[child]-1].Code), document.Clip(coarse.Categories[above-1].Code)),
				fmt.Sprintf("one %s for each %s", coarse.Name, fine.Name))
		}
	}
	return nil
}
