package document

// This file holds the findings: the problems collected over one document, with the marks that keep one mistake from
// being reported twice.

import (
	"cmp"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Findings collects the problems of one document.
type Findings struct {
	Suggestions
	File     string // the name of the document
	text     string
	lines    []string
	problems []finding
	warnings []finding
	unbuilt  []Unbuilt
	// unsound marks the nodes that have a problem in or under them, unfinished the nodes with a part that is not built.
	unsound, unfinished map[*yaml.Node]bool
	// refused marks keys that are not read: duplicates, merge keys, invalid names.
	refused map[*yaml.Node]bool
}

// finding is a problem and the position in the document at which it is listed.
type finding struct {
	Problem
	line, column int
}

// Unbuilt is one use of a part of the language that this version does not build.
type Unbuilt struct {
	Path, Feature string
	Line, Column  int
}

// NewFindings returns the findings of a text, of which there are none so far. file names the document in messages.
func NewFindings(file, text string) *Findings {
	return &Findings{
		File:       file,
		text:       text,
		lines:      strings.Split(text, "\n"),
		unsound:    map[*yaml.Node]bool{},
		unfinished: map[*yaml.Node]bool{},
		refused:    map[*yaml.Node]bool{},
	}
}

// Report adds a problem at a YAML node. It fills in the file, the position and the snippet.
func (f *Findings) Report(at *yaml.Node, path string, p Problem) {
	f.problems = append(f.problems, f.withPosition(at, path, p))
	f.unsound[at] = true
}

// AddProblem reports a problem with a value.
func (f *Findings) AddProblem(n Node, p Problem) { f.Report(n.Position(), n.Path, p) }

// WrongKey reports a problem with the key of a value, or with everything under it.
func (f *Findings) WrongKey(n Node, p Problem) { f.Report(n.Key, n.Path, p) }

// Number reads an exact number from a text that has the syntax of one. It reports a number beyond the limits.
func (f *Findings) Number(n Node) (*big.Rat, bool) {
	x, err := ParseNumber(n.Text())
	if err != nil {
		f.AddProblem(n, Problem{Message: err.Error(), Expected: "a shorter number"})
		return nil, false
	}
	return x, true
}

// WithNearest adds the nearest valid name to a problem with a value, and the line corrected with it. It returns the
// problem unchanged if near is "".
func (f *Findings) WithNearest(n Node, p Problem, near string) Problem {
	if near != "" {
		p.Nearest, p.Fix = near, f.RepairedLine(n.Value, near)
	}
	return p
}

// Among adds to a problem with an invalid name the nearest of the valid names.
func (f *Findings) Among(n Node, p Problem, names []string) Problem {
	return f.WithNearest(n, p, f.Nearest(n.Text(), names))
}

// ReportAt adds a problem at a position.
func (f *Findings) ReportAt(line, column int, path string, p Problem) {
	f.Report(&yaml.Node{Line: line, Column: column}, path, p)
}

// ReportIn adds a problem of another file, listed at the node that names that file.
func (f *Findings) ReportIn(at *yaml.Node, path string, p Problem) {
	p.Path = path
	f.problems = append(f.problems, finding{p, at.Line, at.Column})
	f.unsound[at] = true
}

// Warn adds a warning with a message and its arguments, as for [fmt.Sprintf].
func (f *Findings) Warn(at *yaml.Node, path string, p Problem, text string, args ...any) {
	p.Message, p.said = fmt.Sprintf(text, args...), &message{text, args}
	f.warnings = append(f.warnings, f.withPosition(at, path, p))
}

// NotBuilt records the use of a feature that this version does not build.
func (f *Findings) NotBuilt(at *yaml.Node, path, feature string) {
	p := f.withPosition(at, path, Problem{Message: feature + ": not supported by this version", Unbuilt: true})
	f.problems = append(f.problems, p)
	f.unbuilt = append(f.unbuilt, Unbuilt{Path: path, Feature: feature, Line: p.Line, Column: p.Column})
	f.unfinished[at] = true
}

// Refuse reports a key and excludes its entry from [Findings.Entries].
func (f *Findings) Refuse(key *yaml.Node, path string, p Problem) {
	f.refused[key] = true
	f.Report(key, path, p)
}

// IsRefused reports whether a key was refused.
func (f *Findings) IsRefused(key *yaml.Node) bool { return f.refused[key] }

// Entries returns the entries of a mapping with free keys, without the refused ones.
func (f *Findings) Entries(n Node) []Node {
	return slices.DeleteFunc(n.Pairs(), func(pair Node) bool { return f.refused[pair.Key] })
}

// withPosition fills in the position of a problem.
func (f *Findings) withPosition(at *yaml.Node, path string, p Problem) finding {
	p.File, p.Path = f.File, path
	p.Line, p.Column = max(at.Line, 1), max(at.Column, 1)
	p.Snippet, p.Message = withoutLogin(f.Line(p.Line)), withoutLogin(p.Message)
	return finding{p, p.Line, p.Column}
}

// login matches what an address says before its host: a user, and perhaps a password.
var login = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*://)([^\s'"]*)@`)

// withoutLogin returns a text in which the users and passwords of addresses are asterisks, as many as there were
// characters, so that a caret stays where it is. Messages end in logs, and no password belongs there.
func withoutLogin(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	return login.ReplaceAllStringFunc(text, func(found string) string {
		m := login.FindStringSubmatch(found)
		return m[1] + strings.Repeat("*", utf8.RuneCountInString(m[2])) + "@"
	})
}

// Line returns a line of the document, "" beyond its end.
func (f *Findings) Line(number int) string {
	if number < 1 || number > len(f.lines) {
		return ""
	}
	return strings.TrimSuffix(f.lines[number-1], "\r")
}

// RepairedLine returns the line of a scalar with the scalar replaced, or "" if the result does not fit on one short
// line.
func (f *Findings) RepairedLine(at *yaml.Node, replacement string) string {
	runes := []rune(f.Line(at.Line))
	from, old := at.Column-1, []rune(at.Value)
	if (Node{Value: at}).IsQuoted() {
		from++
	}
	to := from + len(old)
	if from < 0 || to > len(runes) || string(runes[from:to]) != at.Value || len(runes) > snippetWidth {
		return ""
	}
	return strings.TrimSpace(string(runes[:from]) + replacement + string(runes[to:]))
}

// Count returns the number of problems so far.
func (f *Findings) Count() int { return len(f.problems) }

// Problems returns the problems in document order.
func (f *Findings) Problems() []Problem { return inDocumentOrder(f.problems) }

// Warnings returns the warnings in document order.
func (f *Findings) Warnings() []Problem { return inDocumentOrder(f.warnings) }

// Unbuilt returns the uses of parts that are not built, in document order.
func (f *Findings) Unbuilt() []Unbuilt {
	slices.SortStableFunc(f.unbuilt,
		func(a, b Unbuilt) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	return f.unbuilt
}

// inDocumentOrder returns the problems sorted by position.
func inDocumentOrder(all []finding) []Problem {
	slices.SortStableFunc(all, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	problems := make([]Problem, len(all))
	for i, f := range all {
		problems[i] = f.Problem
	}
	return problems
}

// IsSound reports whether there is no problem in or under the value.
func (f *Findings) IsSound(n Node) bool { return n.Present() && !f.unsound[n.Value] }

// IsBuilt reports whether the value is sound and every part of it is built.
func (f *Findings) IsBuilt(n Node) bool { return f.IsSound(n) && !f.unfinished[n.Value] }

// MarkUnsound marks a value with a problem that is reported elsewhere, now or later.
func (f *Findings) MarkUnsound(n Node) { f.unsound[n.Value] = true }

// MarkUnbuilt marks a value with a part that is not built.
func (f *Findings) MarkUnbuilt(n Node) { f.unfinished[n.Value] = true }

// SpreadMarks carries the marks of nodes up to all of their ancestors.
func (f *Findings) SpreadMarks(n *yaml.Node) (unsound, unfinished bool) {
	unsound, unfinished = f.unsound[n], f.unfinished[n]
	for _, child := range n.Content {
		u, v := f.SpreadMarks(child)
		unsound, unfinished = unsound || u, unfinished || v
	}
	if unsound {
		f.unsound[n] = true
	}
	if unfinished {
		f.unfinished[n] = true
	}
	return unsound, unfinished
}
