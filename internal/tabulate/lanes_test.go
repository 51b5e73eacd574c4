package tabulate

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// laneCodes are codes below a size, of which many are the greatest: those that a lane
// has least room for.
func laneCodes(random *rand.Rand, n, size int) []uint16 {
	out := make([]uint16, n)
	for i := range out {
		if out[i] = uint16(size - 1); random.IntN(2) == 0 {
			out[i] = uint16(random.IntN(size))
		}
	}
	return out
}

// Cells that are worked out side by side are those worked out one by one, up to the last
// cell that a lane holds, and with rows left over.
func TestLanesCountWhatOneByOneDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, sizes := range [][]int{
		{1, 1}, {2, 3}, {256, 256}, {255, 257}, {2, 32768}, {32768, 2}, {1, 65536}, {65536, 1}, {300, 300},
		{1, 1, 1}, {40, 40, 40}, {16, 64, 64}, {2, 2, 16384}, {16384, 2, 2}, {65536, 1, 1}, {1, 256, 256}, {41, 41, 41},
	} {
		for _, rows := range []int{0, 1, 15, 16, 17, 1000, 4099} {
			cells := 1
			var c baseColumns
			for _, size := range sizes {
				cells *= size
				c.short, c.wide, c.sizes = append(c.short, laneCodes(random, rows, size)), append(c.wide, nil),
					append(c.sizes, size)
			}
			got, want := make([]uint32, cells), make([]uint32, cells)
			tallyRows(got, c, rows, make([]int, chunkRows))
			for row := range rows {
				cell := 0
				for k, size := range sizes {
					cell = cell*size + int(c.short[k][row])
				}
				want[cell]++
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d rows of %v: counted otherwise than one by one", rows, sizes)
			}
		}
	}
}

// Super-columns that are put together side by side are those put together one by one, up
// to the last code that a lane holds and beyond it, for one column to four.
func TestLanesCombineWhatOneByOneDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, sizes := range [][]int{
		{1}, {2}, {256}, {16, 16}, {2, 128}, {128, 2}, {255, 1}, {1, 256}, {17, 16}, {85, 3, 1}, {4, 8, 8}, {5, 8, 8},
		{2, 2, 64}, {64, 4, 2}, {4, 4, 4, 4}, {16, 16, 16, 16},
	} {
		for _, rows := range []int{0, 1, 7, 8, 9, 1003} {
			const from = 3
			terms, columns, want := make([]term[uint16], len(sizes)), make([]Codes, len(sizes)), make([]uint16, rows)
			stride := 1
			for k, size := range slices.Backward(sizes) {
				terms[k] = newTerm[uint16](Axis{Column: k, Size: size}, stride)
				for i, x := range laneCodes(random, rows+from, size) {
					if columns[k].U8 = append(columns[k].U8, uint8(x)); i >= from {
						want[i-from] += uint16(stride) * x
					}
				}
				stride *= size
			}
			got := slices.Repeat([]uint16{999}, rows)
			if err := combineTerms(got, terms, columns, from, nil); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d rows of %v: put together otherwise than one by one (%v)", rows, sizes, err)
			}
			if n := inLanes(got, terms, columns); stride <= 256 && n != min(2, len(sizes)) {
				t.Errorf("%v: %d terms in lanes", sizes, n)
			}
		}
	}
}
