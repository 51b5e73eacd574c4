package source

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/parquet-go/parquet-go"
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
	r, err := openFiles(t.Context(), dir, table, Values("a"))
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
	if r, err = openFiles(t.Context(), dir, table, Values("a")); err != nil {
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

// The pieces of a table's files have parts of their bytes that add up to nearly all of them, in whatever format: what
// is left of an Arrow file is its head and its footer.
func TestPiecesAddUpToTheFiles(t *testing.T) {
	const n = 20_000
	csv := "a\n" + strings.Repeat("1\n", n)
	for name, c := range map[string]struct {
		format files.Format
		bytes  []byte
		least  int64 // percent of the bytes
	}{
		"a.csv":     {files.CSV, []byte(csv), 100},
		"a.csv.gz":  {files.CSV, gzipped(csv), 100},
		"a.csv.zst": {files.CSV, zstandard(t, csv), 100},
		"a.parquet": {files.Parquet, wideBytes(t, n, parquet.MaxRowsPerRowGroup(7000)), 99},
		"a.arrow":   {files.Arrow, arrowBytes(t, true, n), 95},
		"a.arrows":  {files.Arrow, arrowBytes(t, false, n), 95},
	} {
		dir := t.TempDir()
		for _, part := range []string{"1", "2"} {
			writeFile(t, dir, part+name, c.bytes)
		}
		r, err := openFiles(t.Context(), dir, spec.TableSource{Format: c.format, Paths: []string{"*" + name}},
			Values("a"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		all, sum, pieces := int64(2*len(c.bytes)), int64(0), 0
		for {
			piece, err := r.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if piece.Bytes() < 0 {
				t.Errorf("%s: a piece of %d bytes", name, piece.Bytes())
			}
			sum += piece.Bytes()
			pieces++
		}
		if r.Bytes() != all || sum > all || sum < all*c.least/100 || pieces < 2 {
			t.Errorf("%s: %d pieces have %d of %d bytes", name, pieces, sum, all)
		}
	}
}
