package derive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/internal/progress"
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
		var shares []int
		ctx := progress.Watch(t.Context(), func(p progress.Progress) { shares = append(shares, p.Share) })
		columns := manyRows(n)
		got, err := encodeRows(progress.Begin(ctx, int64(n), "writing"), columns, n, [][2]string{{"name", "value"}})
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
		reported := map[int][]int{0: {0}, 1: {0, 1000}, rowsAtOnce: {0, 1000}, rowsPerGroup + 5: {0, 999, 1000}}[n]
		if !slices.Equal(shares, reported) {
			t.Errorf("%d rows: shares of %v are reported", n, shares)
		}
	}
}

// Writing stops after the row group in which the context ends.
func TestWritingIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 2*rowsPerGroup + 5
	var last int
	ctx = progress.Watch(ctx, func(p progress.Progress) {
		if last = p.Share; last > 0 {
			cancel()
		}
	})
	_, err := encodeRows(progress.Begin(ctx, int64(n), "writing"), manyRows(n), n, nil)
	if !errors.Is(err, context.Canceled) || last != 499 { // of two large row groups and a small one
		t.Errorf("%v after %d ‰", err, last)
	}
}
