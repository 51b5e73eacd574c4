package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/google/go-cmp/cmp"
)

var arrowSource = spec.TableSource{Format: files.Arrow, Paths: []string{"*.arrow"}}

type recordWriter interface {
	Write(arrow.Record) error
	Close() error
}

// ipcBytes writes records as a file or a stream.
func ipcBytes(t testing.TB, asFile bool, schema *arrow.Schema, records ...arrow.Record) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var w recordWriter = ipc.NewWriter(io.Writer(f), ipc.WithSchema(schema))
	if asFile {
		if w, err = ipc.NewFileWriter(f, ipc.WithSchema(schema)); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// arrowBytes returns a file of n rows in two batches, with a dictionary, an integer with nulls and a double.
func arrowBytes(t testing.TB, asFile bool, n int) []byte {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8,
			ValueType: arrow.BinaryTypes.String},
			Nullable: true},
		{Name: "b", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "c", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range n {
		if err := b.Field(0).(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprintf("v%d", i%5)); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.Int64Builder).Append(int64(i))
		}
		b.Field(2).(*array.Float64Builder).Append(float64(i))
	}
	r := b.NewRecord()
	defer r.Release()
	return ipcBytes(t, asFile, schema, r.NewSlice(0, int64(n/2)), r.NewSlice(int64(n/2), int64(n)))
}

// withoutPrefix returns an Arrow file without the prefix of its schema message, as Polars writes them.
func withoutPrefix(t testing.TB, file []byte) []byte {
	t.Helper()
	const prefix = 8
	length := len(file) - 10 - int(binary.LittleEndian.Uint32(file[len(file)-10:]))
	out := append(bytes.Clone(file[:fileHead]), file[fileHead+prefix:]...)
	footer := out[length-prefix:]
	for _, slot := range []uint32{footerDictionaries, footerBatches} {
		begin, n, err := rootTable(footer).vectorBounds(slot, footerBlockBytes)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			at := footer[begin+i*footerBlockBytes:]
			binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)-prefix)
		}
	}
	return out
}

// Files whose schema message has no prefix are read, with any number of batches, with and without a dictionary.
func TestArrowFilesWithABareSchema(t *testing.T) {
	plain := arrow.NewSchema([]arrow.Field{{Name: "b", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues([]int64{5, 6, 7}, nil)
	record := array.NewRecord(plain, []arrow.Array{b.NewArray()}, 3)
	for name, file := range map[string][]byte{
		"dictionaries": arrowBytes(t, true, 60), "one batch": ipcBytes(t, true, plain, record),
		"two batches": ipcBytes(t, true, plain, record, record), "no batch": ipcBytes(t, true, plain),
	} {
		dir := t.TempDir()
		writeFile(t, dir, "f", file)
		writeFile(t, dir, "bare", withoutPrefix(t, file))
		want, _, err := readContent(t, dir, spec.TableSource{Format: files.Arrow, Paths: []string{"f"}}, "b")
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := readContent(t, dir, spec.TableSource{Format: files.Arrow, Paths: []string{"bare"}}, "b")
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: read %v, want %v (%v)", name, got, want, err)
		}
	}
}

// A file without continuations, as before Arrow 0.15, is read: its end marker, of four bytes, is between the schema
// and the footer.
func TestArrowFilesWithoutBatchesOfOldWriters(t *testing.T) {
	file := ipcBytes(t, true, arrow.NewSchema([]arrow.Field{{Name: "b", Type: arrow.PrimitiveTypes.Int64}}, nil))
	const prefix = 8
	begin := len(file) - 10 - int(binary.LittleEndian.Uint32(file[len(file)-10:]))
	end := fileHead + prefix + int(binary.LittleEndian.Uint32(file[fileHead+4:]))
	old := slices.Concat(file[:fileHead], file[fileHead+4:end], []byte{0, 0, 0, 0}, file[begin:])
	dir := t.TempDir()
	writeFile(t, dir, "f", old)
	rows, _, err := readContent(t, dir, spec.TableSource{Format: files.Arrow, Paths: []string{"f"}}, "b")
	if err != nil || len(rows) != 0 {
		t.Errorf("%d rows: %v", len(rows), err)
	}
}

func TestArrowTypes(t *testing.T) {
	dictionary := func(index, value arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: index, ValueType: value}
	}
	for name, c := range map[string]struct {
		of   arrow.DataType
		json string
		want []string
	}{
		"string":       {arrow.BinaryTypes.String, `["a", null, ""]`, []string{"a", null, ""}},
		"large string": {arrow.BinaryTypes.LargeString, `["a", null, ""]`, []string{"a", null, ""}},
		"dictionary 8": {dictionary(arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String), `["a", null, "a"]`,
			[]string{"a", null, "a"}},
		"dictionary u64": {dictionary(arrow.PrimitiveTypes.Uint64, arrow.BinaryTypes.String), `["a", null, "b"]`,
			[]string{"a", null, "b"}},
		"int8":   {arrow.PrimitiveTypes.Int8, `[-1, null, 2]`, []string{"-1", null, "2"}},
		"int16":  {arrow.PrimitiveTypes.Int16, `[-1, null, 2]`, []string{"-1", null, "2"}},
		"int32":  {arrow.PrimitiveTypes.Int32, `[-1, null, 2]`, []string{"-1", null, "2"}},
		"int64":  {arrow.PrimitiveTypes.Int64, `[-1, null, 2]`, []string{"-1", null, "2"}},
		"uint8":  {arrow.PrimitiveTypes.Uint8, `[255, null, 2]`, []string{"255", null, "2"}},
		"uint16": {arrow.PrimitiveTypes.Uint16, `[65535, null, 2]`, []string{"65535", null, "2"}},
		"uint32": {arrow.PrimitiveTypes.Uint32, `[4294967295, null, 2]`, []string{"4294967295", null, "2"}},
		"uint64": {arrow.PrimitiveTypes.Uint64, `[9223372036854775808, null, 2]`,
			[]string{"9223372036854775808", null, "2"}},
		"float32": {arrow.PrimitiveTypes.Float32, `[0.5, null, 2]`, []string{"0.5", null, "2"}},
		"float64": {arrow.PrimitiveTypes.Float64, `[0.1, null, 2]`, []string{"0.1", null, "2"}},
		"boolean": {arrow.FixedWidthTypes.Boolean, `[true, null, false]`, []string{"true", null, "false"}},
		"date32":  {arrow.FixedWidthTypes.Date32, `["1969-12-31", null, "1970-01-02"]`, []string{"-1d", null, "1d"}},
		"date64":  {arrow.FixedWidthTypes.Date64, `["1969-12-31", null, "1970-01-02"]`, []string{"-1d", null, "1d"}},
		"seconds": {&arrow.TimestampType{Unit: arrow.Second}, `["1970-01-01T00:00:01", null]`,
			[]string{"1000000us", null}},
		"nanos": {&arrow.TimestampType{Unit: arrow.Nanosecond}, `["1969-12-31T23:59:59.999999999", null]`,
			[]string{"-1us", null}},
		"decimal": {&arrow.Decimal128Type{Precision: 10, Scale: 2}, `["1.50", null]`, []string{"1.50", null}},
	} {
		for _, asFile := range []bool{true, false} {
			a, _, err := array.FromJSON(memory.DefaultAllocator, c.of, strings.NewReader(c.json))
			if err != nil {
				t.Fatal(name, err)
			}
			schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: c.of, Nullable: true}}, nil)
			dir := t.TempDir()
			writeFile(t, dir, "a.arrow", ipcBytes(t, asFile, schema, array.NewRecord(schema, []arrow.Array{a}, -1)))
			rows, _, err := readContent(t, dir, arrowSource, "x")
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := columnOf(rows, 0); !slices.Equal(got, c.want) {
				t.Errorf("%s: got %q, want %q", name, got, c.want)
			}
		}
	}
}

func TestArrowRefusesTypes(t *testing.T) {
	for _, of := range []arrow.DataType{arrow.BinaryTypes.Binary, arrow.ListOf(arrow.PrimitiveTypes.Int64),
		arrow.FixedWidthTypes.Time32s,
		&arrow.Decimal256Type{Precision: 50}, arrow.Null, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.PrimitiveTypes.Int64}} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: of, Nullable: true}}, nil)
		dir := t.TempDir()
		writeFile(t, dir, "a.arrow", ipcBytes(t, true, schema))
		_, _, err := readContent(t, dir, arrowSource, "x")
		if e := mustFail(t, err, WrongType); e.Column != "x" || e.File == "" {
			t.Errorf("%v does not name file and column", e)
		}
	}
}

// Batches longer than a record are split, and batches of all sizes keep their order.
func TestArrowCutsBatches(t *testing.T) {
	dir := t.TempDir()
	const n = 200_000
	writeFile(t, dir, "a.arrow", arrowBytes(t, true, n))
	rows, _, err := readContent(t, dir, arrowSource, "c", "a")
	if err != nil || len(rows) != n {
		t.Fatal(len(rows), err)
	}
	for i, r := range rows {
		if r[0] != fmt.Sprint(float64(i)) || r[1] != fmt.Sprintf("v%d", i%5) {
			t.Fatalf("row %d is %q", i, r)
		}
	}
}

// A stream that was cut after a whole message looks well formed except for its end.
func TestArrowRefusesCutStream(t *testing.T) {
	dir := t.TempDir()
	b := arrowBytes(t, false, 10)
	writeFile(t, dir, "a.arrow", bytes.TrimSuffix(b, []byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}))
	_, _, err := readContent(t, dir, arrowSource, "a")
	mustFail(t, err, Malformed)
}

// The decoder takes a field as present if its slot begins within an odd vtable, even if the slot does not end there.
// The length of such a field is checked as well.
func TestArrowChecksLengthsOfFieldsThatAreCutShort(t *testing.T) {
	metadata := arrow.NewMetadata([]string{"k"}, []string{"v"})
	file := ipcBytes(t, false, arrow.NewSchema([]arrow.Field{{Name: "b", Type: arrow.PrimitiveTypes.Int64}}, &metadata))
	message := file[8 : 8+binary.LittleEndian.Uint32(file[4:])]
	schema, _ := rootTable(message).childTable(messageHeader)
	vtable := message[schema.at-binary.LittleEndian.Uint32(message[schema.at:]):]
	if size := binary.LittleEndian.Uint16(vtable); size != 10 {
		t.Fatalf("a vtable of %d bytes, want the schema's metadata to be the last of 3 fields", size)
	}
	begin, n, err := schema.vectorBounds(schemaMetadata, 4)
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	binary.LittleEndian.PutUint32(message[begin-4:], 1<<30)
	for _, size := range []uint16{10, 9} {
		binary.LittleEndian.PutUint16(vtable, size)
		if err := checkSchema(message); !errors.Is(err, errLengths) {
			t.Errorf("a vtable of %d bytes: %v", size, err)
		}
	}
}

// A date in milliseconds with a time of day is refused: a reader could turn two of one day into one id.
func TestArrowRefusesDatesWithATimeOfDay(t *testing.T) {
	_, convert := convertDates()
	b := array.NewDate64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues([]arrow.Date64{0, 86_400_000, 86_400_001}, nil)
	dates := b.NewArray()
	defer dates.Release()
	if days, err := convert(dates, 0, 2); err != nil || days.(*array.Date32).Value(1) != 1 {
		t.Errorf("whole days: %v, %v", days, err)
	}
	if _, err := convert(dates, 0, 3); !errors.Is(err, errTimeOfDay) {
		t.Errorf("a time of day: %v", err)
	}
}
