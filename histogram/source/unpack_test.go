package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
)

// publicRow is a row of a public table in Parquet.
type publicRow struct {
	ID      int64    `parquet:"id"`
	Name    *string  `parquet:"name,optional"`
	Kind    string   `parquet:"kind,dict"`
	Rate    float64  `parquet:"rate"`
	Share   int64    `parquet:"share,decimal(2:9)"`
	Day     int32    `parquet:"day,date"`
	Open    bool     `parquet:"open"`
	Parts   []string `parquet:"parts,list"`
	Written int64    `parquet:"written,timestamp(microsecond)"`
}

// parquetFields are the columns of a publicRow, and publicTexts the texts of two rows.
var (
	parquetFields = []files.Field{{Name: "id"}, {Name: "name"}, {Name: "kind"},
		{Name: "rate", Float: true, NoNumber: 3}, {Name: "share"},
		{Name: "day"}, {Name: "open"}, {Name: "parts", Unread: true}, {Name: "written", Unread: true}}
	parquetTexts = [][]string{
		{"7", "One", "a", "7", "12.5", "2024-01-31", "true", "", ""},
		{"-8", "", "b,\"c\"", "0.1", "-0.05", "1970-01-01", "false", "", ""},
		{"9", "", "a", "", "0", "1969-12-31", "false", "", ""},
	}
)

func parquetTable(t testing.TB) []byte {
	t.Helper()
	one := "One"
	var b bytes.Buffer
	w := parquet.NewGenericWriter[publicRow](&b, parquet.MaxRowsPerRowGroup(2))
	rows := []publicRow{
		{ID: 7, Name: &one, Kind: "a", Rate: 7, Share: 1250, Day: 19753, Open: true, Parts: []string{"x"}},
		{ID: -8, Kind: "b,\"c\"", Rate: 0.1, Share: -5},
		{ID: 9, Kind: "a", Rate: math.NaN(), Day: -1},
	}
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// arrowTable returns a file of one record, and the fields and texts that reading it must give.
func arrowTable(t testing.TB) (file []byte, fields []files.Field, texts [][]string) {
	t.Helper()
	mem := memory.DefaultAllocator
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "name", Type: arrow.BinaryTypes.LargeString, Nullable: true},
		{Name: "kind", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.BinaryTypes.String}},
		{Name: "share", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}, nil)
	id := array.NewUint64Builder(mem)
	id.AppendValues([]uint64{math.MaxUint64, 2}, nil)
	name := array.NewLargeStringBuilder(mem)
	name.AppendValues([]string{"", "Two"}, []bool{false, true})
	kind := array.NewBuilder(mem, schema.Field(2).Type).(*array.BinaryDictionaryBuilder)
	for _, text := range []string{"b", "b"} {
		if err := kind.AppendString(text); err != nil {
			t.Fatal(err)
		}
	}
	share := array.NewDecimal128Builder(mem, schema.Field(3).Type.(*arrow.Decimal128Type))
	share.AppendValues([]decimal128.Num{decimal128.FromI64(100), decimal128.FromI64(5)}, nil)
	tags := array.NewListBuilder(mem, arrow.BinaryTypes.String)
	tags.AppendNull()
	tags.AppendNull()
	record := array.NewRecord(schema, []arrow.Array{id.NewArray(), name.NewArray(), kind.NewArray(), share.NewArray(),
		tags.NewArray()}, 2)
	path := filepath.Join(t.TempDir(), "t.arrow")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	if err == nil {
		err = errors.Join(w.Write(record), w.Close(), f.Close())
	}
	if err == nil {
		file, err = os.ReadFile(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file, []files.Field{{Name: "id"}, {Name: "name"}, {Name: "kind"}, {Name: "share"},
			{Name: "tags", Unread: true}},
		[][]string{{"18446744073709551615", "", "b", "1", ""}, {"2", "Two", "b", "0.05", ""}}
}

const publicText = "id,kind\n1,a\n2,b\n"

// packedText returns the compressed bytes of a text.
func packedText(t testing.TB, ending, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	if ending == ".gz" {
		w := gzip.NewWriter(&b)
		_, err = w.Write([]byte(text))
		err = errors.Join(err, w.Close())
	} else {
		var w *zstd.Encoder
		if w, err = zstd.NewWriter(&b); err == nil {
			_, err = w.Write([]byte(text))
			err = errors.Join(err, w.Close())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// publicFile writes a file with these bytes and returns its path.
func publicFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const most = 1 << 20

func TestPublicTablesAreReadAsTexts(t *testing.T) {
	file, fields, texts := arrowTable(t)
	for _, c := range []struct {
		name    string
		content []byte
		format  files.Format
		want    *files.Unpacked
	}{
		{"a[1].parquet", parquetTable(t), files.Parquet, &files.Unpacked{Fields: parquetFields, Rows: parquetTexts}},
		{"id=5", file, files.Arrow, &files.Unpacked{Fields: fields, Rows: texts}},
		{"a.csv.gz", packedText(t, ".gz", publicText), files.CSV, &files.Unpacked{Text: publicText}},
		{"a.csv.ZST", packedText(t, ".zst", publicText), files.CSV, &files.Unpacked{Text: publicText}},
	} {
		got, err := Unpack(context.Background(), publicFile(t, c.name, c.content), nil, c.format, most)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestPublicTablesThatAreNoneAreRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		content []byte
		format  files.Format
		want    string
	}{
		{"a.parquet", []byte(publicText), files.Parquet,
			"is text, and is to be read as parquet; write csv: in the spec, with files of that format alone"},
		{"a.arrow", parquetTable(t), files.Arrow,
			"is a Parquet file, and is to be read as arrow; write parquet: in the spec, with files of that format alone"},
		{"a.csv.gz", []byte(publicText), files.CSV,
			"is text that is not compressed, although its name ends in .gz; rename it"},
		{"a.csv.zst", packedText(t, ".gz", publicText), files.CSV,
			"is compressed with gzip, which its name does not say; rename it so that it ends in .gz"},
		{"a.csv.gz", packedText(t, ".gz", strings.Repeat(" ", most+1)), files.CSV, "holds more than 1048576 bytes"},
		{"a.parquet", parquetTable(t)[:100], files.Parquet, "cut short"},
	} {
		_, err := Unpack(context.Background(), publicFile(t, c.name, c.content), nil, c.format, most)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "/") {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	table := publicFile(t, "a.parquet", parquetTable(t))
	if _, err := Unpack(context.Background(), table, nil, files.Parquet, 40); !errors.Is(err, errTooLarge) {
		t.Errorf("a table that is too large: %v", err)
	}
	none := filepath.Join(t.TempDir(), "none.parquet")
	if _, err := Unpack(context.Background(), none, nil, files.Parquet, most); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// Rows without values take almost no room in a file, and are counted before memory is allocated for them.
func TestPublicTablesOfTooManyRowsAreRefused(t *testing.T) {
	empty := func(rows int64) arrow.Record { return array.NewRecord(arrow.NewSchema(nil, nil), nil, rows) }
	for _, c := range []struct {
		width, rows int64
		want        error
	}{
		{1, 1, nil}, {1 << 16, 1, nil},
		{1, files.MaxRows + 1, errTooLarge}, {1 << 16, files.MaxFields>>16 + 1, errTooLarge},
		{1, 1 << 40, errTooLarge},
	} {
		u := &unpacking{most: most, result: &files.Unpacked{Fields: make([]files.Field, c.width)}}
		if err := u.addRecord(empty(c.rows)); err != c.want {
			t.Errorf("%d rows of %d columns: %v, want %v", c.rows, c.width, err, c.want)
		}
	}
	u := &unpacking{most: most, result: &files.Unpacked{Fields: make([]files.Field, 1<<16)}}
	if err := errors.Join(u.addRecord(empty(1)), u.addRecord(empty(1))); err != nil || len(u.result.Rows) != 2 {
		t.Fatalf("%d rows: %v", len(u.result.Rows), err)
	}
	if err := u.addRecord(empty(files.MaxFields>>16 - 1)); err != errTooLarge {
		t.Errorf("rows that are too many with those before them: %v", err)
	}
}

// One value for many rows takes almost no room in a file. It is not written out for all of them before the limit is
// checked.
func TestPublicTablesOfOneLongValueAreRefused(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for range 1000 {
		b.Append(strings.Repeat("x", 10_000))
	}
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.BinaryTypes.String}}, nil),
		[]arrow.Array{b.NewArray()}, 1000)
	u := &unpacking{ctx: t.Context(), most: most, result: &files.Unpacked{Fields: []files.Field{{Name: "v"}}},
		fieldIndexes: []int{0}}
	if err := u.addRecord(record); err != errTooLarge || cap(u.text) > 4*most {
		t.Errorf("%v, after %d bytes of text", err, cap(u.text))
	}
}

// A table of which no column can be read is refused before its rows are read, whose number is only a claim.
func TestPublicTablesWithoutAColumnAreRefused(t *testing.T) {
	type unread struct {
		Parts []string `parquet:"parts,list"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []unread{{}, {Parts: []string{"x"}}}); err != nil {
		t.Fatal(err)
	}
	table := publicFile(t, "a.parquet", b.Bytes())
	if _, err := Unpack(context.Background(), table, nil, files.Parquet, most); !errors.Is(err, errNoColumn) {
		t.Errorf("got %v", err)
	}
}

// A damaged public table is refused or read, without a panic.
func TestDamagedPublicTablesNeverPanic(t *testing.T) {
	file, _, _ := arrowTable(t)
	for name, c := range map[string]struct {
		content []byte
		format  files.Format
	}{
		"a.parquet": {parquetTable(t), files.Parquet}, "a.arrow": {file, files.Arrow},
		"a.gz": {packedText(t, ".gz", publicText), files.CSV}, "a.zst": {packedText(t, ".zst", publicText), files.CSV},
	} {
		path := publicFile(t, name, c.content)
		r := rand.New(rand.NewSource(1))
		refused := 0
		for range 400 {
			damaged := bytes.Clone(c.content)
			if r.Intn(4) == 0 {
				damaged = damaged[:r.Intn(len(damaged))]
			} else {
				damaged[r.Intn(len(damaged))] ^= 1 << r.Intn(8)
			}
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			u, err := Unpack(context.Background(), path, nil, c.format, most)
			if err != nil {
				refused++
				continue
			}
			for _, row := range u.Rows {
				if len(row) != len(u.Fields) {
					t.Fatalf("%s: a row of %d fields, of %d", name, len(row), len(u.Fields))
				}
			}
		}
		if refused == 0 {
			t.Errorf("%s: nothing was refused", name)
		}
	}
}
