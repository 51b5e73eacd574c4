package source

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/parquet-go/parquet-go"
)

// textsAs writes one column of texts, x, as a file of each format and returns their sources.
func textsAs(t *testing.T, dir string, texts []string) map[files.Format]spec.TableSource {
	t.Helper()
	type row struct {
		X string `parquet:"x"`
	}
	var rows []row
	var lines strings.Builder
	lines.WriteString("x\n")
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for _, text := range texts {
		rows = append(rows, row{text})
		lines.WriteString(`"` + strings.ReplaceAll(text, `"`, `""`) + "\"\n")
		b.Append(text)
	}
	if err := parquet.WriteFile(filepath.Join(dir, "t.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir, "t.csv", []byte(lines.String()))
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	f, err := os.Create(filepath.Join(dir, "t.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	for _, closing := range []func() error{func() error {
		return w.Write(array.NewRecord(schema, []arrow.Array{b.NewArray()}, int64(len(texts))))
	}, w.Close} {
		if err := closing(); err != nil {
			t.Fatal(err)
		}
	}
	sources := map[files.Format]spec.TableSource{}
	for _, format := range []files.Format{files.Parquet, files.CSV, files.Arrow} {
		sources[format] = spec.TableSource{Format: format, Paths: []string{"t." + string(format)}, Delimiter: ',',
			Nulls: []string{""}}
	}
	return sources
}

// A text of exactly the allowed length is read. One byte more is an error that says so, or null if no value may stop
// a run.
func TestTextsAreBounded(t *testing.T) {
	longest := strings.Repeat("é", MostText/2) + "x"
	if len(longest) != MostText {
		t.Fatal("the longest text has", len(longest), "bytes")
	}
	dir := t.TempDir()
	for format, s := range textsAs(t, dir, []string{"a", longest, "b"}) {
		rows, _, err := readContent(t, dir, s, "x")
		if err != nil || !slices.Equal(columnOf(rows, 0), []string{"a", longest, "b"}) {
			t.Errorf("%s: %d rows, %v", format, len(rows), err)
		}
	}
	const canary = "Käthe7319"
	texts := []string{"a", longest + canary, "\xff\xfe", `q"u`, "b"}
	for format, s := range textsAs(t, dir, texts) {
		if _, _, err := readContent(t, dir, s, "x"); format != files.CSV { // the text is not valid UTF-8
			e := mustFail(t, err, Malformed)
			if e.Column != "x" || !strings.Contains(e.Error(), "more than 32767 bytes") ||
				strings.Contains(e.Diagnostics(), canary) {
				t.Errorf("%s: %s", format, e.Diagnostics())
			}
		}
		s.Total = true
		rows, _, err := readContent(t, dir, s, "x")
		if want := []string{"a", null, "\xff\xfe", `q"u`, "b"}; err != nil || !slices.Equal(columnOf(rows, 0), want) {
			t.Errorf("%s: %.50q, %v; expected %q", format, columnOf(rows, 0), err, want)
		}
	}
	for format, s := range textsAs(t, dir, []string{strings.Repeat("i", MostID), strings.Repeat("i", MostID+1)}) {
		r, err := openFiles(t.Context(), dir, s, []Column{{Name: "x", MaxLength: MostID}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = p.Read(t.Context(), &Buffers{}, MaxRows, func(*Batch) error { return nil })
		if e := mustFail(t, err, Malformed); !strings.Contains(e.Error(), "more than 4096 bytes") {
			t.Errorf("%s: %v", format, e)
		}
		r.Close()
	}
}

// A row of exactly the allowed length is read, wherever blocks end. A longer row is reported as too long, and not as
// a misplaced quote.
func TestRowsAreBounded(t *testing.T) {
	long := func(bytes int) string {
		return `1,"` + strings.Repeat("x\n", (bytes-5)/2) + strings.Repeat("y", (bytes-5)%2) + "\"\n"
	}
	for name, c := range map[string]struct {
		before, row string
		says        string
	}{
		"longest":              {"", long(MostRow), ""},
		"longest, odd":         {"", long(MostRow - 1), ""},
		"longest, later":       {strings.Repeat("7,8\n", blockBytes/4-100), long(MostRow), ""},
		"longer":               {"", long(MostRow + 1), "more than 16 MiB"},
		"longer, later":        {strings.Repeat("7,8\n", blockBytes/4-100), long(MostRow + 2), "more than 16 MiB"},
		"longer, unquoted":     {"7,8\n", "1," + strings.Repeat("z", MostRow) + "\n", "more than 16 MiB"},
		"never closed":         {"7,8\n", "1,\"" + strings.Repeat("z,\n", MostRow/3), "never closed"},
		"misplaced, then long": {"7,8\n", "1,\"a\"b\"" + strings.Repeat("z,\n", MostRow/3), "a quote is misplaced"},
	} {
		dir := t.TempDir()
		writeFile(t, dir, "a.csv", []byte("n,x\n"+c.before+c.row+"2,3\n"))
		n, err := countRows(dir, csvSource, []string{"n"})
		if c.says == "" {
			if want := int64(strings.Count(c.before, "\n") + 2); err != nil || n != want {
				t.Errorf("%s: %d rows, expected %d; %v", name, n, want, err)
			}
			continue
		}
		if e := mustFail(t, err, Malformed); !strings.Contains(e.Error(), c.says) {
			t.Errorf("%s: %v, expected %q", name, e, c.says)
		}
	}
}

// If no value may stop a run, a row that is too long is one row of nulls, and no other row is affected.
func TestLongRowsAreNullInATotalReading(t *testing.T) {
	total := csvSource
	total.Total = true
	for name, row := range map[string]string{
		"quoted":   `1,"` + strings.Repeat("x,\"\"\n", MostRow) + "\"\n",
		"unquoted": "1," + strings.Repeat("z", 3*MostRow) + "\n",
		"last":     "1," + strings.Repeat("z", MostRow),
	} {
		dir := t.TempDir()
		text := "n,x\n5,6\n" + row
		want := []string{"5", null}
		if name != "last" {
			text, want = text+"7,8\n", append(want, "7")
		}
		writeFile(t, dir, "a.csv.gz", gzipped(text))
		rows, _, err := readContent(t, dir, total, "n")
		if err != nil || !slices.Equal(columnOf(rows, 0), want) {
			t.Errorf("%s: %q, %v; expected %q", name, columnOf(rows, 0), err, want)
		}
	}
	dir := t.TempDir()
	writeFile(t, dir, "a.csv", []byte("n,x\n1,\""+strings.Repeat("z\n", MostRow)))
	_, err := countRows(dir, total, []string{"n"})
	mustFail(t, err, Malformed)

	// In a file of one column a blank line is an empty value.
	writeFile(t, dir, "a.csv", []byte("x\na\n\nb\r\n\r\n"))
	rows, _, err := readContent(t, dir, total, "x")
	if want := []string{"a", null, "b", null}; err != nil || !slices.Equal(columnOf(rows, 0), want) {
		t.Errorf("%q, %v; expected %q", columnOf(rows, 0), err, want)
	}
}

// One field of 300 MiB in a small file takes little memory.
func TestALongFieldTakesLittleMemory(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "a.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
	io.WriteString(z, "n,x\n1,")
	for part, n := bytes.Repeat([]byte("z"), 1<<20), 0; n < 300; n++ {
		z.Write(part)
	}
	io.WriteString(z, "\n2,3\n")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, total := range []bool{false, true} {
		s := csvSource
		s.Total = total
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, err := countRows(dir, s, []string{"n"})
		runtime.ReadMemStats(&after)
		if total && (err != nil || n != 2) || !total && err == nil {
			t.Errorf("total %v: %d rows, %v", total, n, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*MostRow {
			t.Errorf("total %v: %d MiB were taken", total, took>>20)
		}
	}
}

// Batches stay small however long texts are: after long texts, fewer rows are read at a time.
func TestBatchesOfLongTextsAreShort(t *testing.T) {
	dir := t.TempDir()
	texts := make([]string, 20_000)
	for i := range texts {
		texts[i] = strings.Repeat(string(rune('a'+i%26)), MostID-i%7)
	}
	for format, s := range textsAs(t, dir, texts) {
		at := 0
		readRows(t, dir, s, Values("x"), MaxRows, func(b *Batch) {
			held := 0
			for i := range b.Rows {
				value := b.Columns[0].(*array.String).Value(i)
				if value != texts[at] {
					t.Fatalf("%s: row %d differs", format, at)
				}
				at, held = at+1, held+len(value)
			}
			if held > 3*longTexts {
				t.Errorf("%s: a batch of %d rows holds %d MiB", format, b.Rows, held>>20)
			}
		})
		if at != len(texts) {
			t.Errorf("%s: %d rows", format, at)
		}
	}
}
