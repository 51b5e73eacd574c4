package source

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

func mkdir(t testing.TB, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func globs(paths ...string) spec.TableSource {
	return spec.TableSource{Format: files.CSV, Paths: paths, Nulls: []string{""}}
}

// Files come in the order of their paths, whatever the order of the globs.
func TestFilesInOrder(t *testing.T) {
	dir := mkdir(t, t.TempDir(), "data [*]?")
	for _, name := range []string{"b", "a", "c"} {
		writeFile(t, dir, name+".csv", []byte("x,y\n"+name+",1\n"+name+",2\n"))
	}
	rows, _, err := readContent(t, dir, globs("c.csv", "[ab].csv"), "x", "y")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := columnOf(rows, 0), []string{"a", "a", "b", "b", "c", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	rows, _, err = readContent(t, "elsewhere", globs(strings.ReplaceAll(filepath.Join(dir, "c.csv"), "[", "[[]")), "x")
	if err != nil || len(rows) != 2 {
		t.Errorf("an absolute path: %v", err)
	}
}

func TestOneFileReachedTwice(t *testing.T) {
	dir := t.TempDir()
	a := writeFile(t, dir, "a.csv", []byte("x\n1\n"))
	_, _, err := readContent(t, dir, globs("*.csv", "a.*"), "x")
	mustFail(t, err, Duplicate)
	for name, link := range map[string]func(string, string) error{"symbolic": os.Symlink, "hard": os.Link} {
		path := filepath.Join(dir, name+".csv")
		if err := link(a, path); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip("no links here:", err)
			}
			t.Fatal(err)
		}
		_, _, err := readContent(t, dir, globs("*.csv"), "x")
		mustFail(t, err, Duplicate)
		if _, _, err := readContent(t, dir, globs("a.csv"), "x"); err != nil {
			t.Error(err)
		}
		os.Remove(path)
	}
	writeFile(t, dir, "copy.csv", []byte("x\n1\n"))
	if rows, _, err := readContent(t, dir, globs("*.csv"), "x"); err != nil || len(rows) != 2 {
		t.Error("a copy is another file:", err)
	}
}

func TestEveryGlobMustMatch(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a.csv", []byte("x\n1\n"))
	for _, glob := range []string{"b*.csv", "b.csv", "[", "sub/*.csv"} {
		_, _, err := readContent(t, dir, globs("a.csv", glob), "x")
		mustFail(t, err, Missing)
	}
}

// The schema of every file, also the last, is checked before the first row is read.
func TestSchemasAreCheckedFirst(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a.csv", []byte("x\n1\n"))
	writeFile(t, dir, "b.csv", []byte("y\n1\n"))
	_, err := openFiles(context.Background(), dir, globs("*.csv"), Values("x"))
	mustFail(t, err, Missing)
	_, err = openFiles(context.Background(), dir, spec.TableSource{Format: "xls"}, nil)
	mustFail(t, err, Unreadable)
}

func TestCancelAndClose(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a.arrow", arrowBytes(t, true, 100))
	ctx, cancel := context.WithCancel(context.Background())
	r, err := openFiles(ctx, dir, arrowSource, Values("b"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(p.File()) != "a.arrow" || p.Rows() != 50 {
		t.Errorf("a piece of %d rows in %s", p.Rows(), p.File())
	}
	stop := errors.New("enough")
	if err := p.Read(ctx, &Buffers{}, 10, func(*Batch) error { return stop }); err != stop {
		t.Errorf("got %v", err)
	}
	cancel()
	if err := p.Read(ctx, &Buffers{}, 10, func(*Batch) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := p.Raw(context.Background(), func(arrow.Record) error { return nil }); err != nil {
		t.Error("after the reader was closed:", err)
	}
}

// A file that was rewritten after its schema was checked is refused, whether it was rewritten before its pieces are
// requested or before they are read.
func TestChangedFile(t *testing.T) {
	for _, s := range []spec.TableSource{parquetSource, csvSource, arrowSource} {
		for _, late := range []bool{false, true} {
			dir := t.TempDir()
			put := func(n int) {
				writeFile(t, dir, "a.csv", []byte(strings.Repeat("a,b\n", n)))
				writeFile(t, dir, "a.parquet", wideBytes(t, n))
				writeFile(t, dir, "a.arrow", arrowBytes(t, true, n))
			}
			put(10)
			r, err := openFiles(t.Context(), dir, s, Values("a"))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var p *Piece
			if late {
				if p, err = r.Next(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			put(500)
			for err == nil && p != nil {
				if err = p.Read(t.Context(), &Buffers{}, 10, func(*Batch) error { return nil }); err == nil {
					p, err = r.Next(t.Context())
				}
			}
			if p == nil && err == nil {
				_, err = r.Next(t.Context())
			}
			var e *Error
			if !errors.As(err, &e) || !late && e.Kind != Unreadable {
				t.Errorf("%s, late %v: %v", s.Format, late, err)
			}
		}
	}
}

func TestTablesWithoutColumnsHaveRows(t *testing.T) {
	dir := t.TempDir()
	const n = 70_000
	writeFile(t, dir, "a.parquet", wideBytes(t, n))
	writeFile(t, dir, "a.arrow", arrowBytes(t, true, n))
	writeFile(t, dir, "a.csv", []byte("a,b\n"+strings.Repeat("1,2\n", n)))
	for _, s := range []spec.TableSource{parquetSource, csvSource, arrowSource} {
		if rows, _, err := readContent(t, dir, s); err != nil || len(rows) != n {
			t.Errorf("%s: %d rows, %v", s.Format, len(rows), err)
		}
	}
}
