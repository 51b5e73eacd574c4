package document

// This file holds the parameters: ${quarter} in names and paths, filled in with values given from outside.

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Parameters are the parameters that a document declares, with the values given for them.
type Parameters struct {
	findings *Findings
	declared []string
	// values are the given values that are valid.
	values map[string]string
}

// Parameters matches the given values with the parameters that the document declares under params. It reports every
// mismatch.
func (f *Findings) Parameters(root Node, given map[string]string) *Parameters {
	p := &Parameters{findings: f, values: map[string]string{}}
	n := root.Get("params")
	for _, pair := range f.Entries(n) {
		p.declared = append(p.declared, pair.Key.Value)
		if f.IsSound(pair) {
			p.checkParameter(pair, given)
		}
	}
	if n.Present() && !f.IsSound(n) && len(p.declared) == 0 {
		return p
	}
	at := root.Value
	if n.Present() {
		at = n.Heading()
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(p.declared, name) {
			continue
		}
		problem := Problem{
			Message:  fmt.Sprintf("a value is set for %q, which the spec does not declare", Clip(name)),
			Expected: "no parameters",
		}
		if len(p.declared) > 0 {
			problem.Expected = OneOf(p.declared)
			problem.Nearest = f.Nearest(name, p.declared)
		}
		f.Report(at, "params", problem)
	}
	return p
}

// checkParameter checks one parameter's pattern and value.
func (p *Parameters) checkParameter(n Node, given map[string]string) {
	name, source := n.Key.Value, n.Get("pattern")
	pattern, err := regexp.Compile(`\A(?:` + source.Text() + `)\z`)
	if err != nil {
		p.findings.AddProblem(source, Problem{Message: "not a regular expression: " + Clip(err.Error()),
			Expected: "RE2 syntax, in single quotes"})
		return
	}
	value, isGiven := given[name]
	at := n.KeyNode()
	switch {
	case !isGiven:
		p.findings.AddProblem(at, Problem{
			Message: fmt.Sprintf("no value for parameter %q", name), Expected: "a value that matches " + source.Text(),
			Fix: "--set " + name + "=…",
		})
	case !pattern.MatchString(value):
		p.findings.AddProblem(at, Problem{
			Message:  fmt.Sprintf("the value %q does not match as a whole", Clip(value)),
			Expected: "a value that matches " + source.Text(),
		})
	case isUnsafe(value):
		p.findings.AddProblem(at, Problem{
			Message:  fmt.Sprintf("the value %q could lead to another file", Clip(value)),
			Expected: `a value without / \ .. * ? [ ] { } and control characters`,
		})
	default:
		p.values[name] = value
	}
}

// isUnsafe reports whether a value could turn a path into another path or into a glob.
func isUnsafe(value string) bool {
	return strings.ContainsAny(value, `/\*?[]{}`) || strings.Contains(value, "..") ||
		strings.ContainsFunc(value, unicode.IsControl)
}

var placeholder = regexp.MustCompile(`\$\{[^}]*\}?`)

// Fill returns a text with every ${NAME} replaced by the parameter's value. It returns false if one has no value, and
// reports names that are not declared.
func (p *Parameters) Fill(n Node) (string, bool) {
	ok := true
	filled := placeholder.ReplaceAllStringFunc(n.Text(), func(use string) string {
		name := nameIn(use)
		value, known := p.values[name]
		if !known {
			ok = false
			p.reportUndeclared(n, use, name)
		}
		return value
	})
	return filled, ok
}

// FillText returns a text with every ${NAME} replaced by the value of that name, and an error if one has no value.
func FillText(text string, values map[string]string) (filled string, err error) {
	filled = placeholder.ReplaceAllStringFunc(text, func(use string) string {
		value, known := values[nameIn(use)]
		if !known {
			err = fmt.Errorf("%s has no value", Clip(use))
		}
		return value
	})
	return filled, err
}

// nameIn returns the name of the parameter that a text ${NAME} uses.
func nameIn(use string) string { return strings.TrimSuffix(strings.TrimPrefix(use, "${"), "}") }

// reportUndeclared reports a use of a parameter that the spec does not declare. A declared parameter without a valid
// value is reported at its declaration.
func (p *Parameters) reportUndeclared(n Node, use, name string) {
	if slices.Contains(p.declared, name) {
		return
	}
	problem := Problem{Message: use + " is not declared", Expected: "a parameter declared under params",
		Fix: "params: {" + Clip(name) + ": {pattern: '…'}}"}
	if problem.Nearest = p.findings.Nearest(name, slices.Sorted(slices.Values(p.declared))); problem.Nearest != "" {
		problem.Fix = p.findings.RepairedLine(n.Value, strings.ReplaceAll(n.Text(), use, "${"+problem.Nearest+"}"))
	}
	p.findings.AddProblem(n, problem)
}
