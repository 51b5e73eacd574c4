package synth

import (
	"math"
	"slices"
	"testing"
)

// outside counts cells that are not the number rounded up or down; squares is the squared distance.
func outside(real []float64, cells []int64) (count int, squares float64) {
	for i, x := range real {
		d := math.Abs(float64(cells[i]) - x)
		if d >= 1 {
			count++
		}
		squares += d * d
	}
	return count, squares
}

// tablesWith visits all tables of whole numbers with given sums.
func tablesWith(rows, columns []int64, visit func(cells []int64)) {
	cells := make([]int64, len(rows)*len(columns))
	left := append([]int64(nil), columns...)
	var walk func(at int, row int64)
	walk = func(at int, row int64) {
		j := at % len(columns)
		if j == 0 && at > 0 && row != 0 {
			return
		}
		if at == len(cells) {
			for _, l := range left {
				if l != 0 {
					return
				}
			}
			visit(cells)
			return
		}
		if j == 0 {
			row = rows[at/len(columns)]
		}
		for n := range min(row, left[j]) + 1 {
			cells[at] = n
			left[j] -= n
			walk(at+1, row-n)
			left[j] += n
		}
	}
	walk(0, 0)
}

// TestRoundingIsNearest compares controlled rounding with all tables that have the sums: as few cells as can be are not their
// number rounded up or down, and of such tables it is the nearest. Sums are those of the numbers, rounded at will, so that in
// some cases not all cells can be.
func TestRoundingIsNearest(t *testing.T) {
	r := seeded([32]byte{43})
	hard := 0
	for n := range 150 {
		rows, columns := int(2+r.below(2)), int(2+r.below(2))
		real := make([]float64, rows*columns)
		for i := range real {
			if r.below(3) > 0 {
				real[i] = 2 * r.unit()
			}
		}
		bySum := func(of func(i int) int32, sums int) []int64 {
			places := make([]int32, len(real))
			for i := range places {
				places[i] = of(i)
			}
			out := make([]int64, sums)
			for s, x := range added(real, places, sums) {
				out[s] = int64(math.Floor(x)) + int64(r.below(2))
			}
			return out
		}
		down := bySum(func(i int) int32 { return int32(i / columns) }, rows)
		across := bySum(func(i int) int32 { return int32(i % columns) }, columns)
		var excess int64
		for _, v := range down {
			excess += v
		}
		for _, v := range across {
			excess -= v
		}
		cells := make([]cell, len(real))
		for i, x := range real {
			cells[i] = newCell(x, r)
		}
		if balanced := newTransport(cells, down, across).balance(); balanced != (excess == 0) {
			t.Fatalf("case %d: sums %v and %v are balanced: %v", n, down, across, balanced)
		}
		if excess != 0 {
			continue
		}
		rounded := wholeOf(cells)
		got, squares := outside(real, rounded)
		count, least, found := len(real)+1, math.Inf(1), false
		tablesWith(down, across, func(cells []int64) {
			c, s := outside(real, cells)
			if c < count || c == count && s < least {
				count, least = c, s
			}
			found = found || slices.Equal(cells, rounded)
		})
		if !found || got != count || squares > least+1e-4 {
			t.Errorf("case %d: of %v with sums %v and %v came %v: %d cells off, squares %v; there is a table with %d and %v", n, real, down, across, wholeOf(cells), got, squares, count, least)
		}
		if count > 0 {
			hard++
		}
	}
	if hard == 0 {
		t.Error("no case in which a cell must be off")
	}
}

// TestBringIsNearest: cells of one sum are their numbers rounded up or down, those with the largest fractions up.
func TestBringIsNearest(t *testing.T) {
	r := seeded([32]byte{44})
	for _, c := range []struct {
		real []float64
		sum  int64
		want []int64
		ok   bool
	}{
		{[]float64{0.2, 1.7, 2.4, 0.1}, 4, []int64{0, 2, 2, 0}, true},
		{[]float64{0.2, 1.7, 2.4, 0.1}, 5, []int64{0, 2, 3, 0}, true},
		{[]float64{0.6, 0.7, 0.8}, 1, []int64{0, 0, 1}, true},
		{[]float64{0.6, 0.7, 0.8}, 0, []int64{0, 0, 0}, true},
		{[]float64{2.2, 0.9, 0}, 8, []int64{4, 2, 2}, true},
		{[]float64{5, 0, 3}, 6, []int64{4, 0, 2}, true},
		{nil, 0, nil, true},
		{nil, 1, nil, false},
	} {
		cells, open := make([]cell, len(c.real)), []*cell(nil)
		for i, x := range c.real {
			cells[i] = newCell(x, r)
			open = append(open, &cells[i])
		}
		ok := bring(open, c.sum)
		for i, want := range c.want {
			if cells[i].at != want {
				t.Errorf("%v brought to %d: %v, expected %v", c.real, c.sum, wholeOf(cells), c.want)
				break
			}
		}
		if ok != c.ok {
			t.Errorf("%v brought to %d: %v", c.real, c.sum, ok)
		}
	}
}

// TestHastyRoundingHasItsSums: rows that mend what they can by themselves leave a table with the sums that were asked for, and nearly
// all cells their number rounded up or down: no more than one of 500 is not.
func TestHastyRoundingHasItsSums(t *testing.T) {
	r := seeded([32]byte{45})
	const side = 60
	real := make([]float64, side*side)
	var rows, columns []int32
	for i := range int32(side * side) {
		if r.below(2) > 0 {
			real[i] = 3 * r.unit()
		}
		rows, columns = append(rows, i/side), append(columns, i%side)
	}
	rounded := func(of []int32) []int64 {
		cells, open := make([]cell, side), []*cell(nil)
		for s, x := range added(real, of, side) {
			cells[s] = newCell(x, r)
			open = append(open, &cells[s])
		}
		if !bring(open, int64(sum(real))) {
			t.Fatal("no sums")
		}
		return wholeOf(cells)
	}
	down, across := rounded(rows), rounded(columns)
	cells := make([]cell, len(real))
	for i, x := range real {
		cells[i] = newCell(x, r)
	}
	table := newTransport(cells, down, across)
	table.hasten()
	if !table.balance() {
		t.Fatal("not balanced")
	}
	if got := wholeOf(cells); !slices.Equal(added(got, rows, side), down) || !slices.Equal(added(got, columns, side), across) || slices.Min(got) < 0 {
		t.Error("other sums than were asked for, or a cell below 0")
	}
	if off, _ := outside(real, wholeOf(cells)); off > side*side/500 {
		t.Errorf("%d of %d cells are not their number rounded up or down", off, side*side)
	}
}
