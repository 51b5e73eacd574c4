package tabulate

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// counted is what an ask must come to, by cell.
func counted(r Request, a TableRequest, columns [][]uint32, keep []uint64, weights []int64) map[int]*big.Int {
	out := map[int]*big.Int{}
	for row := range columns[0] {
		if keep != nil && keep[row/64]>>(row%64)&1 == 0 {
			continue
		}
		cell, weight := 0, int64(1)
		for _, axis := range a.Axes {
			code := columns[r.Axes[axis].Column][row]
			if of := r.Axes[axis].CodeOf; of != nil {
				code = of[code]
			}
			cell = cell*r.Axes[axis].Size + int(code)
		}
		if weights != nil {
			weight = weights[row]
		}
		if out[cell] == nil {
			out[cell] = new(big.Int)
		}
		out[cell].Add(out[cell], big.NewInt(weight))
	}
	return out
}

// sum is a count of a table in full.
func (t Table) sum(i int) *big.Int {
	if t.High == nil {
		return big.NewInt(t.Counts[i])
	}
	x := new(big.Int).Lsh(big.NewInt(t.High[i]), 64)
	return x.Add(x, new(big.Int).SetUint64(uint64(t.Counts[i])))
}

// wide is a table with counts in 64 bits.
func (t Table) wide() Table {
	if t.Compact != nil {
		for _, low := range t.Compact.Low {
			t.Counts = append(t.Counts, int64(low))
		}
		for _, cell := range t.Compact.Over {
			t.Counts[cell] += 256
		}
	}
	return t
}

// holds fails unless a table is what the reference says.
func holds(t rapid.TB, a TableRequest, got Table, want map[int]*big.Int, cells int) {
	t.Helper()
	if a.Occupied {
		var occupied []uint64
		for cell := range want {
			occupied = append(occupied, uint64(cell))
		}
		slices.Sort(occupied)
		if !slices.Equal(got.Cells, occupied) {
			t.Fatalf("ask %v: cells %v, want %v", a, got.Cells, occupied)
		}
		for i, cell := range occupied {
			if got.sum(i).Cmp(want[int(cell)]) != 0 {
				t.Fatalf("ask %v: cell %d has %v, want %v", a, cell, got.sum(i), want[int(cell)])
			}
		}
		return
	}
	got = got.wide()
	if len(got.Counts) != cells || got.Cells != nil {
		t.Fatalf("ask %v: %d cells, want %d", a, len(got.Counts), cells)
	}
	for cell := range cells {
		w := cmp.Or(want[cell], new(big.Int))
		if got.sum(cell).Cmp(w) != 0 {
			t.Fatalf("ask %v: cell %d has %v, want %v", a, cell, got.sum(cell), w)
		}
	}
}

// drawRequest draws axes over columns, some of them coarser than their column, and asks.
func drawRequest(t *rapid.T) (r Request, sizes []int) {
	sizes = rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 3, 5, 17, 255, 256, 257, 300, 70000}), 1, 6).Draw(t, "sizes")
	for column, size := range sizes {
		for range rapid.IntRange(1, 3).Draw(t, "levels") {
			a := Axis{Column: column, Size: size}
			if coarse := rapid.IntRange(0, 3).Draw(t, "width"); coarse > 0 && size > 1 {
				width := rapid.SampledFrom([]int{2, 4, 6, 100, 70000}).Draw(t, "by")
				a.CodeOf = make([]uint32, size)
				for i := range a.CodeOf {
					a.CodeOf[i] = uint32(i / width)
				}
				a.Size = (size-1)/width + 1
			}
			r.Axes = append(r.Axes, a)
		}
	}
	asks := rapid.IntRange(1, 12).Draw(t, "asks")
	for range asks {
		a := TableRequest{Occupied: rapid.IntRange(0, 3).Draw(t, "sparse") == 0}
		cells := 1
		for axis := range r.Axes {
			if rapid.IntRange(0, len(r.Axes)).Draw(t, "take") < 2 {
				if cells *= r.Axes[axis].Size; cells > 300_000 && !a.Occupied || cells > 1<<40 {
					break
				}
				a.Axes = append(a.Axes, axis)
			}
		}
		if rapid.Bool().Draw(t, "turned") {
			slices.Reverse(a.Axes)
		}
		r.Tables = append(r.Tables, a)
	}
	return r, sizes
}

// codesIn are codes in the least width that holds a size, or in a wider one.
func codesIn(codes []uint32, size, wider int) Codes {
	var c Codes
	switch {
	case size <= 1<<8 && wider == 0:
		for _, x := range codes {
			c.U8 = append(c.U8, uint8(x))
		}
	case size <= 1<<16 && wider < 2:
		for _, x := range codes {
			c.U16 = append(c.U16, uint16(x))
		}
	default:
		c.U32 = codes
	}
	return c
}

// Whatever the axes, asks, workers, blocks, memory, limits of tables, rows kept and
// weights: the tables are those of a reference that counts row by row.
func TestTablesAreThoseOfCountingRowByRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, sizes := drawRequest(t)
		r.Workers = rapid.IntRange(1, 4).Draw(t, "workers")
		r.Memory = rapid.SampledFrom([]int64{0, 1 << 14, 1 << 20, 1 << 30}).Draw(t, "memory")
		r.Rows = rapid.SampledFrom([]int64{0, 1, 1000, 1 << 40}).Draw(t, "rows known")
		r.HasAddends = rapid.Bool().Draw(t, "weighted")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows := rapid.SampledFrom([]int{1, 63, 64, 65, 5000, 9000}).Draw(t, "rows")
		columns := make([][]uint32, len(sizes))
		for c, size := range sizes {
			for range rows {
				columns[c] = append(columns[c], uint32(min(random.IntN(size), random.IntN(size))))
			}
		}
		var keep []uint64
		if rapid.Bool().Draw(t, "keep") {
			for range (rows + 63) / 64 {
				keep = append(keep, random.Uint64()|-uint64(random.IntN(2)))
			}
		}
		var weights []int64
		if r.HasAddends {
			most := rapid.SampledFrom([]int64{1, 1 << 30, math.MaxInt64}).Draw(t, "weights")
			for i := range rows {
				weights = append(weights, random.Int64N(most)-most/3)
				if slices.ContainsFunc(r.Tables, func(a TableRequest) bool { return a.Occupied }) {
					weights[i] %= 1 << 40
				}
			}
		}
		c, err := New(r)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "small") {
			c.block = chunkRows
			if !r.HasAddends {
				c.most = uint64(chunkRows) // rows that a table may count before they are moved
			}
		}
		for i, b := range c.bases {
			switch how := rapid.IntRange(0, 5).Draw(t, "share"); {
			case how == 0:
				c.common[i] = &table{total: &c.totals[i]}
			case how < 3 && !r.HasAddends:
				c.common[i], c.parted[i] = nil, newParted(b.cells, rapid.IntRange(0, 12).Draw(t, "stretch"),
					&c.totals[i])
			}
		}
		var all sync.WaitGroup
		wider := rapid.IntRange(0, 2).Draw(t, "wider")
		for w := range r.Workers {
			worker := c.Worker()
			all.Go(func() {
				from, to := w*rows/r.Workers/64*64, (w+1)*rows/r.Workers/64*64
				if w == r.Workers-1 {
					to = rows
				}
				var codes []Codes
				for i, column := range columns {
					codes = append(codes, codesIn(column[from:to], sizes[i], wider))
				}
				k, ws := keep, weights
				if keep != nil {
					k = keep[from/64:]
				}
				if weights != nil {
					ws = weights[from:to]
				}
				if from < to {
					if err := worker.Add(codes, to-from, k, ws); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		tables, err := c.Finish(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range r.Tables {
			cells, _ := r.cellsOf(a)
			holds(t, a, tables[i], counted(r, a, columns, keep, weights), cells)
		}
	})
}

// Counts beyond 2^32 are what they are: a table is moved before it could run over.
func TestCountsBeyond32Bits(t *testing.T) {
	c, err := New(Request{Axes: []Axis{{Size: 2}}, Tables: []TableRequest{{Axes: []int{0}}}})
	if err != nil {
		t.Fatal(err)
	}
	w := c.Worker()
	w.tables[0].tallies, w.tables[0].bound = []uint32{math.MaxUint32 - 5, 3}, math.MaxUint32-2
	if err := w.Add([]Codes{{U8: make([]uint8, 1000)}}, 1000, nil, nil); err != nil {
		t.Fatal(err)
	}
	tables, err := c.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []int64{math.MaxUint32 + 995, 3}; !slices.Equal(tables[0].Counts, want) {
		t.Errorf("counts %v, want %v", tables[0].Counts, want)
	}
}

// Nor do counts of 8 bits run over: each carry is 256 rows, and stretches with as many as they may hold are moved.
func TestCountsOfPartedTablesBeyondTheirBits(t *testing.T) {
	for _, carries := range []int{0, 1, 1 << 24} {
		c, err := New(Request{Axes: []Axis{{Size: 3000}}, Tables: []TableRequest{{Axes: []int{0}}}})
		if err != nil {
			t.Fatal(err)
		}
		c.common[0], c.parted[0] = nil, newParted(3000, 10, &c.totals[0])
		w := c.Worker()
		s := &c.parted[0].stretches[2]
		s.counts[3], s.touched, s.carries = 250, true, make([]uint32, carries)
		for i := range s.carries {
			s.carries[i] = 3
		}
		column := make([]uint16, 1000)
		for i := range column {
			column[i] = 2048 + 3
		}
		if err := w.Add([]Codes{{U16: column}}, 1000, nil, nil); err != nil {
			t.Fatal(err)
		}
		w.countBlock()
		if len(s.carries) > len(s.counts)/cellsOfCarry {
			t.Errorf("%d carries are held", len(s.carries))
		}
		tables, err := c.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if narrow := tables[0].Compact != nil; narrow != (carries < 1<<24) {
			t.Errorf("%d carries: counts are narrow: %t", carries, narrow)
		}
		want, got := make([]int64, 3000), tables[0].wide().Counts
		want[2051] = int64(carries)<<8 + 1250
		if !slices.Equal(got, want) {
			t.Errorf("%d carries: cell 2051 has %d rows, want %d", carries, got[2051], want[2051])
		}
	}
}

// One table of as many cells as it takes is parted without being told to, shared by its workers, and finished by them.
func TestLargeTablesAreParted(t *testing.T) {
	sizes := []int{200, 70, 190}
	r := Request{Axes: axesOf(sizes), Tables: []TableRequest{{Axes: []int{0, 1, 2}}}, Workers: 2, Memory: 1 << 30}
	c, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.bases) != 1 || len(c.parted[0].stretches) != 6 { // 2 660 000 cells
		t.Fatalf("it has %d bases, of which the first is %+v", len(c.bases), c.bases[0])
	}
	const rows = 300_000
	random := rand.New(rand.NewPCG(5, 6))
	want := make([]int64, 200*70*190)
	codes := [2][]Codes{make([]Codes, len(sizes)), make([]Codes, len(sizes))}
	for i := range 2 * rows {
		cell := 0
		often := i%3 == 0 // in one cell, at which both workers meet
		for k, size := range sizes {
			code := random.IntN(size)
			if often {
				code = 1
			}
			codes[i%2][k].U8 = append(codes[i%2][k].U8, uint8(code))
			cell = cell*size + code
		}
		want[cell]++
	}
	w := [2]*Worker{c.Worker(), c.Worker()}
	var all sync.WaitGroup
	for i := range w {
		all.Go(func() {
			if err := w[i].Add(codes[i], rows, nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	tables, err := c.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tables[0].wide().Counts, want) {
		t.Error("counts are not those of a loop over rows")
	}
	if !slices.IsSorted(tables[0].Compact.Over) {
		t.Error("cells that ran over do not ascend")
	}
	for range 1000 {
		first := random.IntN(len(want))
		got := make([]int64, random.IntN(min(1000, len(want)-first)+1))
		if tables[0].Compact.Read(got, first); !slices.Equal(got, want[first:first+len(got)]) {
			t.Fatalf("the %d counts from %d on are others", len(got), first)
		}
	}
}

// A table of occupied cells whose occupied cells do not fit is refused; one that fits is merged
// from as many runs as it takes.
func TestOccupiedCellsKeepToTheirMemory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		cells uint32
		err   error
	}{{300_000, nil}, {math.MaxUint32 - 1, ErrMemory}} {
		r := Request{Axes: []Axis{{Size: int(test.cells)}}, Tables: []TableRequest{{Axes: []int{0}, Occupied: true}},
			Workers: 2}
		c, err := New(r)
		if err != nil {
			t.Fatal(err)
		}
		w := [2]*Worker{c.Worker(), c.Worker()}
		column := make([]uint32, 100_000)
		want := map[uint64]int64{}
		for i := range 20 {
			for k := range column {
				column[k] = random.Uint32N(test.cells)
				want[uint64(column[k])]++
			}
			if err = w[i%2].Add([]Codes{{U32: column}}, len(column), nil, nil); err != nil {
				break
			}
		}
		var tables []Table
		if err == nil {
			tables, err = c.Finish(t.Context())
		}
		if !errors.Is(err, test.err) {
			t.Fatalf("%d cells: %v, want %v", test.cells, err, test.err)
		}
		if err != nil {
			continue
		}
		if len(tables[0].Cells) != len(want) || !slices.IsSorted(tables[0].Cells) {
			t.Fatalf("%d cells, want %d, ascending", len(tables[0].Cells), len(want))
		}
		for i, cell := range tables[0].Cells {
			if tables[0].Counts[i] != want[cell] {
				t.Fatalf("cell %d: %d, want %d", cell, tables[0].Counts[i], want[cell])
			}
		}
	}
}

// What cannot be counted is refused.
func TestRequestsThatCannotBeCounted(t *testing.T) {
	for name, r := range map[string]Request{
		"no such axis":  {Tables: []TableRequest{{Axes: []int{0}}}},
		"an empty axis": {Axes: []Axis{{Size: 0}}},
		"too many cells": {Axes: []Axis{{Size: 1 << 31}, {Size: 1 << 31, Column: 1}, {Size: 4, Column: 2}},
			Tables: []TableRequest{{Axes: []int{0, 1, 2}, Occupied: true}}},
		"a code too many": {Axes: []Axis{{Size: 2, CodeOf: []uint32{0, 1, 2}}}},
	} {
		if _, err := New(r); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	c, err := New(Request{Axes: []Axis{{Size: 2}}, Tables: []TableRequest{{Axes: []int{0}}}, HasAddends: true})
	if err != nil {
		t.Fatal(err)
	}
	w := c.Worker()
	for name, err := range map[string]error{
		"no weights":        w.Add([]Codes{{U8: []uint8{0}}}, 1, nil, nil),
		"too few codes":     w.Add([]Codes{{U8: []uint8{0}}}, 2, nil, []int64{1, 1}),
		"a weight of -2^63": w.Add([]Codes{{U8: []uint8{0}}}, 1, nil, []int64{math.MinInt64}),
	} {
		if err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

func TestFinishHeedsTheContext(t *testing.T) {
	c, err := New(Request{Axes: []Axis{{Size: 2}}, Tables: []TableRequest{{Axes: []int{0}}}})
	if err != nil {
		t.Fatal(err)
	}
	c.Worker()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Finish(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("finished with %v", err)
	}
}

// surveySizes are the domains of a table such as surveys have.
var surveySizes = []int{2, 2, 3, 5, 7, 9, 15, 16, 42, 51, 85, 100}

// subsets are all sets of so many of n axes.
func subsets(n, of int) []TableRequest {
	var all []TableRequest
	var add func(from int, axes []int)
	add = func(from int, axes []int) {
		if len(axes) == of {
			all = append(all, TableRequest{Axes: slices.Clone(axes)})
			return
		}
		for a := from; a < n; a++ {
			add(a+1, append(axes, a))
		}
	}
	add(0, nil)
	return all
}

func axesOf(sizes []int) []Axis {
	var axes []Axis
	for c, size := range sizes {
		axes = append(axes, Axis{Column: c, Size: size})
	}
	return axes
}

// coverCase is a request with the most that its cover may take.
type coverCase struct {
	name  string
	r     Request
	bases int
	cells int // of all bases
}

func coverCases() []coverCase {
	random := rand.New(rand.NewPCG(3, 4))
	var sizes []int
	for range 100 {
		sizes = append(sizes, 2+random.IntN(30))
	}
	var many []TableRequest
	for range 5000 {
		axes := random.Perm(100)[:1+random.IntN(3)]
		many = append(many, TableRequest{Axes: axes})
	}
	all := slices.Concat(subsets(12, 0), subsets(12, 1), subsets(12, 2), subsets(12, 3))
	return []coverCase{
		{"pairs", Request{Axes: axesOf(surveySizes), Tables: subsets(12, 2), Rows: 1e7, Workers: 2, Memory: 1 << 30},
			16,
			500_000},
		{"triples", Request{Axes: axesOf(surveySizes), Tables: subsets(12, 3), Rows: 1e7, Workers: 2, Memory: 1 << 30},
			60,
			7_000_000},
		{"up to triples", Request{Axes: axesOf(surveySizes), Tables: all, Rows: 1e7, Workers: 2, Memory: 1 << 30}, 60,
			7_000_000},
		{"5000 of 100 axes", Request{Axes: axesOf(sizes), Tables: many, Rows: 1e7, Workers: 2, Memory: 1 << 30}, 2200,
			12_000_000},
		{"each of 300 axes", Request{Axes: axesOf(slices.Repeat([]int{10}, 300)), Tables: subsets(300, 1), Rows: 1e7,
			Workers: 2, Memory: 1 << 30}, 100, 1_000_000},
		{"all pairs of 100 axes", Request{Axes: axesOf(sizes), Tables: subsets(100, 2), Rows: 1e7, Workers: 2,
			Memory: 1 << 30},
			2800, 5_000_000},
	}
}

// Planning merges what is worth it.
func TestCoversAreFew(t *testing.T) {
	for _, test := range coverCases() {
		c := newCover(&test.r)
		cells := 0
		for _, b := range c.bases {
			cells += b.cells
		}
		t.Logf("%s: %d groups, %d bases, %d cells, block %d", test.name, len(c.groups), len(c.bases), cells, c.block)
		if len(c.bases) > test.bases || cells > test.cells {
			t.Errorf("%s: %d bases of %d cells, more than %d of %d", test.name, len(c.bases), cells, test.bases,
				test.cells)
		}
	}
}

// Covers are planned in 10 to 100 ms.
func BenchmarkCovers(b *testing.B) {
	for _, c := range coverCases() {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				newCover(&c.r)
			}
		})
	}
}

// besideAFineAxis is a request of axes that do not nest, one of asks for occupied cells alone that tells apart what
// they do, and axes of other columns.
func besideAFineAxis(seed uint64) Request {
	random := rand.New(rand.NewPCG(seed, 5))
	r := Request{Rows: []int64{1000, 1e5, 1e7}[random.IntN(3)], Workers: 1 + random.IntN(2), Memory: 1 << 30}
	fine := []int{20, 32, 64, 200, 256, 1000, 5000}[random.IntN(7)]
	r.Axes = append(r.Axes, Axis{Column: 0, Size: fine})
	for range 2 + random.IntN(6) {
		coarse := Axis{Column: 0, Size: 2 + random.IntN(fine), CodeOf: make([]uint32, fine)}
		for i := range coarse.CodeOf {
			coarse.CodeOf[i] = uint32(random.IntN(coarse.Size))
		}
		r.Axes = append(r.Axes, coarse)
	}
	for c := range 1 + random.IntN(6) {
		r.Axes = append(r.Axes, Axis{Column: c + 1, Size: 2 + random.IntN(100)})
	}
	for range 1 + random.IntN(15) {
		var a TableRequest
		cells := 1
		for _, x := range random.Perm(len(r.Axes) - 1)[:1+random.IntN(min(4, len(r.Axes)-1))] {
			if axis := x + 1; cells*r.Axes[axis].Size < 1<<22 {
				a.Axes = append(a.Axes, axis)
				cells *= r.Axes[axis].Size
			}
		}
		r.Tables = append(r.Tables, a)
	}
	r.Tables = append(r.Tables, TableRequest{Axes: []int{0}, Occupied: true})
	return r
}

// Axes that dense asks have are in one group each, and no group that several axes lead has more codes than a
// super-column may. The first seeds are requests for which an axis of asks for occupied cells alone once led to others.
func TestGroupsHoldTheirCodes(t *testing.T) {
	seeds := []uint64{819, 2586, 2826, 12866, 12701, 8156}
	for seed := range uint64(100) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		r := besideAFineAxis(seed)
		left := make([]int, len(r.Axes))
		for _, a := range r.Tables {
			for _, axis := range a.Axes {
				if !a.Occupied {
					left[axis] = 1
				}
			}
		}
		for _, g := range newCover(&r).groups {
			if len(g.lead) > 1 && g.size > superSize {
				t.Errorf("seed %d: a group of %d codes: %v", seed, g.size, g.lead)
			}
			for axis := range g.digits {
				left[axis]--
			}
		}
		for axis, n := range left {
			if n != 0 {
				t.Errorf("seed %d: axis %d is in %d groups too few", seed, axis, n)
			}
		}
	}
}
