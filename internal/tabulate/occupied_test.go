package tabulate

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/testkit"
	"pgregory.net/rapid"
)

// heapPeak is the most bytes of the heap, garbage and all, that do has beyond what was
// there before.
func heapPeak(do func()) int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	do()
	close(stop)
	<-stopped
	return int64(peak) - int64(before)
}

// adds gives every worker its share of rows, all at once: row i has the codes of code(i),
// in two columns.
func adds(t *testing.T, c *Counter, workers, rows int, code func(i int) (uint8, uint32)) {
	var all sync.WaitGroup
	for k := range workers {
		w := c.Worker()
		all.Go(func() {
			a, b := make([]uint8, chunkRows), make([]uint32, chunkRows)
			for from := k * chunkRows; from < rows; from += workers * chunkRows {
				n := min(chunkRows, rows-from)
				for i := range n {
					a[i], b[i] = code(from + i)
				}
				if err := w.Add([]Codes{{U8: a}, {U32: b}}, n, nil, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// occupiedRequest asks for one table of occupied cells of 200 · 2^22 cells, or for that of each axis
// of two.
func occupiedRequest(workers int, memory int64) Request {
	return Request{Workers: workers, Memory: memory, Axes: []Axis{{Column: 0, Size: 200}, {Column: 1, Size: 1 << 22}},
		Tables: []TableRequest{{Axes: []int{0, 1}, Occupied: true}}}
}

// The heap stays within the memory given, and half a megabyte for what goes on beside,
// whether the cells that fit are all over the table or all in one place of it, come once
// or many times, and whether they fit or not.
func TestOccupiedCellsStayWithinTheirMemory(t *testing.T) {
	testkit.SkipUnderRace(t)
	const limit = 64 << 20
	for _, times := range []int{1, 5} {
		for _, over := range []int{0, 1, 300_000} {
			for name, first := range map[string]int{"all over": 200, "in one place": 1} {
				var err error
				cells, found := 0, 0
				peak := heapPeak(func() {
					c, fail := New(occupiedRequest(2, limit))
					if fail != nil {
						t.Fatal(fail)
					}
					cells = int(c.occupied[0].limit) + over
					adds(t, c, 2, times*cells, func(i int) (uint8, uint32) {
						i %= cells
						return uint8(i % first), uint32(i * 2357 % (1 << 22)) // different: 2357 is odd
					})
					var tables []Table
					if tables, err = c.Finish(t.Context()); err == nil {
						found = len(tables[0].Cells)
					}
				})
				if want := over > 0; errors.Is(err, ErrMemory) != want || !want && found != cells {
					t.Errorf("%d cells %s, %d times: found %d, %v", cells, name, times, found, err)
				}
				if peak > limit+512<<10 {
					t.Errorf("%d cells %s, %d times: %d bytes of %d", cells, name, times, peak, limit)
				}
				t.Logf("%d cells %s, %d times: %.2f of the memory", cells, name, times, float64(peak)/limit)
			}
		}
	}
}

// Whether cells fit depends on how many there are, and on nothing else: not on the
// workers, nor on which of them is first.
func TestWhetherOccupiedCellsFitIsOfTheRowsAlone(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		for over := range 2 {
			for range 4 {
				r := occupiedRequest(workers, 1)
				r.Tables = append(r.Tables, TableRequest{Axes: []int{1}, Occupied: true}, TableRequest{Axes: []int{0}})
				c, err := New(r)
				if err != nil {
					t.Fatal(err)
				}
				if limit := int(c.occupied[0].limit); limit != leastPool/8*7/cellBytes {
					t.Fatalf("%d workers: %d cells", workers, limit)
				}
				cells := int(c.occupied[0].limit) / 2 // of each of the two tables
				odd := int(c.occupied[0].limit) % 2   // the first has a cell more
				adds(t, c, workers, 3*cells, func(i int) (uint8, uint32) {
					if b := i % cells; i < cells || b > 0 {
						return 7, uint32(b)
					}
					if i < 2*cells {
						return uint8(7 + odd), 0
					}
					return uint8(7 + 2*over), 0
				})
				if _, err := c.Finish(t.Context()); errors.Is(err, ErrMemory) != (over > 0) || over == 0 && err != nil {
					t.Fatalf("%d workers, %d cells too many: %v", workers, over, err)
				}
			}
		}
	}
}

// Runs are sorted as by the library, whatever the digits are like.
func TestRunsAreSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.SampledFrom([]int{0, 1, 2, shortRun, shortRun + 1, 1000, sortAtOnce, 3 * sortAtOnce}).Draw(t,
			"cells")
		mask := rapid.SampledFrom([]uint64{0xFFFFF, 1<<63 - 1, 0x7FFF_0000_0000_00FF}).Draw(t, "bits")
		high := rapid.SampledFrom([]uint64{0, 1 << 62}).Draw(t, "high")
		there := map[uint64]bool{}
		var r run
		var want []pair
		for i := range n {
			cell := random.Uint64()&mask | high
			if there[cell] {
				continue
			}
			there[cell] = true
			r.cells, r.counts = append(r.cells, cell), append(r.counts, int64(i))
			want = append(want, pair{cell, int64(i)})
		}
		slices.SortFunc(want, func(a, b pair) int { return cmp.Compare(a.cell, b.cell) })
		if err := sortCells(t.Context(), 2, r); err != nil {
			t.Fatal(err)
		}
		for i, x := range want {
			if r.cells[i] != x.cell || r.counts[i] != x.count {
				t.Fatalf("pair %d of %d is %d, %d, want %v", i, len(want), r.cells[i], r.counts[i], x)
			}
		}
	})
}
