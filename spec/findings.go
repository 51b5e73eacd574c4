package spec

// This file holds the findings: problems as they are collected over one document, with the
// marks that keep one mistake from being reported twice.

import (
	"cmp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// findings collects what is found in one document.
type findings struct {
	suggestions
	file     string // the name of the document
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

// newFindings returns the findings of a text, none so far. The file is its name, for messages.
func newFindings(file, text string) *findings {
	return &findings{
		file:       file,
		text:       text,
		lines:      strings.Split(text, "\n"),
		unsound:    map[*yaml.Node]bool{},
		unfinished: map[*yaml.Node]bool{},
		refused:    map[*yaml.Node]bool{},
	}
}

// report adds a problem at a YAML node. Its file, position and snippet are filled in.
func (f *findings) report(at *yaml.Node, path string, p Problem) {
	f.problems = append(f.problems, f.place(at, path, p))
	f.unsound[at] = true
}

// reportAt adds a problem at a position.
func (f *findings) reportAt(line, column int, path string, p Problem) {
	f.report(&yaml.Node{Line: line, Column: column}, path, p)
}

// reportIn adds a problem of another file, told where the document names that file.
func (f *findings) reportIn(at *yaml.Node, path string, p Problem) {
	p.Path = path
	f.problems = append(f.problems, finding{p, at.Line, at.Column})
	f.unsound[at] = true
}

// warn adds a warning.
func (f *findings) warn(at *yaml.Node, path string, p Problem) {
	f.warnings = append(f.warnings, f.place(at, path, p))
}

// notBuilt records the use of a feature that this version does not build.
func (f *findings) notBuilt(at *yaml.Node, path, feature string) {
	p := f.place(at, path, Problem{Message: feature + ": not supported by this version", Unbuilt: true})
	f.problems = append(f.problems, p)
	f.unbuilt = append(f.unbuilt, Unbuilt{Path: path, Feature: feature, Line: p.Line, Column: p.Column})
	f.unfinished[at] = true
}

// refuse reports a key and leaves its entry out of [findings.entries].
func (f *findings) refuse(key *yaml.Node, path string, p Problem) {
	f.refused[key] = true
	f.report(key, path, p)
}

// isRefused reports whether a key was refused.
func (f *findings) isRefused(key *yaml.Node) bool { return f.refused[key] }

// entries are the entries of a mapping with free keys, without those that were refused.
func (f *findings) entries(n node) []node {
	return slices.DeleteFunc(n.pairs(), func(pair node) bool { return f.refused[pair.key] })
}

// place fills in where a problem is.
func (f *findings) place(at *yaml.Node, path string, p Problem) finding {
	p.File, p.Path = f.file, path
	p.Line, p.Column = max(at.Line, 1), max(at.Column, 1)
	p.Snippet = f.line(p.Line)
	return finding{p, p.Line, p.Column}
}

// line is a line of the document, "" beyond its end.
func (f *findings) line(number int) string {
	if number < 1 || number > len(f.lines) {
		return ""
	}
	return strings.TrimSuffix(f.lines[number-1], "\r")
}

// mended is the line of a scalar with the scalar replaced, "" where that cannot be shown on
// one short line.
func (f *findings) mended(at *yaml.Node, replacement string) string {
	runes := []rune(f.line(at.Line))
	from, old := at.Column-1, []rune(at.Value)
	if (node{value: at}).isQuoted() {
		from++
	}
	to := from + len(old)
	if from < 0 || to > len(runes) || string(runes[from:to]) != at.Value || len(runes) > snippetWidth {
		return ""
	}
	return strings.TrimSpace(string(runes[:from]) + replacement + string(runes[to:]))
}

// count is how many problems there are so far.
func (f *findings) count() int { return len(f.problems) }

// sortedProblems are the problems in document order.
func (f *findings) sortedProblems() []Problem { return sorted(f.problems) }

// sortedWarnings are the warnings in document order.
func (f *findings) sortedWarnings() []Problem { return sorted(f.warnings) }

// sortedUnbuilt are the uses of what is not built, in document order.
func (f *findings) sortedUnbuilt() []Unbuilt {
	slices.SortStableFunc(f.unbuilt, func(a, b Unbuilt) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
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

// sound is true where nothing is wrong in or under the value.
func (f *findings) sound(n node) bool { return n.present() && !f.unsound[n.value] }

// built is true where the value is sound and everything in it is built.
func (f *findings) built(n node) bool { return f.sound(n) && !f.unfinished[n.value] }

// spoil marks a value in which something is wrong that was reported, or will be, elsewhere.
func (f *findings) spoil(n node) { f.unsound[n.value] = true }

// leaveOut marks a value in which something is not built.
func (f *findings) leaveOut(n node) { f.unfinished[n.value] = true }

// spread carries the marks of nodes up to everything that holds them.
func (f *findings) spread(n *yaml.Node) (unsound, unfinished bool) {
	unsound, unfinished = f.unsound[n], f.unfinished[n]
	for _, child := range n.Content {
		u, v := f.spread(child)
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
