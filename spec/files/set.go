package files

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
)

// This file holds the set of public files that one spec names, while the spec is read.

// Set opens the public files that a spec names, and keeps the parts that are used, which become part of the plan.
type Set struct {
	findings  *document.Findings
	opener    Opener
	texts     map[string]string
	digests   map[string][]Digest
	withWords map[string][]Digest
	tables    map[string]*tableUse
}

// tableUse describes the use of a public table.
type tableUse struct {
	at      document.Node // where it is named first
	read    []*Table      // one for each time that it was read
	columns map[string]bool
}

// NewSet returns the files that a document names, none of which has been opened yet.
func NewSet(f *document.Findings, open Opener) *Set {
	return &Set{findings: f, opener: open, tables: map[string]*tableUse{}}
}

// RefuseConfidential makes the set refuse the files of confidential sources. It must be called before any file is
// opened.
func (s *Set) RefuseConfidential(sources []Confidential, all bool) {
	s.opener.RefuseConfidential(sources, all)
}

// ReadText reads a file that is named at a node. The caller keeps all of it with KeepText once its reader has accepted
// it. It returns false and reports a problem if the file is not read.
func (s *Set) ReadText(at document.Node, k Kind, path string) (string, bool) {
	text, err := s.opener.Text(path, k.most)
	if err != nil {
		s.reportUnopened(at, k.what, path, k.expected, err)
		return "", false
	}
	return text, true
}

// KeepText keeps the text of a file for the plan.
func (s *Set) KeepText(path, text string) { s.keep(path, text, []Digest{DigestText(text)}) }

// KeepColumns keeps some columns of a table for the plan, and the digest of its whole text for the words.
func (s *Set) KeepColumns(path, text string, t *Table, columns map[string]bool) {
	s.keep(path, t.extractColumns(columns), nil)
	if s.withWords == nil {
		s.withWords = map[string][]Digest{}
	}
	s.withWords[path] = []Digest{DigestText(text)}
}

// ReadTable reads a public table of a format, named at a node. It returns false and reports a problem if the table is
// not read.
func (s *Set) ReadTable(at document.Node, what, path string, format Format) (*Unpacked, bool) {
	content, err := s.opener.Table(path, format)
	if err != nil {
		s.reportUnopened(at, what, path, formatNames[format], err)
		return nil, false
	}
	return content, true
}

// Use records that columns of a table are used at a node.
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

// mostKept bounds the bytes that a plan contains of a public table.
const mostKept = 64 << 20

// KeepTables keeps the used columns of each table. It keeps the whole text of a table whose text is kept already, or
// that is read with different delimiters.
func (s *Set) KeepTables() {
	for path, u := range s.tables {
		first := u.read[0]
		_, whole := s.texts[path]
		whole = whole && first.isText() ||
			slices.ContainsFunc(u.read, func(t *Table) bool { return t.Comma != first.Comma })
		text := first.joinedText()
		if !whole {
			text = first.extractColumns(u.columns)
		}
		if len(text) > mostKept {
			s.findings.AddProblem(u.at, document.Problem{
				Message: fmt.Sprintf("%s holds %d MB in the columns that are used, which are part of the plan",
					document.Clip(path), len(text)>>20),
				Expected: fmt.Sprintf("at most %d MB: fewer rows, shorter keys, or codes in the place of names",
					mostKept>>20),
			})
		}
		s.keep(path, text, s.opener.Digests(path))
	}
}

func (s *Set) keep(path, text string, digests []Digest) {
	if s.texts == nil {
		s.texts = map[string]string{}
	}
	if s.texts[path] = text; digests == nil {
		return
	}
	if s.digests == nil {
		s.digests = map[string][]Digest{}
	}
	s.digests[path] = digests
}

// KeptTexts returns the texts that are kept for the plan, by the paths of their files, with the digests of the files;
// nil if there are none. The digests of files that also contain words are separate: those change with the words.
func (s *Set) KeptTexts() (texts map[string]string, digests, withWords map[string][]Digest) {
	return s.texts, s.digests, s.withWords
}

// reportUnopened reports a public file that was not read.
func (s *Set) reportUnopened(at document.Node, what, path, expected string, err error) {
	if errors.Is(err, errNotOpened) {
		return
	}
	p := document.Problem{
		Message:  fmt.Sprintf("%s %q cannot be read: %s", what, document.Clip(path), Explain(err)),
		Expected: expected + ", relative to the folder of the spec",
	}
	var u *unfitError
	if errors.As(err, &u) {
		p.Message, p.Expected = fmt.Sprintf("%s %q %s", what, document.Clip(path), u.says), u.expected
	}
	s.findings.AddProblem(at, p)
}
