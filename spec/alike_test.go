package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/document"
)

// TestOneMistakeInManyPlacesIsToldOnce reads a draft of 35 columns without categories. The first problem is rendered,
// and every other place is listed with its line, column and key. The list of problems contains them all.
func TestOneMistakeInManyPlacesIsToldOnce(t *testing.T) {
	var text strings.Builder
	text.WriteString("version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\nbudget: {rho: 1}\n" +
		"tables:\n  rows:\n    source: {csv: r.csv}\n    unit: row\n    columns:\n")
	for i := range 35 {
		fmt.Fprintf(&text, "      c%d: {values: []}\n", i)
	}
	text.WriteString("marginals:\n  first: {by: [c0]}\n")
	_, err := Parse(Source{Name: "release.yaml", Text: text.String()})
	problems := err.(*document.Errors)
	if len(problems.Problems) != 35 {
		t.Fatalf("%d problems", len(problems.Problems))
	}
	said := err.Error()
	if lines := strings.Count(said, "\n") + 1; lines > 15 {
		t.Errorf("%d lines:\n%s", lines, said)
	}
	if n := strings.Count(said, "expected:"); n != 1 {
		t.Errorf("what is expected is said %d times:\n%s", n, said)
	}
	for i, want := range []string{"release.yaml:10:20: tables.rows.columns.c0.values", "in 34 other places",
		" 11:20 (c1),", " 44:21 (c34)"} {
		if !strings.Contains(said, want) {
			t.Errorf("%d: does not say %q:\n%s", i, want, said)
		}
	}
}
