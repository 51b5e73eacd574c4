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

// TestGoldensAreTheSame compares the golden files of messages and pages, which a flag writes again, with their SHA-256
// in testdata/goldens.txt, whatever their folder, so that a message that moves to another package stays the same. If
// one must change, list it with the reason in testdata/changed.md and update its SHA-256.
func TestGoldensAreTheSame(t *testing.T) {
	listed, err := os.ReadFile(filepath.Join("testdata", "goldens.txt"))
	if err != nil {
		t.Fatal(err)
	}
	there := goldenHashes(t)
	for line := range strings.Lines(string(listed)) {
		sum, was, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if !there[sum] {
			t.Errorf("%s is not as it was: list the messages that changed in changed.md, old and new, with the reason, and its SHA-256 in goldens.txt", was)
		}
	}
}

// goldenHashes returns the SHA-256 of all files below folders testdata.
func goldenHashes(t *testing.T) map[string]bool {
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
