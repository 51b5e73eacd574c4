package domain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds the code book: a public CSV file of codes, labels and parents.

// codebook is a public file of codes, in column 0, with their labels and parents.
type codebook struct{ files.Table }

// parseCodebook reads a code book: a header, then a row for each code.
func parseCodebook(file, text string) (*codebook, *document.Problem) {
	b := &codebook{files.Table{File: file, Description: "code book", RowNoun: "codes", Headed: "code,label",
		Comma: ','}}
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
			return nil, b.Problem(b.RowLines[i], 1, "an empty code", "a code in the first column")
		case first > 0:
			return nil, b.Problem(b.RowLines[i], 1, fmt.Sprintf("duplicate code %q", document.Clip(row[0])),
				fmt.Sprintf("each code once; the first is in line %d", first))
		}
		seen[row[0]] = b.RowLines[i]
	}
	if p := b.checkParents(); p != nil {
		return nil, p
	}
	return b, nil
}

// checkParents checks a column named parent whose values are codes of the same book: every parent must be a code, and
// following parents must end at a code without a parent or at its own parent. If the column contains none of the book's
// codes, the parents are codes of another list, and nothing is checked.
func (b *codebook) checkParents() *document.Problem {
	column := slices.Index(b.Header, "parent")
	if column < 1 {
		return nil
	}
	rowOfCode := make(map[string]int, len(b.Rows))
	for i, row := range b.Rows {
		rowOfCode[row[0]] = i
	}
	hasParent := func(row []string) bool { _, ok := rowOfCode[row[column]]; return ok }
	if !slices.ContainsFunc(b.Rows, hasParent) {
		return nil
	}
	for i, row := range b.Rows {
		if row[column] != "" && !hasParent(row) {
			return b.Problem(b.RowLines[i], 1,
				fmt.Sprintf("code %q is an orphan: its parent %q is no code of this book",
					document.Clip(row[0]), document.Clip(row[column])),
				"a line for the parent; where parents are codes of another list, another name for the column")
		}
	}
	visited := make([]int, len(b.Rows)) // by row, the start of the walk that visited it, plus one
	for start := range b.Rows {
		for i := start; visited[i] == 0; {
			visited[i] = start + 1
			up, ok := rowOfCode[b.Rows[i][column]]
			if ok && up != i && visited[up] == start+1 {
				return b.Problem(b.RowLines[i], 1,
					fmt.Sprintf("code %q lies within itself, by way of its parent %q: a cycle",
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

// labelColumn returns the index of the column with the labels of a column, -1 if there is none.
func (b *codebook) labelColumn(column int) int {
	if column == 0 {
		if i := slices.Index(b.Header, "label"); i > 0 {
			return i
		}
	}
	return slices.Index(b.Header, b.Header[column]+"_label")
}

// levelColumns returns the names of the columns that can be levels.
func (b *codebook) levelColumns() []string {
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

// codeColumns returns the columns that are not labels.
func (b *codebook) codeColumns() map[string]bool {
	all := map[string]bool{b.Header[0]: true}
	for _, name := range b.levelColumns() {
		all[name] = true
	}
	return all
}

// codeCategories returns the codes with their labels, in row order.
func (b *codebook) codeCategories() []Category {
	label := b.labelColumn(0)
	all := make([]Category, len(b.Rows))
	for i, row := range b.Rows {
		all[i].Code = row[0]
		if label > 0 {
			all[i].Label = row[label]
		}
	}
	return all
}

// columnLevel returns the level of a parent column: its categories in order of first appearance, and the parent of each
// code.
func (b *codebook) columnLevel(column int) (*Level, *document.Problem) {
	l := &Level{Name: b.Header[column], CategoryOf: make([]uint32, len(b.Rows))}
	label, seen, trimmed := b.labelColumn(column), map[string]uint32{}, map[string]string{}
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
			return nil, b.Problem(b.RowLines[i], 1, fmt.Sprintf("an empty code in column %s", l.Name),
				"a code in each column that is a level")
		case !known:
			code = uint32(len(l.Categories))
			seen[c.Code] = code
			l.Categories = append(l.Categories, c)
		case l.Categories[code].Label != c.Label:
			return nil, b.Problem(b.RowLines[i], 1, fmt.Sprintf("%s %q has two labels", l.Name, document.Clip(c.Code)),
				fmt.Sprintf("%q as before", document.Clip(l.Categories[code].Label)))
		}
		l.CategoryOf[i] = code
	}
	return l, nil
}

// checkBlanks reports a code that differs from an earlier one only by blanks around it. trimmed maps earlier codes
// without blanks to the codes as written.
func (b *codebook) checkBlanks(row int, code string, trimmed map[string]string) *document.Problem {
	bare := strings.TrimSpace(code)
	first, known := trimmed[bare]
	switch {
	case !known:
		trimmed[bare] = code
	case first != code:
		return b.Problem(b.RowLines[row], 1, fmt.Sprintf("the codes %q and %q differ by blanks alone",
			document.Clip(first),
			document.Clip(code)), "one of the two throughout")
	}
	return nil
}

// checkNesting reports a category of the finer level that lies in two of the coarser.
func (b *codebook) checkNesting(coarse, fine *Level) *document.Problem {
	parent := make([]int, len(fine.Categories))
	for i := range b.Rows {
		child, group := fine.CategoryOf[i], int(coarse.CategoryOf[i])+1
		if parent[child] == 0 {
			parent[child] = group
		}
		if parent[child] != group {
			return b.Problem(b.RowLines[i], 1,
				fmt.Sprintf("%s %q lies in %s %q and in %q: levels must nest", fine.Name,
					document.Clip(fine.Categories[child].Code),
					coarse.Name, document.Clip(coarse.Categories[parent[child]-1].Code),
					document.Clip(coarse.Categories[group-1].Code)),
				fmt.Sprintf("one %s for each %s", coarse.Name, fine.Name))
		}
	}
	return nil
}
