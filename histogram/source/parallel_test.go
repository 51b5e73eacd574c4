package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/spec"
	"github.com/parquet-go/parquet-go"
)

// Pieces that several goroutines read at once, some of them twice, have the same content as when one goroutine reads
// them.
func TestPiecesSideBySide(t *testing.T) {
	const rows = 60_000
	text := bytes.NewBufferString("b,a,c\n")
	for i := range rows {
		fmt.Fprintf(text, "%d,\"v%d\n%0200d\",x\n", i, i%5, i)
	}
	for name, f := range map[string]sound{
		"parquet": {source: parquetSource, bytes: wideBytes(t, rows, parquet.MaxRowsPerRowGroup(7000),
			parquet.PageBufferSize(5000))},
		"arrow": {source: arrowSource, bytes: arrowBytes(t, true, rows)},
		"csv":   {source: csvSource, bytes: text.Bytes()},
	} {
		dir := t.TempDir()
		for _, file := range []string{"a", "b"} {
			writeFile(t, dir, file+"."+string(f.source.Format), f.bytes)
		}
		want := codesByPiece(t, dir, f.source, 1)
		if got := codesByPiece(t, dir, f.source, 4); !slices.EqualFunc(got, want, slices.Equal[[]uint32]) {
			t.Errorf("%s: codes of %d pieces differ from those of %d", name, len(got), len(want))
		}
		if n := 0; len(want) < 4 {
			t.Errorf("%s: %d pieces", name, len(want))
		} else {
			for _, piece := range want {
				n += len(piece)
			}
			if n != 2*rows {
				t.Errorf("%s: %d rows", name, n)
			}
		}
	}
}

// codesByPiece reads a column as codes and, at the same time, as values.
func codesByPiece(t *testing.T, dir string, s spec.TableSource, workers int) [][]uint32 {
	t.Helper()
	r, err := openFiles(t.Context(), dir, s, []Column{{Name: "a", Coder: scatter(4)}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var mu sync.Mutex
	var all [][]uint32
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			var b Buffers
			for {
				mu.Lock()
				p, err := r.Next(t.Context())
				mu.Unlock()
				if errors.Is(err, io.EOF) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				var codes []uint32
				for range 1 + p.Number()%2 {
					codes = nil
					err = p.Read(t.Context(), &b, 999, func(b *Batch) error {
						codes = append(codes, b.Columns[0].(*array.Uint32).Uint32Values()...)
						return nil
					})
					if err != nil {
						t.Error(err)
						return
					}
				}
				mu.Lock()
				for len(all) <= p.Number() {
					all = append(all, nil)
				}
				all[p.Number()] = codes
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return all
}
