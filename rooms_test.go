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
	"spec":                         {"spec/expression", "internal/regular"},
	"spec/expression":              {},
	"budget":                       {},
	"budget/contour":               {"budget"},
	"budget/ledger":                {"budget", "internal/regular", "internal/sign"},
	"internal/noise":               {},
	"internal/screen":              {},
	"internal/regular":             {},
	"internal/sign":                {"internal/regular"},
	"internal/tabulate":            {},
	"internal/testdata":            {},
	"plan":                         {"spec", "budget", "budget/contour", "plan/residual"},
	"plan/ranges":                  {},
	"plan/residual":                {"plan/ranges"},
	"internal/measured":            {"plan", "internal/regular"},
	"histogram":                    {"spec", "spec/expression", "budget", "plan", "plan/residual", "budget/ledger", "internal/noise", "internal/measured", "internal/tabulate", "histogram/source"},
	"histogram/source":             {"spec", "internal/regular"},
	"synth":                        {"spec", "budget", "plan", "plan/residual", "internal/measured", "synth/graphical"},
	"synth/graphical":              {"budget"},
	"report":                       {"spec", "budget", "plan", "plan/residual", "synth", "internal/screen"},
	"internal/release":             {"spec", "budget", "budget/contour", "budget/ledger", "internal/noise", "internal/regular", "internal/screen", "internal/sign", "plan", "plan/residual", "internal/measured", "histogram", "histogram/source", "synth", "report"},
	"cmd/dprelease":                {"spec", "budget", "budget/ledger", "internal/noise", "internal/screen", "internal/sign", "plan", "plan/residual", "internal/measured", "histogram", "histogram/source", "synth", "report", "internal/release"},
	"internal/structure/figures":   {},
	"internal/bench":               {"spec", "budget", "plan", "budget/ledger", "internal/noise", "histogram"},
	"examples/quickstart/generate": {},
	"examples/adult/learn":         {},
	"examples/adult/prepare":       {},
	"examples/earnings/generate":   {},
	"examples/households/generate": {},
}

// forbidden imports: a path, with those below it, that a room ("" is every room)
// may not import, and why.
var forbidden = []struct{ room, path, why string }{
	{"", "github.com/apache/arrow/go/v17/parquet", "parquet-go reads and writes Parquet"},
	{"internal/tabulate", "math/rand", "tables are exact"},
	{"internal/noise", "math/rand", "noise comes from the keyed streams"},
	{"histogram", "math/rand", "bounding comes from the keyed streams"},
	{"histogram/source", "math/rand", "rows come in the order of the files"},
	{"plan", "time", "a plan depends on the spec alone"},
	{"plan", "os", "a plan depends on the spec alone"},
	{"synth", "time", "publishing depends on the sealed folder alone"},
	{"synth", "os", "publishing depends on the sealed folder alone"},
	{"report", "time", "publishing depends on the sealed folder alone"},
	{"report", "os", "publishing depends on the sealed folder alone"},
}

// The pure rooms work out what they are given: neither they nor a room of ours
// that they reach may ask the machine or touch confidential data. (Rooms that
// they reach open files by name and reckon dates, so "os" and "time" are
// forbidden to the pure rooms themselves only, above.)
var (
	pure         = []string{"plan", "synth", "report"}
	machine      = []string{"runtime", "net", "math/rand", "crypto/rand", "os/user", "syscall"}
	confidential = []string{"histogram", "histogram/source", "internal/noise", "internal/release", "budget/ledger"}
)

// house is what each room imports, without its tests.
type house map[string][]string

// readHouse reads the imports of all rooms.
func readHouse(t *testing.T) house {
	t.Helper()
	h := house{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" && path != filepath.Join("internal", "testdata")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		room := filepath.ToSlash(filepath.Dir(path))
		imports := h[room]
		for _, i := range f.Imports {
			imports = append(imports, strings.Trim(i.Path.Value, `"`))
		}
		h[room] = imports
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// reach is a room and all rooms that it imports, all the way down.
func (h house) reach(room string) []string {
	reached := []string{room}
	for i := 0; i < len(reached); i++ {
		for _, imported := range h[reached[i]] {
			if other, ours := strings.CutPrefix(imported, module); ours && !slices.Contains(reached, other) {
				reached = append(reached, other)
			}
		}
	}
	return reached
}

// breaks are the ways in which a house departs from the plan, sorted.
func (h house) breaks() []string {
	var all []string
	for room, imports := range h {
		allowed, ok := may[room]
		if !ok {
			all = append(all, "there is no room "+room)
		}
		for _, imported := range imports {
			if other, ours := strings.CutPrefix(imported, module); ours && !slices.Contains(allowed, other) {
				all = append(all, room+" may not import "+other)
			}
			for _, f := range forbidden {
				if (f.room == "" || f.room == room) && below(imported, f.path) {
					all = append(all, room+" may not import "+imported+": "+f.why)
				}
			}
		}
	}
	for _, room := range pure {
		for _, reached := range h.reach(room) {
			if slices.Contains(confidential, reached) {
				all = append(all, room+" may not reach "+reached+": it is for what may be published")
			}
			for _, imported := range h[reached] {
				if reached == "internal/regular" && imported == "syscall" {
					continue // the flag with which it opens files, and nothing of the machine
				}
				if slices.ContainsFunc(machine, func(path string) bool { return below(imported, path) }) {
					all = append(all, room+" may not reach "+imported+" (by "+reached+"): it depends on its input alone")
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// below tells whether an import path is a given one or one under it.
func below(imported, path string) bool {
	return imported == path || strings.HasPrefix(imported, path+"/")
}

func TestRooms(t *testing.T) {
	h := readHouse(t)
	for _, b := range h.breaks() {
		t.Error(b)
	}
	for room := range may {
		if _, ok := h[room]; !ok {
			t.Errorf("room %s is empty", room)
		}
	}
}

// TestBreaksAreNoticed adds one import at a time that the plan forbids.
func TestBreaksAreNoticed(t *testing.T) {
	for _, c := range []struct{ room, imported, want string }{
		{"spec", module + "budget", "spec may not import budget"},
		{"attic", "fmt", "there is no room attic"},
		{"histogram/source", "math/rand/v2", "histogram/source may not import math/rand/v2: rows come in the order of the files"},
		{"plan", "os", "plan may not import os: a plan depends on the spec alone"},
		{"report", "net/http", "report may not reach net/http (by report): it depends on its input alone"},
		{"report", module + "histogram", "report may not import histogram"},
		{"budget", "os/user", "plan may not reach os/user (by budget): it depends on its input alone"},
		{"internal/measured", "crypto/rand", "report may not reach crypto/rand (by internal/measured): it depends on its input alone"},
		{"internal/measured", module + "histogram", "synth may not reach internal/noise: it is for what may be published"},
	} {
		h := readHouse(t)
		h[c.room] = append(h[c.room], c.imported)
		if got := h.breaks(); !slices.Contains(got, c.want) {
			t.Errorf("%s with %s: got %q, want %q", c.room, c.imported, got, c.want)
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
