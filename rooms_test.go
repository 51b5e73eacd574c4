// Package dprelease holds the test of the house's plan: which room may import
// which.
package dprelease

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/dprelease/dprelease/"

// may lists, for every room, the rooms of ours that it may import.
var may = map[string][]string{
	"spec":                         {},
	"budget":                       {},
	"budget/ledger":                {"budget"},
	"internal/noise":               {},
	"internal/testdata":            {},
	"plan":                         {"spec", "budget"},
	"internal/measured":            {"plan"},
	"histogram":                    {"spec", "budget", "plan", "budget/ledger", "internal/noise", "internal/measured", "histogram/source"},
	"histogram/source":             {"spec"},
	"synth":                        {"spec", "plan", "internal/measured"},
	"report":                       {"spec", "budget", "plan", "synth"},
	"internal/release":             {"spec", "budget", "budget/ledger", "internal/noise", "plan", "internal/measured", "histogram", "histogram/source", "synth", "report"},
	"cmd/dprelease":                {"spec", "budget", "budget/ledger", "internal/noise", "plan", "internal/measured", "histogram", "histogram/source", "synth", "report", "internal/release"},
	"examples/quickstart/generate": {},
	"examples/adult/prepare":       {},
}

// forbidden imports, by room ("" is every room): a prefix of an import path and
// why it may not be there.
var forbidden = []struct{ room, path, why string }{
	{"", "github.com/apache/arrow/go/v17/parquet", "parquet-go reads and writes Parquet"},
	{"internal/noise", "math/rand", "noise comes from the keyed streams"},
	{"histogram", "math/rand", "bounding comes from the keyed streams"},
	{"plan", "time", "a plan depends on the spec alone"},
	{"plan", "os", "a plan depends on the spec alone"},
	{"plan", "runtime", "a plan depends on the spec alone"},
	{"synth", "time", "publishing depends on the sealed folder alone"},
	{"synth", "os", "publishing depends on the sealed folder alone"},
	{"report", "time", "publishing depends on the sealed folder alone"},
	{"report", "os", "publishing depends on the sealed folder alone"},
}

func TestRooms(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" && path != "internal/testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		room := filepath.ToSlash(filepath.Dir(path))
		allowed, ok := may[room]
		if !ok {
			t.Errorf("%s: there is no room %s", path, room)
			return nil
		}
		seen[room] = true
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			check(t, path, room, strings.Trim(i.Path.Value, `"`), allowed)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room := range may {
		if !seen[room] {
			t.Errorf("room %s is empty", room)
		}
	}
}

// check holds one import of a file against the plan of the house.
func check(t *testing.T, path, room, imported string, allowed []string) {
	t.Helper()
	if other, ours := strings.CutPrefix(imported, module); ours && !slices.Contains(allowed, other) {
		t.Errorf("%s: room %s may not import %s", path, room, other)
	}
	for _, f := range forbidden {
		if (f.room == "" || f.room == room) && (imported == f.path || strings.HasPrefix(imported, f.path+"/")) {
			t.Errorf("%s: room %s may not import %s: %s", path, room, imported, f.why)
		}
	}
}

// TestDependencies holds docs/dependencies.md and go.mod together: every direct
// requirement has its line there.
func TestDependencies(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	direct := 0
	for line := range strings.Lines(string(mod)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || !strings.Contains(fields[0], "/") || !strings.HasPrefix(fields[1], "v") {
			continue
		}
		direct++
		if !strings.Contains(string(page), "`"+fields[0]+"`") {
			t.Errorf("docs/dependencies.md has no line for %s", fields[0])
		}
	}
	if direct == 0 {
		t.Error("go.mod has no direct requirement")
	}
}
