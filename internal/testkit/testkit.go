// Package testkit finds the data, specs and test vectors that some tests need
// and that are not part of the project, and has what tests of several packages
// share. For tests only; a test whose files are absent is skipped with the paths
// that were looked for.
package testkit

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Variable names the environment variable that holds the data folder. Without
// it that is ../shared/data beside the project. A relative path starts from the
// top of the project.
const Variable = "DPRELEASE_TESTDATA"

// Data is the path of a data file such as "adult14.csv" in the data folder.
func Data(t testing.TB, name string) string {
	t.Helper()
	return first(t, name, dataFolder(Root(t)))
}

// Shared is the path of a spec or of test vectors, such as "specs/labour.yaml"
// or "vectors/accounting.json". They are looked for beside the data folder that
// the variable names, then in ../shared beside the project.
func Shared(t testing.TB, name string) string {
	t.Helper()
	root := Root(t)
	beside, usual := filepath.Dir(dataFolder(root)), filepath.Join(root, "..", "shared")
	if beside == usual {
		return first(t, name, usual)
	}
	return first(t, name, beside, usual)
}

// Find is the path of a data file, for what is not a test itself; false where
// it is absent.
func Find(name string) (string, bool) {
	root, err := findRoot()
	if err != nil {
		return "", false
	}
	path := filepath.Join(dataFolder(root), filepath.FromSlash(name))
	return path, exists(path)
}

// dataFolder is where the data is.
func dataFolder(root string) string {
	folder := os.Getenv(Variable)
	switch {
	case folder == "":
		return filepath.Join(root, "..", "shared", "data")
	case !filepath.IsAbs(folder):
		return filepath.Join(root, folder)
	}
	return filepath.Clean(folder)
}

// first is the path of a file in the first of the folders that has it.
func first(t testing.TB, name string, folders ...string) string {
	t.Helper()
	var looked []string
	for _, folder := range folders {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if exists(path) {
			return path
		}
		looked = append(looked, path)
	}
	t.Skipf("needs %s; looked for %q (set %s to the data folder)", name, looked, Variable)
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Root is the top of the project, found from the working directory of a test.
func Root(t testing.TB) string {
	t.Helper()
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func findRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for !exists(filepath.Join(folder, "go.mod")) {
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("no go.mod above the test")
		}
		folder = parent
	}
	return folder, nil
}
