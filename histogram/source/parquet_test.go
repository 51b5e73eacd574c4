package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

var parquetSource = spec.TableSource{Format: files.Parquet, Paths: []string{"*.parquet"}}

// parquetBytes writes one column of a node. A value equal to the zero Value is null.
func parquetBytes(t testing.TB, node parquet.Node, values []parquet.Value, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	schema := parquet.NewSchema("table", parquet.Group{"x": node})
	w := parquet.NewGenericWriter[any](&b, append([]parquet.WriterOption{schema}, options...)...)
	rows := make([]parquet.Row, len(values))
	for i, v := range values {
		level := 0
		if node.Optional() && !v.IsNull() {
			level = 1
		}
		rows[i] = parquet.Row{v.Level(0, level, 0)}
	}
	if _, err := w.WriteRows(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decimalBytes(v int64, size int) []byte {
	b := make([]byte, size)
	x := big.NewInt(v)
	if v < 0 {
		x.Add(x, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	return x.FillBytes(b)
}

func TestParquetTypes(t *testing.T) {
	before1970 := time.Unix(0, -1)
	id := bytes.Repeat([]byte{0xAB}, 16)
	for name, c := range map[string]struct {
		node   parquet.Node
		values []parquet.Value
		want   []string
	}{
		"string": {parquet.String(), []parquet.Value{parquet.ValueOf("a"), parquet.ValueOf(""), parquet.ValueOf("ü")},
			[]string{"a", "", "ü"}},
		"bytes": {parquet.Leaf(parquet.ByteArrayType), []parquet.Value{parquet.ValueOf("a"), parquet.ValueOf("b")},
			[]string{"a", "b"}},
		"enum": {parquet.Enum(), []parquet.Value{parquet.ValueOf("a"), parquet.ValueOf("b")}, []string{"a", "b"}},
		"int8": {parquet.Int(8), []parquet.Value{parquet.ValueOf(int32(-7)), parquet.ValueOf(int32(7))},
			[]string{"-7", "7"}},
		"int32": {parquet.Int(32), []parquet.Value{parquet.ValueOf(int32(-7)), parquet.ValueOf(int32(7))},
			[]string{"-7", "7"}},
		"int64": {parquet.Int(64), []parquet.Value{parquet.ValueOf(int64(-1 << 63)), parquet.ValueOf(int64(7))},
			[]string{"-9223372036854775808", "7"}},
		"uint32": {parquet.Uint(32), []parquet.Value{parquet.ValueOf(uint32(1<<32 - 1)), parquet.ValueOf(uint32(0))},
			[]string{"4294967295", "0"}},
		"uint64": {parquet.Uint(64), []parquet.Value{parquet.ValueOf(uint64(1<<64 - 1)), parquet.ValueOf(uint64(0))},
			[]string{"18446744073709551615", "0"}},
		"float": {parquet.Leaf(parquet.FloatType), []parquet.Value{parquet.ValueOf(float32(0.5)),
			parquet.ValueOf(float32(-2))}, []string{"0.5", "-2"}},
		"double": {parquet.Leaf(parquet.DoubleType), []parquet.Value{parquet.ValueOf(0.1), parquet.ValueOf(-2.0)},
			[]string{"0.1", "-2"}},
		"boolean": {parquet.Leaf(parquet.BooleanType), []parquet.Value{parquet.ValueOf(true), parquet.ValueOf(false),
			parquet.ValueOf(true)},
			[]string{"true", "false", "true"}},
		"date": {parquet.Date(), []parquet.Value{parquet.ValueOf(int32(-1)), parquet.ValueOf(int32(20000))},
			[]string{"-1d", "20000d"}},
		"millis": {parquet.Timestamp(parquet.Millisecond),
			[]parquet.Value{parquet.ValueOf(int64(-1)), parquet.ValueOf(int64(1 << 62))},
			[]string{"-1000us", "9223372036854775807us"}},
		"micros": {parquet.Timestamp(parquet.Microsecond),
			[]parquet.Value{parquet.ValueOf(int64(-1)), parquet.ValueOf(int64(5))}, []string{"-1us", "5us"}},
		"nanos": {parquet.Timestamp(parquet.Nanosecond), []parquet.Value{parquet.ValueOf(before1970.UnixNano()),
			parquet.ValueOf(int64(1999)), parquet.ValueOf(int64(-1000))},
			[]string{"-1us", "1us", "-1us"}},
		"uuid": {parquet.UUID(), []parquet.Value{parquet.FixedLenByteArrayValue(id),
			parquet.FixedLenByteArrayValue(make([]byte, 16))},
			[]string{"abababab-abab-abab-abab-abababababab", "00000000-0000-0000-0000-000000000000"}},
		"decimal32": {parquet.Decimal(2, 9, parquet.Int32Type), []parquet.Value{parquet.ValueOf(int32(-150)),
			parquet.ValueOf(int32(5))}, []string{"-1.50", "0.05"}},
		"decimal64": {parquet.Decimal(2, 18, parquet.Int64Type), []parquet.Value{parquet.ValueOf(int64(-150)),
			parquet.ValueOf(int64(5))}, []string{"-1.50", "0.05"}},
		"decimal fixed": {parquet.Decimal(2, 20, parquet.FixedLenByteArrayType(9)),
			[]parquet.Value{parquet.FixedLenByteArrayValue(decimalBytes(-150, 9)),
				parquet.FixedLenByteArrayValue(decimalBytes(5, 9))}, []string{"-1.50", "0.05"}},
		"decimal long": {parquet.Decimal(2, 38, parquet.FixedLenByteArrayType(20)),
			[]parquet.Value{parquet.FixedLenByteArrayValue(decimalBytes(-150, 20)),
				parquet.FixedLenByteArrayValue(decimalBytes(5, 20))}, []string{"-1.50", "0.05"}},
		"decimal bytes": {parquet.Decimal(2, 20, parquet.ByteArrayType),
			[]parquet.Value{parquet.ByteArrayValue(decimalBytes(-150, 2)), parquet.ByteArrayValue(decimalBytes(5, 1))},
			[]string{"-1.50", "0.05"}},
	} {
		for _, optional := range []bool{false, true} {
			for _, dictionary := range []bool{false, true} {
				for _, version := range []int{1, 2} {
					t.Run(fmt.Sprintf("%s/optional=%v/dictionary=%v/v%d", name, optional, dictionary, version),
						func(t *testing.T) {
							node := c.node
							if dictionary {
								if name == "boolean" {
									t.Skip("booleans have no dictionary")
								}
								node = parquet.Encoded(node, &parquet.RLEDictionary)
							}
							values, want := slices.Clone(c.values), slices.Clone(c.want)
							if optional {
								node = parquet.Optional(node)
								values = append(append([]parquet.Value{{}}, values...), parquet.Value{})
								want = append(append([]string{null}, want...), null)
							}
							for len(values) < 1000 { // several pages
								values, want = append(values, values...), append(want, want...)
							}
							dir := t.TempDir()
							writeFile(t, dir, "a.parquet", parquetBytes(t, node, values, parquet.PageBufferSize(256),
								parquet.DataPageVersion(version),
								parquet.MaxRowsPerRowGroup(700), parquet.Compression(&parquet.Snappy)))
							rows, _, err := readContent(t, dir, parquetSource, "x")
							if err != nil {
								t.Fatal(err, err.(*Error).Diagnostics())
							}
							if got := columnOf(rows, 0); !slices.Equal(got, want) {
								t.Errorf("got %d values beginning %q, want %d beginning %q", len(got), got[:4],
									len(want), want[:4])
							}
						})
				}
			}
		}
	}
}

func TestParquetNothingButNulls(t *testing.T) {
	for _, node := range []parquet.Node{parquet.String(), parquet.Encoded(parquet.String(), &parquet.RLEDictionary),
		parquet.Int(64)} {
		dir := t.TempDir()
		writeFile(t, dir, "a.parquet", parquetBytes(t, parquet.Optional(node), make([]parquet.Value, 50)))
		rows, _, err := readContent(t, dir, parquetSource, "x")
		if err != nil || len(rows) != 50 || rows[49][0] != null {
			t.Errorf("got %d rows, %v", len(rows), err)
		}
	}
}

// The dictionary of a chunk may overflow, and the chunk continues in plain pages.
func TestParquetFallback(t *testing.T) {
	var values []parquet.Value
	var want []string
	for i := range 100_000 {
		s := fmt.Sprintf("value %d", i%100)
		if i > 80_000 {
			s = fmt.Sprintf("value %d with a tail that fills the dictionary %s", i, strings.Repeat("x", 20))
		}
		if i%7 == 0 {
			values, want = append(values, parquet.Value{}), append(want, null)
			continue
		}
		values, want = append(values, parquet.ValueOf(s)), append(want, s)
	}
	dir := t.TempDir()
	writeFile(t, dir, "a.parquet",
		parquetBytes(t, parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary)),
			values,
			parquet.PageBufferSize(4096), parquet.DictionaryMaxBytes(50_000)))
	rows, _, err := readContent(t, dir, parquetSource, "x")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(columnOf(rows, 0), want) {
		t.Error("the values differ")
	}
	if dictionaries, plain := pageKinds(t, dir+"/a.parquet"); dictionaries == 0 || plain == 0 {
		t.Errorf("%d pages with a dictionary and %d without", dictionaries, plain)
	}
}

func TestParquetRefusesTypes(t *testing.T) {
	for name, node := range map[string]parquet.Node{
		"int96":    parquet.Leaf(parquet.Int96Type),
		"time":     parquet.Time(parquet.Millisecond),
		"bson":     parquet.BSON(),
		"fixed":    parquet.Leaf(parquet.FixedLenByteArrayType(5)),
		"decimal":  parquet.Decimal(2, 40, parquet.FixedLenByteArrayType(20)),
		"repeated": parquet.Repeated(parquet.Int(64)),
		"list":     parquet.List(parquet.Int(64)),
		"group":    parquet.Group{"y": parquet.Int(64)},
	} {
		dir := t.TempDir()
		var b bytes.Buffer
		w := parquet.NewGenericWriter[any](&b, parquet.NewSchema("table", parquet.Group{"x": node}))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		writeFile(t, dir, "a.parquet", b.Bytes())
		_, _, err := readContent(t, dir, parquetSource, "x")
		e := mustFail(t, err, WrongType)
		if e.Column != "x" || !strings.HasSuffix(e.File, "a.parquet") {
			t.Errorf("%s: %v does not name file and column", name, e)
		}
	}
}

type wide struct {
	A string  `parquet:"a,dict"`
	B *int64  `parquet:"b,optional"`
	C float64 `parquet:"c"`
}

func wideRows(n int) []wide {
	rows := make([]wide, n)
	for i := range rows {
		rows[i] = wide{A: fmt.Sprintf("v%d", i%5), C: float64(i)}
		if i%3 != 0 {
			b := int64(i)
			rows[i].B = &b
		}
	}
	return rows
}

func wideBytes(t testing.TB, n int, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[wide](&b, options...)
	if _, err := w.Write(wideRows(n)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Columns may have pages of different lengths; records are split at the same rows in all columns.
func TestParquetColumnsStayAligned(t *testing.T) {
	dir := t.TempDir()
	const n = 150_000
	writeFile(t, dir, "a.parquet", wideBytes(t, n, parquet.PageBufferSize(5000), parquet.MaxRowsPerRowGroup(140_000)))
	rows, _, err := readContent(t, dir, parquetSource, "c", "a", "b")
	if err != nil || len(rows) != n {
		t.Fatal(len(rows), err)
	}
	for i, w := range wideRows(n) {
		b := null
		if w.B != nil {
			b = fmt.Sprint(*w.B)
		}
		if want := []string{fmt.Sprint(w.C), w.A, b}; !slices.Equal(rows[i], want) {
			t.Fatalf("row %d is %q, want %q", i, rows[i], want)
		}
	}
}

// The decoder of LZ4 cannot be kept from exhausting memory on a damaged page.
func TestParquetRefusesLZ4(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a.parquet", wideBytes(t, 60, parquet.Compression(&parquet.Lz4Raw)))
	_, _, err := readContent(t, dir, parquetSource, "a")
	mustFail(t, err, WrongType)
	for _, codec := range []compress.Codec{&parquet.Gzip, &parquet.Zstd, &parquet.Brotli} {
		writeFile(t, dir, "a.parquet", wideBytes(t, 60, parquet.Compression(codec)))
		if rows, _, err := readContent(t, dir, parquetSource, "a"); err != nil || len(rows) != 60 {
			t.Errorf("%s: %d rows, %v", codec, len(rows), err)
		}
	}
}

// pageKinds counts the pages of a file's first column with and without a dictionary.
func pageKinds(t testing.TB, path string) (dictionaries, plain int) {
	t.Helper()
	handle, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	info, err := handle.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(handle, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range f.RowGroups() {
		pages := group.ColumnChunks()[0].Pages()
		defer pages.Close()
		for {
			page, err := pages.ReadPage()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if page.Dictionary() != nil {
				dictionaries++
			} else {
				plain++
			}
			parquet.Release(page)
		}
	}
	return dictionaries, plain
}
