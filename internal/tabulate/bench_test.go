//go:build unix

package tabulate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"
)

// cpu is the processor time of this process so far, whatever else the machine does.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// zipf draws codes whose chances fall as 1, 1/2, 1/3 …
func zipf(random *rand.Rand, size int) func() uint32 {
	sums := make([]float64, size)
	sum := 0.0
	for i := range sums {
		sum += 1 / float64(i+1)
		sums[i] = sum
	}
	var guide [1 << 16]uint32 // the codes of 65 536 equal parts of the chances
	at := 0
	for i := range guide {
		for sums[at] < sum*(float64(i)+0.5)/(1<<16) {
			at++
		}
		guide[i] = uint32(at)
	}
	return func() uint32 { return guide[random.Uint64()>>48] }
}

// benchRows is the table that notes and targets speak of.
const benchRows = 10_000_000

var survey = sync.OnceValue(func() [][]uint8 {
	random := rand.New(rand.NewPCG(1, 1))
	columns := make([][]uint8, len(surveySizes))
	for c, size := range surveySizes {
		draw := zipf(random, size)
		columns[c] = make([]uint8, benchRows)
		for i := range columns[c] {
			columns[c][i] = uint8(draw())
		}
	}
	return columns
})

// benchmark counts asks of the survey by two workers, and reports the processor time
// of adding rows and of making the tables.
func benchmark(b *testing.B, asks []TableRequest, keep []uint64) {
	columns := survey()
	const batch = 64 << 10
	var adding, finishing time.Duration
	for b.Loop() {
		c, err := New(Request{Axes: axesOf(surveySizes), Tables: asks, Rows: benchRows, Workers: 2, Memory: 1 << 30})
		if err != nil {
			b.Fatal(err)
		}
		start := cpu()
		var all sync.WaitGroup
		for half := range 2 {
			w := c.Worker()
			all.Go(func() {
				for from := half * batch; from < benchRows; from += 2 * batch {
					n := min(batch, benchRows-from)
					codes := make([]Codes, len(columns))
					for i := range columns {
						codes[i].U8 = columns[i][from : from+n]
					}
					var k []uint64
					if keep != nil {
						k = keep[from/64:]
					}
					if err := w.Add(codes, n, k, nil); err != nil {
						b.Error(err)
					}
				}
			})
		}
		all.Wait()
		middle := cpu()
		if _, err := c.Finish(context.Background()); err != nil {
			b.Fatal(err)
		}
		adding, finishing = adding+middle-start, finishing+cpu()-middle
	}
	b.ReportMetric(adding.Seconds()/float64(b.N), "add-CPU-s")
	b.ReportMetric(finishing.Seconds()/float64(b.N), "finish-CPU-s")
}

func BenchmarkPairs(b *testing.B)   { benchmark(b, subsets(12, 2), nil) }
func BenchmarkTriples(b *testing.B) { benchmark(b, subsets(12, 3), nil) }

func BenchmarkPairsOfKeptRows(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	keep := make([]uint64, benchRows/64+1)
	for i := range keep {
		keep[i] = random.Uint64() | random.Uint64()
	}
	benchmark(b, subsets(12, 2), keep)
}

func BenchmarkOneWideTable(b *testing.B) {
	benchmark(b, []TableRequest{{Axes: []int{6, 7, 8, 9}}}, nil)
}

func BenchmarkOneHugeTable(b *testing.B) {
	benchmark(b, []TableRequest{{Axes: []int{8, 9, 10, 11}}}, nil)
}

func BenchmarkOneSparseTable(b *testing.B) {
	benchmark(b, []TableRequest{{Axes: []int{8, 9, 10, 11}, Occupied: true}}, nil)
}

// BenchmarkCosts measures what a row costs a base of two super-columns, and prints
// the table of costs.go.
func BenchmarkCosts(b *testing.B) {
	const rows = 1 << 20
	for b.Loop() {
		random := rand.New(rand.NewPCG(1, 1))
		for _, cells := range updates {
			size := int(math.Sqrt(cells.cells))
			if size > superSize {
				continue
			}
			var short [2][]uint16
			for k := range short {
				// Super-columns of several axes: as uneven as products of Zipf codes are.
				outer := max(int(math.Sqrt(float64(size))), 1)
				x, y := zipf(random, outer), zipf(random, size/outer)
				short[k] = make([]uint16, rows)
				for i := range short[k] {
					short[k][i] = uint16(x()*uint32(size/outer) + y())
				}
			}
			table := make([]uint32, min(size*size, leastParted))
			count := func() { tallyTwo(table, short[0], short[1], size) }
			if size*size >= leastParted {
				of := baseColumns{short: short[:], sizes: []int{size, size}}
				p, cell := newParted(size*size, stretchBits, new(total)),
					make([]int, chunkRows/2)
				var l stretchBatches
				count = func() { l.addRows(p, of, rows, cell) }
			}
			least := time.Hour
			for range 5 {
				start := cpu()
				for range 4 {
					count()
				}
				least = min(least, cpu()-start)
			}
			fmt.Printf("\t{1 << %d, %.2f},\n", int(math.Log2(cells.cells)), float64(least.Nanoseconds())/(4*rows))
		}
	}
}
