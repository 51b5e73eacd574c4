package derive

// This file holds the rows of a published file as Parquet.

import (
	"bytes"
	"context"
	"reflect"
	"runtime"
	"strconv"

	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

const (
	// rowsPerGroup bounds the rows of one Parquet row group.
	rowsPerGroup = 1 << 20
	// rowsAtOnce is the number of rows passed to the library at a time. Pages end only between these.
	rowsAtOnce = 64
)

// compression is shared by all files, so that an encoder's megabytes of memory serve the next file.
var compression zstd.Codec

// encodeRows writes rows of columns as Parquet, the columns of a row group concurrently. Equal input gives equal bytes.
func encodeRows(ctx context.Context, columns []column, n int, metadata [][2]string) ([]byte, error) {
	var b bytes.Buffer
	options := []parquet.WriterOption{
		schemaOf(columns),
		parquet.Compression(&compression),
		parquet.CreatedBy("dprelease", "", ""),
		parquet.MaxRowsPerRowGroup(rowsPerGroup),
	}
	for _, kv := range metadata {
		options = append(options, parquet.KeyValueMetadata(kv[0], kv[1]))
	}
	w := parquet.NewGenericWriter[any](&b, options...)
	group := w.BeginRowGroup()
	for from := 0; from < n; from += rowsPerGroup {
		to := min(from+rowsPerGroup, n)
		if err := encodeGroup(ctx, group.ColumnWriters(), columns, from, to); err != nil {
			return nil, err
		}
		if _, err := group.Commit(); err != nil {
			return nil, err
		}
		progress.Add(ctx, int64(to-from))
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// encodeGroup writes the columns of a row group, each with its own writer.
func encodeGroup(ctx context.Context, writers []*parquet.ColumnWriter, columns []column, from, to int) error {
	return parallel.Do(ctx, runtime.GOMAXPROCS(0), len(columns), func(j int) error {
		values := make([]parquet.Value, rowsAtOnce)
		for row := from; row < to; row += rowsAtOnce {
			some := values[:min(rowsAtOnce, to-row)]
			columns[j].values(row, some)
			if _, err := writers[j].WriteRowValues(some); err != nil {
				return err
			}
		}
		return writers[j].Flush()
	})
}

// schemaOf declares the columns in order. It uses a struct type, since Parquet groups of the library are sorted by
// name. Texts are written plainly: the library's runs of dictionary indexes differ between processors, and compression
// leaves little of either.
func schemaOf(columns []column) *parquet.Schema {
	fields := make([]reflect.StructField, len(columns))
	for i, c := range columns {
		tag := c.Name
		switch {
		case c.kind.Kind() == reflect.Pointer:
			tag += ",optional,plain"
		case c.kind.Kind() == reflect.String:
			tag += ",plain"
		}
		fields[i] = reflect.StructField{
			Name: "C" + strconv.Itoa(i), Type: c.kind,
			Tag: reflect.StructTag(`parquet:` + strconv.Quote(tag)),
		}
	}
	return parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
}
