package source

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/parquet-go/parquet-go"
)

// sound is a small intact file of 60 rows and its wanted columns.
type sound struct {
	source  spec.TableSource
	bytes   []byte
	columns []string
}

// soundFiles returns small intact files of each format.
func soundFiles(t testing.TB) map[string]sound {
	all := []string{"a", "b", "c"}
	of := func(f files.Format, bytes []byte) sound {
		return sound{spec.TableSource{Format: f, Paths: []string{"f"}}, bytes, all}
	}
	rows := of(files.Parquet, wideBytes(t, 60, parquet.MaxRowsPerRowGroup(40)))
	rows.columns = nil
	return map[string]sound{
		"parquet":        of(files.Parquet, wideBytes(t, 60, parquet.MaxRowsPerRowGroup(40))),
		"parquet snappy": of(files.Parquet, wideBytes(t, 60, parquet.Compression(&parquet.Snappy))),
		"parquet zstd":   of(files.Parquet, wideBytes(t, 60, parquet.Compression(&parquet.Zstd))),
		"parquet v1":     of(files.Parquet, wideBytes(t, 60, parquet.DataPageVersion(1))),
		"parquet plain":  of(files.Parquet, plainBytes(t, 60)),
		"parquet rows":   rows,
		"arrow file":     of(files.Arrow, arrowBytes(t, true, 60)),
		"arrow bare":     of(files.Arrow, withoutPrefix(t, arrowBytes(t, true, 60))),
		"arrow stream":   of(files.Arrow, arrowBytes(t, false, 60)),
	}
}

// plainBytes returns the rows of wideBytes without dictionaries, statistics or checksums, which many writers omit.
func plainBytes(t testing.TB, n int) []byte {
	t.Helper()
	type plain struct {
		A string  `parquet:"a,optional,delta"`
		B *int64  `parquet:"b,optional"`
		C float64 `parquet:"c,split"`
	}
	rows := make([]plain, n)
	for i, w := range wideRows(n) {
		rows[i] = plain(w)
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[plain](&b, parquet.PageBufferSize(200))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// textBytes returns a CSV file of 60 rows, some of them with quotes.
func textBytes() []byte {
	var b bytes.Buffer
	b.WriteString("a,b,c\n")
	for i := range 60 {
		fmt.Fprintf(&b, "v%d,\"%d\n\",\"x, \"\"%d\"\"\"\r\n", i%5, i, i)
	}
	return b.Bytes()
}

// A file with any one bit changed is read with all its rows or refused. There are 5 000 trials per format, or as many
// as DPRELEASE_FLIPS says.
func TestBitFlips(t *testing.T) {
	trials := 2000
	if s := os.Getenv("DPRELEASE_FLIPS"); s != "" {
		var err error
		if trials, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]sound{}
	for name, f := range soundFiles(t) {
		all[name] = f
	}
	for end, encoded := range map[string][]byte{"": textBytes(), ".gz": gzipped(string(textBytes())),
		".zst": zstandard(t, string(textBytes()))} {
		all["csv"+end] = sound{spec.TableSource{Format: files.CSV, Paths: []string{"f" + end}, Delimiter: ',',
			Nulls: []string{""}}, encoded, []string{"a", "b", "c"}}
	}
	kinds := map[files.Format]int{}
	for _, f := range all {
		kinds[f.source.Format]++
	}
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, dir, f.source.Paths[0], f.bytes)
			if n, err := countRows(dir, f.source, f.columns); err != nil || n != 60 {
				t.Fatal(n, err)
			}
			file, err := os.OpenFile(filepath.Join(dir, f.source.Paths[0]), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			r := rand.New(rand.NewSource(int64(len(f.bytes))))
			refused := 0
			for range (trials + kinds[f.source.Format] - 1) / kinds[f.source.Format] {
				i, bit := r.Intn(len(f.bytes)), byte(1)<<r.Intn(8)
				setByte(t, file, i, f.bytes[i]^bit)
				n, err := countRows(dir, f.source, f.columns)
				setByte(t, file, i, f.bytes[i])
				if err != nil {
					refused++
					mustBeOurs(t, err)
				} else if n != 60 {
					t.Errorf("byte %d, bit %x: %d rows without an error", i, bit, n)
				}
			}
			t.Logf("%d refused", refused)
		})
	}
}

// A file with any one byte changed is read with all its rows or refused. It never panics and never gives another
// number of rows.
func TestEveryByteFlipped(t *testing.T) {
	for name, f := range soundFiles(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, dir, "f", f.bytes)
			if rows, _, err := readContent(t, dir, f.source, f.columns...); err != nil || len(rows) != 60 {
				t.Fatal(len(rows), err)
			}
			file, err := os.OpenFile(filepath.Join(dir, "f"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			refused := 0
			for i, right := range f.bytes {
				if i%3 != 0 && os.Getenv("DPRELEASE_LONG") == "" {
					continue // only the long run changes every byte
				}
				wrong := right ^ []byte{0x01, 0x80, 0xFF}[i/3%3]
				setByte(t, file, i, wrong)
				n, err := countRows(dir, f.source, f.columns)
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
	for name, f := range soundFiles(t) {
		dir := t.TempDir()
		path := writeFile(t, dir, "f", f.bytes)
		for n := len(f.bytes) - 1; n >= 0; n-- {
			if err := os.Truncate(path, int64(n)); err != nil {
				t.Fatal(err)
			}
			if _, err := countRows(dir, f.source, f.columns); err == nil {
				t.Errorf("%s: the first %d of %d bytes are accepted", name, n, len(f.bytes))
			}
		}
	}
}

func FuzzParquet(f *testing.F) { fuzz(f, files.Parquet) }
func FuzzArrow(f *testing.F)   { fuzz(f, files.Arrow) }

// fuzz searches for bytes on which a reader panics or does not stop.
func fuzz(f *testing.F, format files.Format) {
	for _, seed := range soundFiles(f) {
		if seed.source.Format == format {
			f.Add(seed.bytes)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		writeFile(t, dir, "f", b)
		_, err := countRows(dir, spec.TableSource{Format: format, Paths: []string{"f"}}, []string{"a", "b", "c"})
		mustBeOurs(t, err)
	})
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b,c\n1,2,3\n"))
	f.Add(textBytes())
	f.Add(gzipped("a,b\n1,2\n"))
	f.Add(zstandard(f, "a,b\n1,2\n"))
	f.Add([]byte("\xEF\xBB\xBFa,b,c\r\n\"1\n\",\"\",3"))
	f.Add([]byte("a\n\n\"x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		writeFile(t, dir, "f", b)
		writeFile(t, dir, "f.gz", b)
		writeFile(t, dir, "f.zst", b)
		for _, name := range []string{"f", "f.gz", "f.zst"} {
			_, err := countRows(dir, spec.TableSource{Format: files.CSV, Paths: []string{filepath.Base(name)},
				Nulls: []string{""}},
				[]string{"a"})
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
