package source

import (
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// A goroutine that reads row groups allocates fewer than 200 objects for each, once its buffers have grown.
func TestRowGroupsAreReadInPlace(t *testing.T) {
	for name, optional := range map[string]bool{"required": false, "optional": true} {
		dir := t.TempDir()
		const group = 20_000
		benchParquet(t, dir, 6*group, group, optional, 0.01)
		for _, columns := range [][]Column{benchColumns(), append(benchColumns(), Values("id", "age")...)} {
			r, err := openFiles(t.Context(), dir,
				spec.TableSource{Format: files.Parquet, Paths: []string{"a.parquet"}}, columns)
			if err != nil {
				t.Fatal(err)
			}
			var b Buffers
			var before, after runtime.MemStats
			groups := uint64(0)
			for {
				if groups == 2 {
					runtime.ReadMemStats(&before)
				}
				p, err := r.Next(t.Context())
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Read(t.Context(), &b, 8<<10, func(*Batch) error { return nil }); err != nil {
					t.Fatal(err)
				}
				groups++
			}
			runtime.ReadMemStats(&after)
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			each := (after.Mallocs - before.Mallocs) / (groups - 2)
			t.Logf("%s, %d columns: %d objects, %d bytes per row group", name, len(columns), each,
				(after.TotalAlloc-before.TotalAlloc)/(groups-2))
			if groups != 6 || each >= 200 {
				t.Errorf("%s: %d objects per row group", name, each)
			}
		}
	}
}
