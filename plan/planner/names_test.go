package planner_test

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// TestNamesFitIntoFolders: a name that no file can have is refused before anything is spent, by its bytes and not its
// letters.
func TestNamesFitIntoFolders(t *testing.T) {
	for name, c := range map[string]struct {
		column  string // the start of each of three columns
		more    string
		refused bool
	}{
		"short":                     {strings.Repeat("a", 70), "", false},
		"long":                      {strings.Repeat("a", 90), "", true},
		"fewer letters, more bytes": {strings.Repeat("界", 30), "", true},
		"long in a round alone":     {strings.Repeat("a", 90), "synthetic", true},
	} {
		text := "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\n" +
			"budget: {rho: 1, split: {a: 1/2, b: 1/2}}\ntables:\n  t:\n    source: {csv: t.csv}\n    unit: row\n" +
			"    columns:\n"
		var columns []string
		for _, end := range []string{"1", "2", "3"} {
			columns = append(columns, c.column+end)
			text += "      " + c.column + end + ": {values: [x, y]}\n"
		}
		by := strings.Join(columns, ", ")
		if c.more == "synthetic" {
			text += "marginals:\n  m: {by: [" + columns[0] +
				"], budget: a}\nsynthetic:\n  t: {budget: b, method: aim, ways: 3, by: [" + by + "]}\n"
		} else {
			text += "marginals:\n  m: {every: [1, 2, 3], by: [" + by + "], budget: a}\n  n: {by: [], budget: b}\n"
		}
		r, err := spec.Parse(spec.Source{Text: text})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = planner.New(r)
		if refused := err != nil && strings.Contains(err.Error(), "needs a file name of"); refused != c.refused {
			t.Errorf("%s: %v; want a refusal: %v", name, err, c.refused)
		}
	}
}
