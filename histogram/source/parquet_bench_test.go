package source

import (
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/parquet-go/parquet-go"
)

// benchParquet writes a table of 12 categorical columns of text, an age and an id, in row groups of `group` rows. The
// share `nulls` of the values of optional columns is null.
func benchParquet(t testing.TB, dir string, rows, group int, optional bool, nulls float64) {
	t.Helper()
	wrap := func(n parquet.Node) parquet.Node {
		if optional {
			return parquet.Optional(n)
		}
		return n
	}
	schema := parquet.Group{"age": wrap(parquet.Int(64)), "id": wrap(parquet.Int(64))}
	for i := range benchDomains {
		schema[fmt.Sprintf("c%02d", i)] = wrap(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
	}
	f, err := os.Create(filepath.Join(dir, "a.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := parquet.NewGenericWriter[any](f, parquet.NewSchema("t", schema), parquet.MaxRowsPerRowGroup(int64(group)),
		parquet.Compression(&parquet.Snappy))
	r := rand.New(rand.NewSource(1))
	level := 0
	if optional {
		level = 1
	}
	texts := make([]parquet.Value, 100)
	for i := range texts {
		texts[i] = parquet.ValueOf(benchText(i))
	}
	value := func(v parquet.Value, column int) parquet.Value {
		if nulls > 0 && r.Float64() < nulls {
			return parquet.Value{}.Level(0, 0, column)
		}
		return v.Level(0, level, column)
	}
	batch := make([]parquet.Row, 0, 1024)
	for i := range rows {
		row := parquet.Row{value(parquet.ValueOf(int64(18+r.Intn(82))), 0)}
		for c, size := range benchDomains {
			row = append(row, value(texts[r.Intn(size)], c+1))
		}
		batch = append(batch, append(row, value(parquet.ValueOf(r.Int63()), len(benchDomains)+1)))
		if len(batch) == cap(batch) || i == rows-1 {
			if _, err := w.WriteRows(batch); err != nil {
				t.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// benchColumns are the 12 categorical columns as codes.
func benchColumns() []Column {
	var columns []Column
	for i, size := range benchDomains {
		columns = append(columns, Column{Name: fmt.Sprintf("c%02d", i), Coder: benchCoder(size)})
	}
	return columns
}

// BenchmarkParquet prints the cost of a code, the cost for parquet-go alone to read the pages in the same run, and
// the ratio of our cost to 1.5 times theirs plus 0.5 ns, which should be at most 1.
func BenchmarkParquet(b *testing.B) {
	const rows = 1 << 20
	for _, c := range []struct {
		name     string
		optional bool
		nulls    float64
	}{{"required", false, 0}, {"optional", true, 0}, {"nulls", true, 0.05}} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			benchParquet(b, dir, rows, rows/2, c.optional, c.nulls)
			columns := benchColumns()
			var buffers Buffers
			var ours, theirs time.Duration
			b.ResetTimer()
			for range b.N {
				begin := cpuTime(b)
				readPages(b, dir, columns)
				middle := cpuTime(b)
				n := readAll(b, dir, spec.TableSource{Format: files.Parquet, Paths: []string{"a.parquet"}}, columns,
					&buffers)
				if n != rows {
					b.Fatal(n)
				}
				theirs, ours = theirs+middle-begin, ours+cpuTime(b)-middle
			}
			values := float64(b.N) * rows * float64(len(columns))
			o, t := float64(ours)/values, float64(theirs)/values
			b.ReportMetric(o, "ns/code")
			b.ReportMetric(t, "ns/page-value")
			b.ReportMetric(o/(1.5*t+0.5), "of-bar")
		})
	}
}

// readPages reads the pages of columns and does nothing else.
func readPages(t testing.TB, dir string, columns []Column) {
	t.Helper()
	handle, err := os.Open(filepath.Join(dir, "a.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	info, err := handle.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(handle, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range f.RowGroups() {
		for _, c := range columns {
			leaf, _ := f.Schema().Lookup(c.Name)
			pages := group.ColumnChunks()[leaf.ColumnIndex].Pages()
			for {
				page, err := pages.ReadPage()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				data := page.Data()
				_, _ = data.Int32(), page.DefinitionLevels()
				parquet.Release(page)
			}
			pages.Close()
		}
	}
}
