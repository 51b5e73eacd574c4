package testkit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// passing is a test that skips or passes.
type passing struct {
	testing.TB
	skipped bool
	after   []func()
}

func (p *passing) Skipf(string, ...any) { p.skipped = true }
func (p *passing) Cleanup(f func())     { p.after = append(p.after, f) }

// plant reports whether a test of planted faults runs, and lets it pass.
func plant(t *testing.T) bool {
	p := &passing{TB: t}
	SkipPlanted(p, "other")
	for _, f := range p.after {
		f()
	}
	return !p.skipped
}

// A test of planted faults is skipped only where it has passed with the same sources.
func TestPlantedFaultsAreSkippedOnlyWithTheSameSources(t *testing.T) {
	t.Setenv("DPRELEASE_LONG", "")
	top := filepath.Join(project(t), "project")
	own, other := write(t, filepath.Join(top, "p", "own.go")), write(t, filepath.Join(top, "other", "other.go"))
	test := write(t, filepath.Join(top, "p", "own_test.go"))
	t.Chdir(filepath.Join(top, "p"))
	for range 2 {
		if !plant(t) {
			t.Fatal("skipped before it has passed")
		}
	}
	t.Setenv("DPRELEASE_PLANTED", "keep")
	for _, path := range []string{own, other, test, filepath.Join(top, "go.mod")} {
		if !plant(t) {
			t.Errorf("skipped after %s changed", path)
		}
		if plant(t) {
			t.Error("not skipped with the same sources")
		}
		if err := os.WriteFile(path, []byte(strings.Repeat("\n", 3)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plant(t)
	write(t, filepath.Join(top, "other", "other_test.go"))
	if plant(t) {
		t.Error("not skipped after a test of another package changed")
	}
	t.Setenv("DPRELEASE_LONG", "1")
	if !plant(t) {
		t.Error("skipped in the long run")
	}
	if lines, err := os.ReadFile(plantedFile); err != nil || strings.Count(string(lines), "\n") != 1 {
		t.Errorf("the record has other than one line: %s, %v", lines, err)
	}
}
