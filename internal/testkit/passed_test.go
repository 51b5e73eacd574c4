package testkit

import (
	"errors"
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

// runs reports whether a test runs, and lets it pass.
func runs(t *testing.T) bool {
	p := &passing{TB: t}
	SkipPassed(p)
	for _, f := range p.after {
		f()
	}
	return !p.skipped
}

// A test is skipped only where it has passed with the same sources: its own, and those of what its package imports
// through others.
func TestTestsAreSkippedOnlyWithTheSameSources(t *testing.T) {
	t.Setenv("DPRELEASE_LONG", "")
	t.Setenv("DPRELEASE_PASSED", "")
	top := filepath.Join(project(t), "project")
	source := func(path, text string) string {
		path = filepath.Join(top, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mod := source("go.mod", "module example.org/m\n")
	own := source("p/own.go", "package p\nimport \"fmt\"\n")
	test := source("p/own_test.go", "package p_test\nimport \"example.org/m/through\"\n")
	through := source("through/t.go", "package through\nimport (\n\"example.org/m/other\"\n\"example.org/more\"\n)\n")
	other := source("other/other.go", "package other\n")
	t.Chdir(filepath.Join(top, "p"))
	for range 2 {
		if !runs(t) {
			t.Fatal("skipped before it has passed")
		}
	}
	t.Setenv("DPRELEASE_PASSED", "keep")
	changed := []string{own, other, test, mod, through, source("other/embedded.json", "{}")}
	for _, path := range changed {
		if !runs(t) {
			t.Errorf("skipped after %s changed", path)
		}
		if runs(t) {
			t.Error("not skipped with the same sources")
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		source(strings.TrimPrefix(path, top), string(text)+"\n")
	}
	runs(t)
	source("other/other_test.go", "package other\n")
	source("unrelated/u.go", "package unrelated\n")
	if runs(t) {
		t.Error("not skipped after a test of another package changed, and a package that is not imported")
	}
	for name, value := range map[string]string{"DPRELEASE_LONG": "1", "DPRELEASE_PASSED": "run"} {
		was := os.Getenv(name)
		t.Setenv(name, value)
		if !runs(t) {
			t.Errorf("skipped with %s=%s", name, value)
		}
		t.Setenv(name, was)
	}
	if lines, err := os.ReadFile(passedFile); err != nil || strings.Count(string(lines), "\n") != 1 {
		t.Errorf("the record has other than one line: %s, %v", lines, err)
	}
}
