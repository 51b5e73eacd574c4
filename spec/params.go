package spec

// This file holds the parameters: ${quarter} in names and paths, filled in from values given
// from outside.

import (
	"fmt"
	"github.com/dprelease/dprelease/spec/document"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// readParams matches the values given with the parameters declared.
func (r *reader) readParams(root document.Node) {
	n := root.Get("params")
	var declared []string
	for _, pair := range r.Entries(n) {
		declared = append(declared, pair.Key.Value)
		r.declared[pair.Key.Value] = true
		if r.Sound(pair) {
			r.readParam(pair)
		}
	}
	if n.Present() && !r.Sound(n) && len(declared) == 0 {
		return
	}
	at := root.Value
	if n.Present() {
		at = n.Heading()
	}
	for _, name := range slices.Sorted(maps.Keys(r.source.Params)) {
		if slices.Contains(declared, name) {
			continue
		}
		p := document.Problem{Message: fmt.Sprintf("a value is set for %q, which the spec does not declare", document.Clip(name)), Expected: "no parameters"}
		if len(declared) > 0 {
			p.Expected = document.OneOf(declared)
			p.Nearest = r.Nearest(name, declared)
		}
		r.Report(at, "params", p)
	}
}

// readParam checks one parameter's pattern and value.
func (r *reader) readParam(n document.Node) {
	name, source := n.Key.Value, n.Get("pattern")
	pattern, err := regexp.Compile(`\A(?:` + source.Text() + `)\z`)
	if err != nil {
		r.problem(source, document.Problem{Message: "not a regular expression: " + document.Clip(err.Error()), Expected: "RE2 syntax, in single quotes"})
		return
	}
	value, given := r.source.Params[name]
	at := document.Node{Value: n.Key, Path: n.Path}
	switch {
	case !given:
		r.problem(at, document.Problem{
			Message: fmt.Sprintf("no value for parameter %q", name), Expected: "a value that matches " + source.Text(),
			Fix: "--set " + name + "=…",
		})
	case !pattern.MatchString(value):
		r.problem(at, document.Problem{
			Message: fmt.Sprintf("the value %q does not match as a whole", document.Clip(value)), Expected: "a value that matches " + source.Text(),
		})
	case unsafeValue(value):
		r.problem(at, document.Problem{
			Message:  fmt.Sprintf("the value %q could lead to another file", document.Clip(value)),
			Expected: `a value without / \ .. * ? [ ] { } and control characters`,
		})
	default:
		r.params[name] = value
	}
}

// unsafeValue is true for values that could turn a path into another or into a glob.
func unsafeValue(value string) bool {
	return strings.ContainsAny(value, `/\*?[]{}`) || strings.Contains(value, "..") || strings.ContainsFunc(value, unicode.IsControl)
}

var placeholder = regexp.MustCompile(`\$\{[^}]*\}?`)

// fill replaces ${name} by the parameter's value. It is false where one has no value; it
// reports names that are not declared.
func (r *reader) fill(n document.Node) (string, bool) {
	ok := true
	filled := placeholder.ReplaceAllStringFunc(n.Text(), func(use string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(use, "${"), "}")
		value, known := r.params[name]
		if !known {
			ok = false
			r.reportUndeclared(n, use, name)
		}
		return value
	})
	return filled, ok
}

// reportUndeclared reports a use of a parameter that the spec does not declare. Parameters
// that are declared but have no good value are reported where they are declared.
func (r *reader) reportUndeclared(n document.Node, use, name string) {
	if r.declared[name] {
		return
	}
	names := slices.Sorted(maps.Keys(r.declared))
	p := document.Problem{Message: use + " is not declared", Expected: "a parameter declared under params", Fix: "params: {" + document.Clip(name) + ": {pattern: '…'}}"}
	if p.Nearest = r.Nearest(name, names); p.Nearest != "" {
		p.Fix = r.Mended(n.Value, strings.ReplaceAll(n.Text(), use, "${"+p.Nearest+"}"))
	}
	r.problem(n, p)
}
