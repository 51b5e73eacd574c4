package source

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dprelease/dprelease/spec"
	"github.com/parquet-go/parquet-go"
)

// damaged is one small file of each format with its wanted columns.
func damaged(t testing.TB) map[string]struct {
	source  spec.TableSource
	bytes   []byte
	columns []string
} {
	type file = struct {
		source  spec.TableSource
		bytes   []byte
		columns []string
	}
	all := []string{"a", "b", "c"}
	return map[string]file{
		"parquet":        {spec.TableSource{Format: spec.Parquet, Paths: []string{"f"}}, wideBytes(t, 60, parquet.MaxRowsPerRowGroup(40)), all},
		"parquet snappy": {spec.TableSource{Format: spec.Parquet, Paths: []string{"f"}}, wideBytes(t, 60, parquet.Compression(&parquet.Snappy)), all},
		"parquet v1":     {spec.TableSource{Format: spec.Parquet, Paths: []string{"f"}}, wideBytes(t, 60, parquet.DataPageVersion(1)), all},
		"parquet rows":   {spec.TableSource{Format: spec.Parquet, Paths: []string{"f"}}, wideBytes(t, 60, parquet.MaxRowsPerRowGroup(40)), nil},
		"arrow file":     {spec.TableSource{Format: spec.Arrow, Paths: []string{"f"}}, arrowBytes(t, true, 60), all},
		"arrow stream":   {spec.TableSource{Format: spec.Arrow, Paths: []string{"f"}}, arrowBytes(t, false, 60), all},
	}
}

// A file with any one byte changed is read with all its rows or refused; it
// never panics and never gives another number of rows.
func TestEveryByteFlipped(t *testing.T) {
	for name, f := range damaged(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "f", f.bytes)
			if rows, _, err := content(t, dir, f.source, f.columns...); err != nil || len(rows) != 60 {
				t.Fatal(len(rows), err)
			}
			file, err := os.OpenFile(filepath.Join(dir, "f"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			refused := 0
			for i, right := range f.bytes {
				wrong := right ^ []byte{0x01, 0x80, 0xFF}[i%3]
				setByte(t, file, i, wrong)
				n, err := rowsOf(dir, f.source, f.columns)
				setByte(t, file, i, right)
				if err != nil {
					refused++
					mustBeOurs(t, err)
				} else if n != 60 {
					t.Errorf("byte %d, %x as %x: %d rows without an error", i, right, wrong, n)
				}
			}
			t.Logf("%d of %d damaged files refused", refused, len(f.bytes))
		})
	}
}

func setByte(t *testing.T, f *os.File, i int, b byte) {
	t.Helper()
	if _, err := f.WriteAt([]byte{b}, int64(i)); err != nil {
		t.Fatal(err)
	}
}

func TestEveryTruncation(t *testing.T) {
	for name, f := range damaged(t) {
		dir := t.TempDir()
		path := write(t, dir, "f", f.bytes)
		for n := len(f.bytes) - 1; n >= 0; n-- {
			if err := os.Truncate(path, int64(n)); err != nil {
				t.Fatal(err)
			}
			if _, err := rowsOf(dir, f.source, f.columns); err == nil {
				t.Errorf("%s: the first %d of %d bytes are accepted", name, n, len(f.bytes))
			}
		}
	}
}

func FuzzParquet(f *testing.F) { fuzz(f, spec.Parquet) }
func FuzzArrow(f *testing.F)   { fuzz(f, spec.Arrow) }

// fuzz looks for bytes on which a reader panics or does not stop.
func fuzz(f *testing.F, format spec.Format) {
	for _, seed := range damaged(f) {
		if seed.source.Format == format {
			f.Add(seed.bytes)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		write(t, dir, "f", b)
		_, err := rowsOf(dir, spec.TableSource{Format: format, Paths: []string{"f"}}, []string{"a", "b", "c"})
		mustBeOurs(t, err)
	})
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b,c\n1,2,3\n"))
	f.Add([]byte("\xEF\xBB\xBFa,b,c\r\n\"1\n\",\"\",3"))
	f.Add([]byte("a\n\n\"x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		write(t, dir, "f", b)
		write(t, dir, "f.gz", b)
		write(t, dir, "f.zst", b)
		for _, name := range []string{"f", "f.gz", "f.zst"} {
			_, err := rowsOf(dir, spec.TableSource{Format: spec.CSV, Paths: []string{filepath.Base(name)}, Nulls: []string{""}}, []string{"a"})
			mustBeOurs(t, err)
		}
	})
}

func mustBeOurs(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if err != nil && !errors.As(err, &e) {
		t.Errorf("%v is not an *Error", err)
	}
}
