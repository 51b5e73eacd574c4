package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec"
)

// null is how column values of a test spell a null.
const null = "∅"

// write puts a file into a folder and returns its path.
func write(t testing.TB, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// text is a value of an array as a test compares it.
func text(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return null
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return a.Dictionary().(*array.String).Value(a.GetValueIndex(i))
	case *array.String:
		return a.Value(i)
	case *array.LargeString:
		return a.Value(i)
	case *array.Int64:
		return fmt.Sprint(a.Value(i))
	case *array.Float64:
		return fmt.Sprint(a.Value(i))
	case *array.Boolean:
		return fmt.Sprint(a.Value(i))
	case *array.Date32:
		return fmt.Sprintf("%dd", a.Value(i))
	case *array.Timestamp:
		return fmt.Sprintf("%dus", a.Value(i))
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	}
	return "type " + a.DataType().String()
}

// content reads everything with a checked allocator: rows of texts and the types seen.
func content(t testing.TB, dir string, s spec.TableSource, columns ...string) (rows [][]string, types map[string]bool, err error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	ctx := context.Background()
	types = map[string]bool{}
	r, err := openWith(ctx, dir, s, columns, mem)
	if err != nil {
		return nil, nil, err
	}
	for {
		record, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.Close()
			return nil, nil, err
		}
		if record.NumRows() < 1 || record.NumRows() > MaxRows || int(record.NumCols()) != len(columns) {
			t.Fatalf("a record of %d × %d", record.NumRows(), record.NumCols())
		}
		start := len(rows)
		for range record.NumRows() {
			rows = append(rows, make([]string, len(columns)))
		}
		for j, c := range record.Columns() {
			types[c.DataType().String()] = true
			for i := range c.Len() {
				rows[start+i][j] = text(c, i)
			}
		}
		record.Release()
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	mem.AssertSize(t, 0)
	return rows, types, nil
}

// mustFail checks the kind of an error and returns it.
func mustFail(t testing.TB, err error, kind ErrorKind) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("got %v, want an error of kind %q", err, kind)
	}
	return e
}

func column(rows [][]string, j int) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r[j]
	}
	return out
}

// rowsOf reads everything and counts the rows.
func rowsOf(dir string, s spec.TableSource, columns []string, mem memory.Allocator) (n int64, err error) {
	ctx := context.Background()
	r, err := openWith(ctx, dir, s, columns, mem)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for {
		record, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		n += record.NumRows()
		record.Release()
	}
}
