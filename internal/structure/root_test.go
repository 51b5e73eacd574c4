package structure

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

// atRoot runs a test in the module's root, as tests name files relative to it, and reads its folders: go commands that
// tests run read sources in processes of their own, and a result that go test kept is only good for what this process
// was seen to read too. (What TestMain does is not seen.)
func atRoot(t *testing.T) {
	t.Helper()
	t.Chdir(filepath.Join("..", ".."))
	if err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another package's test has removed it
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
