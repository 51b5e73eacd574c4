package files

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
)

// This file holds the set of the public files that one spec names, while it is read.

// Set opens the public files that a spec names, and keeps what is used of them: that becomes part of the plan.
type Set struct {
	findings *document.Findings
	open     Opener
	texts    map[string]string
	noted    map[string][]Digest
	tables   map[string]*tableUse
}

// tableUse is what is used of a public table.
type tableUse struct {
	at      document.Node // where it is named first
	read    []*Table      // each time that it was read
	columns map[string]bool
}

// NewSet returns the files that a document names, none of which is opened yet.
func NewSet(f *document.Findings, open Opener) *Set {
	return &Set{findings: f, open: open, tables: map[string]*tableUse{}}
}

// KeepFrom makes the set refuse the files of confidential sources. It comes before any file is opened.
func (s *Set) KeepFrom(sources []Confidential, all bool) { s.open.KeepFrom(sources, all) }

// ReadText reads a file that is named at a node, all of which is kept, once its reader has taken it. What it is called,
// and what it should be, is for messages; false where it is not read, which is reported.
func (s *Set) ReadText(at document.Node, k Kind, path string) (string, bool) {
	text, err := s.open.Text(path, k.most)
	if err != nil {
		s.unopened(at, k.what, path, k.expected, err)
		return "", false
	}
	return text, true
}

// KeepText keeps the text of a file.
func (s *Set) KeepText(path, text string) { s.keep(path, text, []Digest{DigestText(text)}) }

// ReadTable reads a public table of a format that is named at a node; false where it is not read, which is reported.
func (s *Set) ReadTable(at document.Node, what, path string, format Format) (*Unpacked, bool) {
	content, err := s.open.Table(path, format)
	if err != nil {
		s.unopened(at, what, path, says[format], err)
		return nil, false
	}
	return content, true
}

// Use notes that columns of a table are used, which is named at a node.
func (s *Set) Use(at document.Node, t *Table, columns ...string) {
	u := s.tables[t.File]
	if u == nil {
		u = &tableUse{at: at, columns: map[string]bool{}}
		s.tables[t.File] = u
	}
	if !slices.Contains(u.read, t) {
		u.read = append(u.read, t)
	}
	for _, name := range columns {
		u.columns[name] = true
	}
}

// mostKept bounds the bytes that a plan holds of a public table.
const mostKept = 64 << 20

// KeepTables keeps of each table the columns that are used, or its whole text where that is kept already or the table
// is read in two ways.
func (s *Set) KeepTables() {
	for path, u := range s.tables {
		first := u.read[0]
		_, whole := s.texts[path]
		whole = whole && first.isText() || slices.ContainsFunc(u.read, func(t *Table) bool { return t.Comma != first.Comma })
		text := first.text()
		if !whole {
			text = first.extract(u.columns)
		}
		if len(text) > mostKept {
			s.findings.Wrong(u.at, document.Problem{
				Message: fmt.Sprintf("%s holds %d MB in the columns that are used, which are part of the plan",
					document.Clip(path), len(text)>>20),
				Expected: fmt.Sprintf("at most %d MB: fewer rows, shorter keys, or codes in the place of names", mostKept>>20),
			})
		}
		s.keep(path, text, s.open.Digests(path))
	}
}

func (s *Set) keep(path, text string, digests []Digest) {
	if s.texts == nil {
		s.texts, s.noted = map[string]string{}, map[string][]Digest{}
	}
	s.texts[path], s.noted[path] = text, digests
}

// Kept are the texts that are kept, by the paths of their files, with the digests of these; nil where there are none.
func (s *Set) Kept() (texts map[string]string, digests map[string][]Digest) {
	return s.texts, s.noted
}

// unopened reports a public file that was not read.
func (s *Set) unopened(at document.Node, what, path, expected string, err error) {
	if errors.Is(err, errNotOpened) {
		return
	}
	p := document.Problem{
		Message:  fmt.Sprintf("%s %q cannot be read: %s", what, document.Clip(path), Explain(err)),
		Expected: expected + ", relative to the folder of the spec",
	}
	var u *unfit
	if errors.As(err, &u) {
		p.Message, p.Expected = fmt.Sprintf("%s %q %s", what, document.Clip(path), u.says), u.expected
	}
	s.findings.Wrong(at, p)
}
