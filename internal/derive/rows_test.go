package derive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// manyRows returns columns of every kind, for any number of rows.
func manyRows(n int) []column {
	flags := make([]synth.Flag, n)
	for i := range flags {
		flags[i] = []synth.Flag{synth.Plain, synth.NoiseDominates, synth.Plain, synth.Impossible}[i/3%4]
	}
	of := func(value func(row int) parquet.Value) func(int, []parquet.Value) {
		return func(row int, into []parquet.Value) {
			for i := range into {
				into[i] = value(row + i)
			}
		}
	}
	return []column{
		{Name: "text", kind: textKind,
			values: of(func(row int) parquet.Value { return parquet.ValueOf(fmt.Sprint("code ", row*row%1009)) })},
		{Name: "whole", kind: integerKind,
			values: of(func(row int) parquet.Value { return parquet.ValueOf(int64(row*7919%65537 - 30000)) })},
		{Name: "decimal", kind: decimalKind,
			values: of(func(row int) parquet.Value { return parquet.ValueOf(float64(row%911) / 7) })},
		{Name: "flag", kind: optionalText, values: flagValues(flags)},
	}
}

// Columns that are written concurrently give the bytes of writing row after row, and progress is reported group by
// group.
func TestColumnsSideBySideAreRowsOneByOne(t *testing.T) {
	for _, n := range []int{0, 1, rowsAtOnce, rowsPerGroup + 5} {
		var told []int
		columns := manyRows(n)
		got, err := encodeRows(t.Context(), columns, n, [][2]string{{"name", "value"}},
			func(rows int) { told = append(told, rows) })
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		w := parquet.NewGenericWriter[any](&want, schemaOf(columns), parquet.Compression(&zstd.Codec{}),
			parquet.CreatedBy("dprelease", "", ""),
			parquet.MaxRowsPerRowGroup(rowsPerGroup), parquet.KeyValueMetadata("name", "value"))
		value := make([]parquet.Value, 1)
		for from := 0; from < n; from += rowsAtOnce {
			var rows []parquet.Row
			for row := from; row < min(from+rowsAtOnce, n); row++ {
				var r parquet.Row
				for j, c := range columns {
					c.values(row, value)
					r = append(r, value[0].Level(0, value[0].DefinitionLevel(), j))
				}
				rows = append(rows, r)
			}
			if _, err := w.WriteRows(rows); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%d rows: %d bytes, row by row other %d", n, len(got), want.Len())
		}
		groups := map[int][]int{0: nil, 1: {1}, rowsAtOnce: {rowsAtOnce}, rowsPerGroup + 5: {rowsPerGroup, 5}}[n]
		if !slices.Equal(told, groups) {
			t.Errorf("%d rows: told of %v", n, told)
		}
	}
}

// Writing stops after the row group in which the context ends.
func TestWritingIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n, groups := 2*rowsPerGroup+5, 0
	_, err := encodeRows(ctx, manyRows(n), n, nil, func(int) { groups++; cancel() })
	if !errors.Is(err, context.Canceled) || groups != 1 {
		t.Errorf("%v after %d row groups", err, groups)
	}
}
