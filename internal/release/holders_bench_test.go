package release

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// BenchmarkHolders makes a release of a million cells by ten holders with 20 000 rows each. It prints the longest time
// and the largest memory of a holder that measures, from its file to its sealed share, and those of adding the shares.
// The bars are 5 s and 200 MB for a holder, and 2 s for adding. For the memory see [BenchmarkAdultWays].
func BenchmarkHolders(b *testing.B) {
	f := newFederation(b, trustText{10, 4, "disjoint"}, `version: 1
release: r
privacy: {protects: person, neighbours: add-remove, account: persons}
budget: {epsilon: 1}
tables:
  t: {source: {csv: t.csv}, unit: row, columns: {x: {type: integer, range: [0, 999]}, y: {type: integer, range: [0, 999]}}}
marginals: {cells: {by: [x, y]}}
`)
	for i := range f.holders {
		random, rows := rand.New(rand.NewPCG(uint64(i), 0)), strings.Builder{}
		rows.WriteString("x,y\n")
		for range 20_000 {
			fmt.Fprintf(&rows, "%d,%d\n", random.IntN(1000), random.IntN(1000))
		}
		f.give(b, i, rows.String())
	}
	f.sign(b)
	defer debug.SetGCPercent(debug.SetGCPercent(Garbage)) // as the command does
	var most, whole time.Duration
	var holderPeak, sumPeak float64
	for b.Loop() {
		for i := range f.holders {
			took, peak := costOf(b, func(ctx context.Context) error {
				_, err := Measure(ctx, f.plan, f.options(i))
				return err
			})
			most, holderPeak = max(most, took), max(holderPeak, peak)
		}
		whole, sumPeak = costOf(b, func(ctx context.Context) error {
			_, err := Combine(ctx, f.shares(), Options{Out: filepath.Join(f.dir, "office")})
			return err
		})
	}
	b.ReportMetric(most.Seconds(), "s/holder")
	b.ReportMetric(holderPeak, "peak-MB/holder")
	b.ReportMetric(whole.Seconds(), "s/sum")
	b.ReportMetric(sumPeak, "peak-MB/sum")
}

// costOf returns the time that something takes and the largest memory of the process meanwhile, in MB.
func costOf(b *testing.B, do func(ctx context.Context) error) (took time.Duration, peak float64) {
	b.Helper()
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // elsewhere than on Linux there is no peak to set back
	began := time.Now()
	if err := do(b.Context()); err != nil {
		b.Fatal(err)
	}
	took = time.Since(began)
	peak, _ = peakMemory()
	return took, peak
}
