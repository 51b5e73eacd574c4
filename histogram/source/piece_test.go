package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// A piece describes the file that is read, and not the one that has taken its path since. A table is refused if
// another file has taken the path of one of its files.
func TestPiecesKnowTheFileTheyAreReadFrom(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b")
	for _, name := range []string{path, other} {
		if err := os.WriteFile(name, []byte("a\n1\n2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	table := spec.TableSource{Format: files.CSV, Paths: []string{"a.csv"}}
	r, err := Open(t.Context(), dir, table, Values("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	piece, err := r.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(piece.Info(), was) {
		t.Error("the piece is said to be of the file that has its name now")
	}
	if r, err = Open(t.Context(), dir, table, Values("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, []byte("a\n1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(t.Context()); err == nil {
		t.Error("a file that was replaced after it was opened is read")
	}
}
