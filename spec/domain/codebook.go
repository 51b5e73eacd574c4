package domain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds the code book: a public CSV file of codes, labels and parents.

// codebook is a public file of codes, which are in column 0, with their labels and parents.
type codebook struct{ files.Table }

// parseCodebook reads a code book: a header, then a row for each code.
func parseCodebook(file, text string) (*codebook, *document.Problem) {
	b := &codebook{files.Table{File: file, What: "code book", RowsAre: "codes", Headed: "code,label", Comma: ','}}
	if p := b.Parse(text); p != nil {
		return nil, p
	}
	if column := slices.Index(b.Header, "code"); column > 0 {
		return nil, b.Problem(1, 1, fmt.Sprintf("the codes are in the first column, %q, and column %d is called code",
			document.Clip(b.Header[0]), column+1), "the column of the codes first, and another name for the other")
	}
	seen, trimmed := make(map[string]int, len(b.Rows)), map[string]string{}
	for i, row := range b.Rows {
		if p := b.checkBlanks(i, row[0], trimmed); p != nil {
			return nil, p
		}
		switch first := seen[row[0]]; {
		case row[0] == "":
			return nil, b.Problem(b.At[i], 1, "an empty code", "a code in the first column")
		case first > 0:
			return nil, b.Problem(b.At[i], 1, fmt.Sprintf("duplicate code %q", document.Clip(row[0])),
				fmt.Sprintf("each code once; the first is in line %d", first))
		}
		seen[row[0]] = b.At[i]
	}
	if p := b.checkParents(); p != nil {
		return nil, p
	}
	return b, nil
}

// checkParents checks a column called parent whose values are codes of the book itself: each is one, and going from
// parent to parent ends, at a code without one or at one that is its own. A book whose column holds none of its codes
// lists them elsewhere, and there is nothing to follow.
func (b *codebook) checkParents() *document.Problem {
	column := slices.Index(b.Header, "parent")
	if column < 1 {
		return nil
	}
	of := make(map[string]int, len(b.Rows)) // code to row
	for i, row := range b.Rows {
		of[row[0]] = i
	}
	within := func(row []string) bool { _, ok := of[row[column]]; return ok }
	if !slices.ContainsFunc(b.Rows, within) {
		return nil
	}
	for i, row := range b.Rows {
		if row[column] != "" && !within(row) {
			return b.Problem(b.At[i], 1, fmt.Sprintf("code %q is an orphan: its parent %q is no code of this book",
				document.Clip(row[0]), document.Clip(row[column])),
				"a line for the parent; where parents are codes of another list, another name for the column")
		}
	}
	ended := make([]int, len(b.Rows)) // by row, the walk that came by, plus one
	for start := range b.Rows {
		for i := start; ended[i] == 0; {
			ended[i] = start + 1
			up, ok := of[b.Rows[i][column]]
			if ok && up != i && ended[up] == start+1 {
				return b.Problem(b.At[i], 1, fmt.Sprintf("code %q lies within itself, by way of its parent %q: a cycle",
					document.Clip(b.Rows[i][0]), document.Clip(b.Rows[i][column])),
					"parents that end at a code without one")
			}
			if ok {
				i = up
			}
		}
	}
	return nil
}

// labels is the index of the column that labels a column, -1 where there is none.
func (b *codebook) labels(column int) int {
	if column == 0 {
		if i := slices.Index(b.Header, "label"); i > 0 {
			return i
		}
	}
	return slices.Index(b.Header, b.Header[column]+"_label")
}

// parents are the columns that can be levels.
func (b *codebook) parents() []string {
	var names []string
	for i, name := range b.Header {
		_, isLabel := strings.CutSuffix(name, "_label")
		isLabel = isLabel && slices.Contains(b.Header, strings.TrimSuffix(name, "_label"))
		if i > 0 && name != "label" && !isLabel {
			names = append(names, name)
		}
	}
	return names
}

// codes are the codes with their labels, in row order.
func (b *codebook) codes() []Category {
	label := b.labels(0)
	all := make([]Category, len(b.Rows))
	for i, row := range b.Rows {
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
	l := &Level{Name: b.Header[column], Of: make([]uint32, len(b.Rows))}
	label, seen, trimmed := b.labels(column), map[string]uint32{}, map[string]string{}
	for i, row := range b.Rows {
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
			return nil, b.Problem(b.At[i], 1, fmt.Sprintf("an empty code in column %s", l.Name),
				"a code in each column that is a level")
		case !known:
			code = uint32(len(l.Categories))
			seen[c.Code] = code
			l.Categories = append(l.Categories, c)
		case l.Categories[code].Label != c.Label:
			return nil, b.Problem(b.At[i], 1, fmt.Sprintf("%s %q has two labels", l.Name, document.Clip(c.Code)),
				fmt.Sprintf("%q as before", document.Clip(l.Categories[code].Label)))
		}
		l.Of[i] = code
	}
	return l, nil
}

// checkBlanks reports a code that differs from one of an earlier row by blanks around it alone. trimmed holds the codes
// of the rows before, by what they are without blanks.
func (b *codebook) checkBlanks(row int, code string, trimmed map[string]string) *document.Problem {
	bare := strings.TrimSpace(code)
	first, known := trimmed[bare]
	switch {
	case !known:
		trimmed[bare] = code
	case first != code:
		return b.Problem(b.At[row], 1, fmt.Sprintf("the codes %q and %q differ by blanks alone", document.Clip(first),
			document.Clip(code)), "one of the two throughout")
	}
	return nil
}

// nests reports a code of the finer level that lies in two of the coarser.
func (b *codebook) nests(coarse, fine *Level) *document.Problem {
	parent := make([]int, len(fine.Categories))
	for i := range b.Rows {
		child, above := fine.Of[i], int(coarse.Of[i])+1
		if parent[child] == 0 {
			parent[child] = above
		}
		if parent[child] != above {
			return b.Problem(b.At[i], 1,
				fmt.Sprintf("%s %q lies in %s %q and in %q: levels must nest", fine.Name,
					document.Clip(fine.Categories[child].Code),
					coarse.Name, document.Clip(coarse.Categories[parent[child]-1].Code),
					document.Clip(coarse.Categories[above-1].Code)),
				fmt.Sprintf("one %s for each %s", coarse.Name, fine.Name))
		}
	}
	return nil
}
