package spec

// This file holds the parameters: ${quarter} in names and paths, filled in from values given
// from outside.

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// readParams matches the values given with the parameters declared.
func (r *reader) readParams(root node) {
	n := root.get("params")
	var declared []string
	for _, pair := range r.entries(n) {
		declared = append(declared, pair.key.Value)
		r.declared[pair.key.Value] = true
		if r.sound(pair) {
			r.readParam(pair)
		}
	}
	if n.present() && !r.sound(n) && len(declared) == 0 {
		return
	}
	at := root.value
	if n.present() {
		at = n.heading()
	}
	for _, name := range slices.Sorted(maps.Keys(r.source.Params)) {
		if slices.Contains(declared, name) {
			continue
		}
		p := Problem{Message: fmt.Sprintf("a value is set for %q, which the spec does not declare", clip(name)), Expected: "no parameters"}
		if len(declared) > 0 {
			p.Expected = oneOf(declared)
			p.Nearest = r.nearest(name, declared)
		}
		r.report(at, "params", p)
	}
}

// readParam checks one parameter's pattern and value.
func (r *reader) readParam(n node) {
	name, source := n.key.Value, n.get("pattern")
	pattern, err := regexp.Compile(`\A(?:` + source.text() + `)\z`)
	if err != nil {
		r.problem(source, Problem{Message: "not a regular expression: " + clip(err.Error()), Expected: "RE2 syntax, in single quotes"})
		return
	}
	value, given := r.source.Params[name]
	at := node{value: n.key, path: n.path}
	switch {
	case !given:
		r.problem(at, Problem{
			Message: fmt.Sprintf("no value for parameter %q", name), Expected: "a value that matches " + source.text(),
			Fix: "--set " + name + "=…",
		})
	case !pattern.MatchString(value):
		r.problem(at, Problem{
			Message: fmt.Sprintf("the value %q does not match as a whole", clip(value)), Expected: "a value that matches " + source.text(),
		})
	case unsafeValue(value):
		r.problem(at, Problem{
			Message:  fmt.Sprintf("the value %q could lead to another file", clip(value)),
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
func (r *reader) fill(n node) (string, bool) {
	ok := true
	filled := placeholder.ReplaceAllStringFunc(n.text(), func(use string) string {
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
func (r *reader) reportUndeclared(n node, use, name string) {
	if r.declared[name] {
		return
	}
	names := slices.Sorted(maps.Keys(r.declared))
	p := Problem{Message: use + " is not declared", Expected: "a parameter declared under params", Fix: "params: {" + clip(name) + ": {pattern: '…'}}"}
	if p.Nearest = r.nearest(name, names); p.Nearest != "" {
		p.Fix = r.mended(n.value, strings.ReplaceAll(n.text(), use, "${"+p.Nearest+"}"))
	}
	r.problem(n, p)
}
