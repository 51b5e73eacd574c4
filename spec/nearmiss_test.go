package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/document"
)

// A spec with thousands of misspelt names gives a report of readable length, with suggestions for the first names.
func TestManyNearMissesAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\nbudget: {epsilon: 1}\n" +
		"tables:\n  t:\n    source: {csv: t.csv}\n    unit: row\n    columns:\n")
	for i := range 4000 {
		fmt.Fprintf(&b, "      some_long_column_%04d: {values: [a, b]}\n", i)
	}
	b.WriteString("marginals:\n")
	for i := range 4000 {
		fmt.Fprintf(&b, "  m%d: {by: [some_long_colunm_%04d]}\n", i, i)
	}
	_, err := Parse(Source{Name: "r.yaml", Text: b.String()})
	if err == nil {
		t.Fatal("4000 unknown columns pass")
	}
	text := err.Error()
	for _, want := range []string{"some_long_column_0000", `no column "some_long_colunm_3999"`, "and 3940 more"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if len(text) > 20<<20 {
		t.Errorf("the report has %d bytes", len(text))
	}
}

func TestSuggestionsOfOneDocumentAreBounded(t *testing.T) {
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("column_%04d", i))
	}
	s := new(document.Suggestions)
	if got := s.Nearest("colunm_0007", names); got != "column_0007" {
		t.Errorf("%q at first", got)
	}
	calls := 0
	for ; calls < 10000 && s.Nearest("colunm_0007", names) != ""; calls++ {
	}
	if calls < 100 || calls > 1000 {
		t.Errorf("%d suggestions among a thousand names", calls)
	}
	long := strings.Repeat("x", 1<<20)
	// Comparing these letter by letter would take 10^12 steps: the test would not end.
	if got := document.Nearest(long, []string{long + "y"}); got != "" {
		t.Errorf("among words of a million characters %.10q… is suggested", got)
	}
}
