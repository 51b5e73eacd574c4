package document

// This file holds the findings: problems as they are collected over one document, with the
// marks that keep one mistake from being reported twice.

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Findings collects what is found in one document.
type Findings struct {
	Suggestions
	File     string // the name of the document
	text     string
	lines    []string
	problems []finding
	warnings []finding
	unbuilt  []Unbuilt
	// unsound marks the nodes in or under which something is wrong, unfinished those in or
	// under which something is not built.
	unsound, unfinished map[*yaml.Node]bool
	// refused marks keys that are not read: second ones, merge keys, bad names.
	refused map[*yaml.Node]bool
}

// finding is a problem and where in the document it is told.
type finding struct {
	Problem
	line, column int
}

// Unbuilt is one use of a part of the language that this version does not build.
type Unbuilt struct {
	Path, Feature string
	Line, Column  int
}

// NewFindings returns the findings of a text, none so far. The file is its name, for messages.
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

// Report adds a problem at a YAML node. Its file, position and snippet are filled in.
func (f *Findings) Report(at *yaml.Node, path string, p Problem) {
	f.problems = append(f.problems, f.place(at, path, p))
	f.unsound[at] = true
}

// Wrong reports a problem with a value.
func (f *Findings) Wrong(n Node, p Problem) { f.Report(n.Position(), n.Path, p) }

// WrongKey reports a problem with the key of a value, or with all that stands under it.
func (f *Findings) WrongKey(n Node, p Problem) { f.Report(n.Key, n.Path, p) }

// Number reads an exact number that already has the shape of one. It reports what is beyond the limits.
func (f *Findings) Number(n Node) (*big.Rat, bool) {
	x, err := ParseNumber(n.Text())
	if err != nil {
		f.Wrong(n, Problem{Message: err.Error(), Expected: "a shorter number"})
		return nil, false
	}
	return x, true
}

// WithNearest is a problem with a value for which the document may mean the nearest name, and with the line that is
// mended so; the problem as it is where that is "".
func (f *Findings) WithNearest(n Node, p Problem, near string) Problem {
	if near != "" {
		p.Nearest, p.Fix = near, f.Mended(n.Value, near)
	}
	return p
}

// Among is a problem with a name that is none of those that may stand there: with the nearest of them.
func (f *Findings) Among(n Node, p Problem, names []string) Problem {
	return f.WithNearest(n, p, f.Nearest(n.Text(), names))
}

// ReportAt adds a problem at a position.
func (f *Findings) ReportAt(line, column int, path string, p Problem) {
	f.Report(&yaml.Node{Line: line, Column: column}, path, p)
}

// ReportIn adds a problem of another file, told where the document names that file.
func (f *Findings) ReportIn(at *yaml.Node, path string, p Problem) {
	p.Path = path
	f.problems = append(f.problems, finding{p, at.Line, at.Column})
	f.unsound[at] = true
}

// Warn adds a warning.
func (f *Findings) Warn(at *yaml.Node, path string, p Problem) {
	f.warnings = append(f.warnings, f.place(at, path, p))
}

// NotBuilt records the use of a feature that this version does not build.
func (f *Findings) NotBuilt(at *yaml.Node, path, feature string) {
	p := f.place(at, path, Problem{Message: feature + ": not supported by this version", Unbuilt: true})
	f.problems = append(f.problems, p)
	f.unbuilt = append(f.unbuilt, Unbuilt{Path: path, Feature: feature, Line: p.Line, Column: p.Column})
	f.unfinished[at] = true
}

// Refuse reports a key and leaves its entry out of [Findings.Entries].
func (f *Findings) Refuse(key *yaml.Node, path string, p Problem) {
	f.refused[key] = true
	f.Report(key, path, p)
}

// IsRefused reports whether a key was refused.
func (f *Findings) IsRefused(key *yaml.Node) bool { return f.refused[key] }

// Entries are the entries of a mapping with free keys, without those that were refused.
func (f *Findings) Entries(n Node) []Node {
	return slices.DeleteFunc(n.Pairs(), func(pair Node) bool { return f.refused[pair.Key] })
}

// place fills in where a problem is.
func (f *Findings) place(at *yaml.Node, path string, p Problem) finding {
	p.File, p.Path = f.File, path
	p.Line, p.Column = max(at.Line, 1), max(at.Column, 1)
	p.Snippet = f.Line(p.Line)
	return finding{p, p.Line, p.Column}
}

// Line is a line of the document, "" beyond its end.
func (f *Findings) Line(number int) string {
	if number < 1 || number > len(f.lines) {
		return ""
	}
	return strings.TrimSuffix(f.lines[number-1], "\r")
}

// Mended is the line of a scalar with the scalar replaced, "" where that cannot be shown on
// one short line.
func (f *Findings) Mended(at *yaml.Node, replacement string) string {
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

// Count is how many problems there are so far.
func (f *Findings) Count() int { return len(f.problems) }

// Problems are the problems in document order.
func (f *Findings) Problems() []Problem { return sorted(f.problems) }

// Warnings are the warnings in document order.
func (f *Findings) Warnings() []Problem { return sorted(f.warnings) }

// Unbuilt are the uses of what is not built, in document order.
func (f *Findings) Unbuilt() []Unbuilt {
	slices.SortStableFunc(f.unbuilt,
		func(a, b Unbuilt) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	return f.unbuilt
}

// sorted are the problems in document order.
func sorted(all []finding) []Problem {
	slices.SortStableFunc(all, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	problems := make([]Problem, len(all))
	for i, f := range all {
		problems[i] = f.Problem
	}
	return problems
}

// Sound reports whether nothing is wrong in or under the value.
func (f *Findings) Sound(n Node) bool { return n.Present() && !f.unsound[n.Value] }

// Built reports whether the value is sound and everything in it is built.
func (f *Findings) Built(n Node) bool { return f.Sound(n) && !f.unfinished[n.Value] }

// MarkUnsound marks a value in which something is wrong that was reported, or will be, elsewhere.
func (f *Findings) MarkUnsound(n Node) { f.unsound[n.Value] = true }

// MarkUnbuilt marks a value in which something is not built.
func (f *Findings) MarkUnbuilt(n Node) { f.unfinished[n.Value] = true }

// Spread carries the marks of nodes up to everything that holds them.
func (f *Findings) Spread(n *yaml.Node) (unsound, unfinished bool) {
	unsound, unfinished = f.unsound[n], f.unfinished[n]
	for _, child := range n.Content {
		u, v := f.Spread(child)
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
