package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Messages and pages are held by files that a flag writes anew. testdata/goldens.txt has the SHA-256 of those files,
// wherever they lie now, so that a message that moves to another package stays as it is; one that must become another,
// as two readers became one, is listed with its reason in testdata/changed.md, and its file's new SHA-256 here.
func TestGoldensAreTheSame(t *testing.T) {
	listed, err := os.ReadFile(filepath.Join("testdata", "goldens.txt"))
	if err != nil {
		t.Fatal(err)
	}
	there := goldens(t)
	for line := range strings.Lines(string(listed)) {
		sum, was, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if !there[sum] {
			t.Errorf("%s is not as it was: list the messages that changed in changed.md, old and new, with the reason, and its SHA-256 in goldens.txt", was)
		}
	}
}

// goldens are the SHA-256 of all files below folders testdata.
func goldens(t *testing.T) map[string]bool {
	all := map[string]bool{}
	top := filepath.Join("..", "..")
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != top {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.Contains(filepath.ToSlash(path), "/testdata/") {
			return nil
		}
		b, err := os.ReadFile(path)
		sum := sha256.Sum256(b)
		all[hex.EncodeToString(sum[:])] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
