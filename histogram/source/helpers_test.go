package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/spec"
)

// null is the text of a null in a test.
const null = "∅"

// writeFile writes a file into a folder and returns its path.
func writeFile(t testing.TB, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// textOf returns the text of a value, by which tests compare values.
func textOf(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return null
	}
	switch a := a.(type) {
	case *array.String:
		return strings.Clone(a.Value(i))
	case *array.LargeString:
		return strings.Clone(a.Value(i))
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

// register is a Coder that numbers texts in the order in which it first sees them, 0 for null.
type register struct {
	width   int
	mu      sync.Mutex
	numbers map[string]uint32
	texts   []string
}

func newRegister(width int) *register {
	return &register{width: width, numbers: map[string]uint32{null: 0}, texts: []string{null}}
}

func (r *register) Width() int { return r.width }

func (r *register) Codes(values arrow.Array, codes []uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range codes {
		s := textOf(values, i)
		code, ok := r.numbers[s]
		if !ok {
			code = uint32(len(r.texts))
			r.numbers[s], r.texts = code, append(r.texts, s)
		}
		if r.width < 4 {
			code %= 1 << (8 * r.width)
		}
		codes[i] = code
	}
}

// textsOf returns the texts of an array of codes.
func (r *register) textsOf(t testing.TB, a arrow.Array, largest uint32) []string {
	out := make([]string, a.Len())
	for i := range out {
		code := codeAt(a, i)
		if code > largest {
			t.Fatalf("the code %d is above the largest, %d", code, largest)
		}
		out[i] = r.texts[code]
	}
	return out
}

func codeAt(a arrow.Array, i int) uint32 {
	switch a := a.(type) {
	case *array.Uint8:
		return uint32(a.Value(i))
	case *array.Uint16:
		return uint32(a.Value(i))
	}
	return a.(*array.Uint32).Value(i)
}

// Values returns the columns without a Coder.
func Values(names ...string) []Column {
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	return columns
}

// batchSize is how many rows a test reads at a time; no size in the tests is a multiple of it.
const batchSize = 4999

// readContent reads a table in three ways that must agree: as records, as values and as codes. It returns the rows as
// texts and the types of the columns.
func readContent(t testing.TB, dir string, s spec.TableSource, columns ...string) (rows [][]string,
	types map[string]bool,
	err error) {
	t.Helper()
	types = map[string]bool{}
	wanted, registers := Values(columns...), make([]*register, len(columns))
	for i := range columns {
		registers[i] = newRegister(4)
		wanted = append(wanted, Column{Name: columns[i], Coder: registers[i]})
	}
	ctx := context.Background()
	r, err := openFiles(ctx, dir, s, wanted)
	if err != nil {
		return nil, nil, err
	}
	var b Buffers
	pieces := 0
	for {
		p, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.Close()
			return nil, nil, err
		}
		if p.Number() != pieces {
			t.Fatalf("piece %d has the number %d", pieces, p.Number())
		}
		pieces++
		start, read := len(rows), 0
		err = p.Read(ctx, &b, batchSize, func(batch *Batch) error {
			if batch.Rows < 1 || batch.Rows > batchSize || len(batch.Columns) != len(wanted) ||
				batch.First != int64(read) {
				t.Fatalf("a batch of %d × %d from %d after %d rows", batch.Rows, len(batch.Columns), batch.First, read)
			}
			read += batch.Rows
			for range batch.Rows {
				rows = append(rows, make([]string, len(columns)))
			}
			for j := range columns {
				at := len(columns) + j
				values, codes := batch.Columns[j], registers[j].textsOf(t, batch.Columns[at], batch.Largest[at])
				types[values.DataType().String()] = true
				if values.Len() != batch.Rows || len(codes) != batch.Rows {
					t.Fatalf("%d rows, %d values and %d codes", batch.Rows, values.Len(), len(codes))
				}
				for i := range batch.Rows {
					if rows[len(rows)-batch.Rows+i][j] = textOf(values, i); codes[i] != textOf(values, i) {
						t.Fatalf("row %d of %s has the value %q and the code of %q", i, columns[j], textOf(values, i),
							codes[i])
					}
				}
			}
			return nil
		})
		if err != nil {
			r.Close()
			return nil, nil, err
		}
		if p.Rows() >= 0 && p.Rows() != int64(read) {
			t.Fatalf("a piece of %d rows gave %d", p.Rows(), read)
		}
		checkRaw(t, p, rows[start:], len(columns))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if r.Rows() >= 0 && r.Rows() != int64(len(rows)) {
		t.Fatalf("a table of %d rows gave %d", r.Rows(), len(rows))
	}
	return rows, types, nil
}

// checkRaw checks that a piece read by Raw has the rows.
func checkRaw(t testing.TB, p *Piece, rows [][]string, columns int) {
	t.Helper()
	at := 0
	err := p.Raw(context.Background(), func(record arrow.Record) error {
		if record.NumRows() < 1 || record.NumRows() > MaxRows {
			t.Fatalf("a record of %d rows", record.NumRows())
		}
		for i := range int(record.NumRows()) {
			for j := range columns {
				if a, b := textOf(record.Column(j), i), textOf(record.Column(columns+j), i); a != rows[at][j] ||
					b != a {
					t.Fatalf("row %d is raw %q and %q, else %q", at, a, b, rows[at][j])
				}
			}
			at++
		}
		return nil
	})
	if err != nil || at != len(rows) {
		t.Fatalf("%d of %d rows raw, %v", at, len(rows), err)
	}
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

func columnOf(rows [][]string, j int) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r[j]
	}
	return out
}

// countRows returns the number of rows. It reads every column as values and as codes whose width depends on the
// column's index.
func countRows(dir string, s spec.TableSource, columns []string) (n int64, err error) {
	ctx := context.Background()
	wanted := Values(columns...)
	for i, c := range columns {
		wanted = append(wanted, Column{Name: c, Coder: newRegister(1 << (i % 3))})
	}
	r, err := openFiles(ctx, dir, s, wanted)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	var b Buffers
	for {
		p, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		if err := p.Read(ctx, &b, 17, func(batch *Batch) error { n += int64(batch.Rows); return nil }); err != nil {
			return 0, err
		}
	}
}

// readPieces reads the rest of a table and returns its rows.
func readPieces(t testing.TB, r *Reader, b *Buffers) (n int64) {
	t.Helper()
	for {
		p, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		err = p.Read(t.Context(), b, 64<<10, func(batch *Batch) error {
			n += int64(batch.Rows)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// openFiles opens the files of a source below a folder.
func openFiles(ctx context.Context, dir string, s spec.TableSource, columns []Column) (*Reader, error) {
	return Open(ctx, Data{Dir: dir}, &spec.Table{Source: s}, columns)
}
