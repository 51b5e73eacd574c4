package spec

import (
	"errors"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/document"
)

// A problem that is found later is positioned at the part of the spec that it concerns.
func TestProblemsFoundLaterHaveTheirPlace(t *testing.T) {
	src := baseSource()
	long := strings.Repeat("x", 70)
	src.Text = strings.Replace(base, "  total: {by: []", "  a.b:\n    by: [age, region.state]\n"+
		"    budget: more.rest\n  "+
		long+": {by: [sex], budget: main}\n  total: {by: []", 1)
	r, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"marginals.pairs":            "pairs: {every",
		"marginals.pairs.every":      "every: [1, 2]",
		"marginals.pairs.every[1]":   "2], by",
		"marginals.pairs.target":     "pairs: {every",
		"marginals.total.budget":     "main}",
		"marginals.a.b.by[1]":        "region.state]",
		"marginals.a.b":              "a.b:",
		"marginals." + long + ".by":  "by: [sex]",
		"budget.split.more.split":    "split: {ages",
		"budget.epsilon":             "2",
		"tables.persons.columns.sex": "sex:    {values",
		"nothing.of.it":              "version: 1",
	} {
		var found *document.Errors
		if !errors.As(r.Problem(path, document.Problem{Message: "off", Expected: "better"}), &found) ||
			len(found.Problems) != 1 {
			t.Errorf("%s: no one problem", path)
			continue
		}
		p := found.Problems[0]
		if p.File != "release.yaml" || p.Path != path || p.Message != "off" || p.Expected != "better" {
			t.Errorf("%s: %+v", path, p)
		}
		if at := string([]rune(p.Snippet)[p.Column-1:]); !strings.HasPrefix(at, want) ||
			strings.Split(src.Text, "\n")[p.Line-1] != p.Snippet {
			t.Errorf("%s: placed at %q in line %d, want %q", path, at, p.Line, want)
		}
	}
}
