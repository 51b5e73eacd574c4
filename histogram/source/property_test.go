package source

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"pgregory.net/rapid"
)

// scatter is a Coder that derives the code of a text from the text alone.
type scatter int

func (s scatter) Width() int { return int(s) }

func (s scatter) Codes(values arrow.Array, codes []uint32) {
	for i := range codes {
		codes[i] = s.code(textOf(values, i))
	}
}

func (s scatter) code(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32() >> (32 - 8*int(s))
}

// kind is a type of column: its texts, and how each format writes value number n.
type kind struct {
	name    string
	text    func(n int64) string
	node    parquet.Node
	parquet func(n int64) parquet.Value
	arrow   arrow.DataType // nil if Arrow has no such type
	append  func(b array.Builder, n int64)
}

func words(n int64) string {
	return []string{"", "a", "two words", "ünï", "a \"quoted\",\ntext",
		"a text that is longer than forty-eight bytes, which no memo holds"}[n%6] + fmt.Sprint(n/6)
}

var kinds = []kind{
	{"text", words, parquet.String(), func(n int64) parquet.Value { return parquet.ValueOf(words(n)) },
		arrow.BinaryTypes.String, func(b array.Builder, n int64) { b.(*array.StringBuilder).Append(words(n)) }},
	{"dictionary", words, parquet.Encoded(parquet.String(), &parquet.RLEDictionary),
		func(n int64) parquet.Value { return parquet.ValueOf(words(n)) },
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
		func(b array.Builder, n int64) { b.(*array.BinaryDictionaryBuilder).AppendString(words(n)) }},
	{"lengths", words, parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray),
		func(n int64) parquet.Value { return parquet.ValueOf(words(n)) },
		arrow.BinaryTypes.LargeString,
		func(b array.Builder, n int64) { b.(*array.LargeStringBuilder).Append(words(n)) }},
	{"prefixes", words, parquet.Encoded(parquet.String(), &parquet.DeltaByteArray),
		func(n int64) parquet.Value { return parquet.ValueOf(words(n)) }, nil, nil},
	{"int32", digits, parquet.Int(32), func(n int64) parquet.Value { return parquet.ValueOf(int32(n)) },
		arrow.PrimitiveTypes.Int32, func(b array.Builder, n int64) { b.(*array.Int32Builder).Append(int32(n)) }},
	{"int64", digits, parquet.Encoded(parquet.Int(64), &parquet.RLEDictionary),
		func(n int64) parquet.Value { return parquet.ValueOf(n) },
		arrow.PrimitiveTypes.Int64, func(b array.Builder, n int64) { b.(*array.Int64Builder).Append(n) }},
	{"differences", digits, parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked),
		func(n int64) parquet.Value { return parquet.ValueOf(n) }, nil, nil},
	{"uint64", digits, parquet.Uint(64), func(n int64) parquet.Value { return parquet.ValueOf(uint64(n)) },
		arrow.PrimitiveTypes.Uint64, func(b array.Builder, n int64) { b.(*array.Uint64Builder).Append(uint64(n)) }},
	{"double", func(n int64) string { return fmt.Sprint(float64(n) / 4) }, parquet.Leaf(parquet.DoubleType),
		func(n int64) parquet.Value { return parquet.ValueOf(float64(n) / 4) },
		arrow.PrimitiveTypes.Float64, func(b array.Builder,
			n int64) {
			b.(*array.Float64Builder).Append(float64(n) / 4)
		}},
	{"float", func(n int64) string { return fmt.Sprint(float64(n) / 4) },
		parquet.Encoded(parquet.Leaf(parquet.FloatType),
			&parquet.ByteStreamSplit), func(n int64) parquet.Value { return parquet.ValueOf(float32(n) / 4) },
		arrow.PrimitiveTypes.Float32, func(b array.Builder,
			n int64) {
			b.(*array.Float32Builder).Append(float32(n) / 4)
		}},
	{"boolean", func(n int64) string { return fmt.Sprint(n%2 == 1) }, parquet.Leaf(parquet.BooleanType),
		func(n int64) parquet.Value { return parquet.ValueOf(n%2 == 1) },
		arrow.FixedWidthTypes.Boolean, func(b array.Builder, n int64) { b.(*array.BooleanBuilder).Append(n%2 == 1) }},
	{"date", func(n int64) string { return fmt.Sprintf("%dd", n) }, parquet.Date(),
		func(n int64) parquet.Value { return parquet.ValueOf(int32(n)) },
		arrow.FixedWidthTypes.Date32, func(b array.Builder,
			n int64) {
			b.(*array.Date32Builder).Append(arrow.Date32(n))
		}},
	{"milliseconds", func(n int64) string { return fmt.Sprintf("%dus", 1000*n) },
		parquet.Timestamp(parquet.Millisecond),
		func(n int64) parquet.Value { return parquet.ValueOf(n) },
		&arrow.TimestampType{Unit: arrow.Millisecond},
		func(b array.Builder, n int64) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(n)) }},
	{"uuid", uuidText, parquet.Encoded(parquet.UUID(), &parquet.RLEDictionary),
		func(n int64) parquet.Value { return parquet.FixedLenByteArrayValue(decimalBytes(n, 16)) }, nil, nil},
	{"decimal", func(n int64) string { return decimal128.FromI64(n).ToString(2) },
		parquet.Decimal(2, 20, parquet.FixedLenByteArrayType(9)),
		func(n int64) parquet.Value { return parquet.FixedLenByteArrayValue(decimalBytes(n, 9)) },
		&arrow.Decimal128Type{Precision: 20, Scale: 2},
		func(b array.Builder, n int64) { b.(*array.Decimal128Builder).Append(decimal128.FromI64(n)) }},
}

func digits(n int64) string { return fmt.Sprint(n) }

func uuidText(n int64) string {
	s := fmt.Sprintf("%032x", n)
	return strings.Join([]string{s[:8], s[8:12], s[12:16], s[16:20], s[20:]}, "-")
}

// made is a generated table: for each row and column a number, or -1 for null.
type made struct {
	kinds []kind
	cells [][]int64
}

func (m made) names() []string {
	names := make([]string, len(m.kinds))
	for j := range names {
		names[j] = fmt.Sprintf("c%d", j)
	}
	return names
}

// textAt returns the text of a value, the reference for what is read.
func (m made) textAt(i, j int) string {
	if m.cells[i][j] < 0 {
		return null
	}
	return m.kinds[j].text(m.cells[i][j])
}

// Values are read as written and codes are those of the values, whatever the types, nulls, encodings, pages and
// batches.
func TestCodesAreThoseOfValues(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]files.Format{files.Parquet, files.Parquet, files.Arrow, files.CSV}).Draw(t,
			"format")
		m := drawTable(t, format)
		s := m.write(t, dir, format)
		widths := make([]scatter, len(m.kinds))
		wanted := Values(m.names()...)
		for j, name := range m.names() {
			widths[j] = rapid.SampledFrom([]scatter{1, 2, 4}).Draw(t, "width")
			wanted = append(wanted, Column{Name: name, Coder: widths[j]})
		}
		at := 0
		readRows(t, dir, s, wanted, rapid.SampledFrom([]int{1, 7, 64, 1000}).Draw(t, "most"), func(b *Batch) {
			for i := range b.Rows {
				for j := range m.kinds {
					want := m.textAt(at, j)
					got, code := textOf(b.Columns[j], i), codeAt(b.Columns[len(m.kinds)+j], i)
					if got != want || code != widths[j].code(want) || code > b.Largest[len(m.kinds)+j] {
						t.Fatalf("%s, %s, row %d: got %q and code %d of at most %d, want %q and %d", format,
							m.kinds[j].name, at, got,
							code, b.Largest[len(m.kinds)+j], want, widths[j].code(want))
					}
				}
				at++
			}
		})
		if at != len(m.cells) {
			t.Fatalf("%s: %d of %d rows", format, at, len(m.cells))
		}
	})
}

func drawTable(t *rapid.T, format files.Format) made {
	var m made
	for range rapid.IntRange(1, 5).Draw(t, "columns") {
		k := rapid.SampledFrom(kinds).Filter(func(k kind) bool {
			return format != files.Arrow ||
				k.arrow != nil
		}).Draw(t,
			"kind")
		if format == files.CSV {
			k.text = words
		}
		m.kinds = append(m.kinds, k)
	}
	r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
	domain := rapid.SampledFrom([]int64{1, 2, 9, 300, 5000}).Draw(t, "domain")
	nulls := rapid.SampledFrom([]float64{0, 0.1, 0.9}).Draw(t, "nulls")
	for range rapid.OneOf(rapid.IntRange(0, 400), rapid.Just(1500)).Draw(t, "rows") {
		row := make([]int64, len(m.kinds))
		for j := range row {
			if row[j] = r.Int63n(domain); r.Float64() < nulls {
				row[j] = -1
			}
		}
		m.cells = append(m.cells, row)
	}
	return m
}

// readRows reads a table with one goroutine.
func readRows(t interface {
	Context() context.Context
	Fatal(...any)
}, dir string, s spec.TableSource, columns []Column, most int, visit func(*Batch)) {
	ctx := t.Context()
	r, err := openFiles(ctx, dir, s, columns)
	if err != nil {
		t.Fatal(err.(*Error).Diagnostics())
	}
	defer r.Close()
	var b Buffers
	for {
		p, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = p.Read(ctx, &b, most, func(b *Batch) error { visit(b); return nil })
		}
		if err != nil {
			t.Fatal(err.(*Error).Diagnostics())
		}
	}
}

// write puts the table into a file of a format.
func (m made) write(t *rapid.T, dir string, format files.Format) spec.TableSource {
	name, content := "x", []byte(nil)
	switch format {
	case files.Parquet:
		content = m.parquet(t)
	case files.Arrow:
		content = m.arrow(t)
	default:
		name, content = m.csv(t)
	}
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return spec.TableSource{Format: format, Paths: []string{name}, Nulls: []string{"NA"}}
}

func (m made) parquet(t *rapid.T) []byte {
	group := parquet.Group{}
	optional := make([]bool, len(m.kinds))
	for j, k := range m.kinds {
		null := slices.ContainsFunc(m.cells, func(row []int64) bool { return row[j] < 0 })
		if optional[j] = null || rapid.Bool().Draw(t, "optional"); optional[j] {
			group[m.names()[j]] = parquet.Optional(k.node)
		} else {
			group[m.names()[j]] = k.node
		}
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, parquet.NewSchema("t", group),
		parquet.PageBufferSize(rapid.SampledFrom([]int{50, 400, 3000, 60_000}).Draw(t, "page")),
		parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")),
		parquet.DataPageStatistics(rapid.Bool().Draw(t, "statistics")),
		parquet.MaxRowsPerRowGroup(int64(rapid.SampledFrom([]int{3, 100, 256, 5000}).Draw(t, "group"))),
		parquet.DictionaryMaxBytes(int64(rapid.SampledFrom([]int{0, 200}).Draw(t, "dictionary"))),
		parquet.Compression(rapid.SampledFrom([]compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd,
			&parquet.Gzip}).Draw(t, "codec")))
	for _, cells := range m.cells {
		row := make(parquet.Row, len(cells))
		for j, n := range cells {
			switch {
			case n < 0:
				row[j] = parquet.Value{}.Level(0, 0, j)
			case optional[j]:
				row[j] = m.kinds[j].parquet(n).Level(0, 1, j)
			default:
				row[j] = m.kinds[j].parquet(n).Level(0, 0, j)
			}
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (m made) arrow(t *rapid.T) []byte {
	fields := make([]arrow.Field, len(m.kinds))
	for j, k := range m.kinds {
		fields[j] = arrow.Field{Name: m.names()[j], Type: k.arrow, Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	options := []ipc.Option{ipc.WithSchema(schema), ipc.WithDictionaryDeltas(true)}
	if rapid.Bool().Draw(t, "compressed") {
		options = append(options, ipc.WithZstd())
	}
	var b bytes.Buffer
	w := ipc.NewWriter(&b, options...)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	size := rapid.SampledFrom([]int{1, 100, 2000}).Draw(t, "batch")
	for i, cells := range m.cells {
		for j, n := range cells {
			if n < 0 {
				builder.Field(j).AppendNull()
			} else {
				m.kinds[j].append(builder.Field(j), n)
			}
		}
		if (i+1)%size == 0 || i+1 == len(m.cells) {
			if err := w.Write(builder.NewRecord()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (m made) csv(t *rapid.T) (name string, content []byte) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = rapid.Bool().Draw(t, "crlf")
	w.Write(m.names())
	for i := range m.cells {
		row := make([]string, len(m.kinds))
		for j := range row {
			if row[j] = m.textAt(i, j); row[j] == null {
				row[j] = "NA"
			}
		}
		w.Write(row)
	}
	w.Flush()
	switch rapid.IntRange(0, 2).Draw(t, "compression") {
	case 0:
		return "x.gz", gzipped(b.String())
	case 1:
		z, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return "x.zst", z.EncodeAll(b.Bytes(), nil)
	}
	return "x", b.Bytes()
}
