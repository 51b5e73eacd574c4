package source

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// BenchmarkArrow prints the cost of a code that comes from a dictionary, and of a code that comes from text.
func BenchmarkArrow(b *testing.B) {
	const rows = 1 << 18
	for name, of := range map[string]arrow.DataType{
		"dictionary": &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		"text":       arrow.BinaryTypes.String,
	} {
		b.Run(name, func(b *testing.B) {
			var fields []arrow.Field
			for i := range benchDomains {
				fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%02d", i), Type: of, Nullable: true})
			}
			schema := arrow.NewSchema(fields, nil)
			builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
			dir, r := b.TempDir(), rand.New(rand.NewSource(1))
			f, err := os.Create(filepath.Join(dir, "a.arrow"))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			for i, size := range benchDomains {
				for range rows {
					s := benchText(r.Intn(size))
					if d, ok := builder.Field(i).(*array.BinaryDictionaryBuilder); ok {
						err = d.AppendString(s)
					} else {
						builder.Field(i).(*array.StringBuilder).Append(s)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			w := ipc.NewWriter(f, ipc.WithSchema(schema))
			if err := w.Write(builder.NewRecord()); err != nil {
				b.Fatal(err)
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			var buffers Buffers
			begin := cpuTime(b)
			b.ResetTimer()
			for range b.N {
				if n := readAll(b, dir, arrowSource, benchColumns(), &buffers); n != rows {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(cpuTime(b)-begin)/float64(b.N*rows*len(benchDomains)), "ns/code")
		})
	}
}
