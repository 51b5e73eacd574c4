// Package testdata finds the real data that some tests need and that is not
// part of the project. Tests only; a test whose data is absent is skipped with
// the places that were looked in.
package testdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Variable names the folder to look in first.
const Variable = "DPRELEASE_TESTDATA"

// File is the path of a data file such as "adult14.csv": in the folder that
// $DPRELEASE_TESTDATA names, else in ../shared/data beside the project.
func File(t testing.TB, name string) string {
	t.Helper()
	return find(t, filepath.Join(Root(t), "..", "shared", "data"), name)
}

// Shared is the path of another file beside the project, such as
// "specs/labour.yaml" or "vectors/accounting.json".
func Shared(t testing.TB, name string) string {
	t.Helper()
	return find(t, filepath.Join(Root(t), "..", "shared"), filepath.FromSlash(name))
}

func find(t testing.TB, fallback, name string) string {
	t.Helper()
	var looked []string
	for _, dir := range []string{os.Getenv(Variable), fallback} {
		if dir == "" {
			continue
		}
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		looked = append(looked, path)
	}
	t.Skipf("needs %s; looked for %v (set %s to its folder)", name, looked, Variable)
	return ""
}

// Root is the top of the project, found from the working directory of a test.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
}
