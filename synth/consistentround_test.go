package synth

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
)

// notRounded counts cells that are not the number rounded up or down; squares is the squared distance.
func notRounded(real []float64, cells []int64) (count int, squares float64) {
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

// TestRoundingIsNearest compares controlled rounding with all tables that have the sums: as few cells as possible are
// not their number rounded up or down, and among such tables it is the nearest. Sums are those of the numbers, rounded
// arbitrarily, so that sometimes not all cells can be.
func TestRoundingIsNearest(t *testing.T) {
	r := seededStream([32]byte{43})
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
			for s, x := range sumsBy(real, places, sums) {
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
		if balanced := newTransport(cells, down, across).balance(t.Context()); balanced != (excess == 0) {
			t.Fatalf("case %d: sums %v and %v are balanced: %v", n, down, across, balanced)
		}
		if excess != 0 {
			continue
		}
		rounded := wholeOf(cells)
		got, squares := notRounded(real, rounded)
		count, least, found := len(real)+1, math.Inf(1), false
		tablesWith(down, across, func(cells []int64) {
			c, s := notRounded(real, cells)
			if c < count || c == count && s < least {
				count, least = c, s
			}
			found = found || slices.Equal(cells, rounded)
		})
		if !found || got != count || squares > least+1e-4 {
			t.Errorf("case %d: of %v with sums %v and %v came %v: %d cells off, squares %v; there is a table with %d and %v", n,
				real, down, across, wholeOf(cells), got, squares, count, least)
		}
		if count > 0 {
			hard++
		}
	}
	if hard == 0 {
		t.Error("no case in which a cell must be off")
	}
}

// TestAdjustedSumIsNearest: cells of one sum are their numbers rounded up or down, those with the largest fractions up.
func TestAdjustedSumIsNearest(t *testing.T) {
	r := seededStream([32]byte{44})
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
		ok := adjustSum(open, c.sum)
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

// randomRoundable returns a table of numbers, half of them not positive, and the sums of its rows and columns, rounded
// so that they agree.
func randomRoundable(t testing.TB, rows, columns int, r *stream) (real []float64, down, across []int64) {
	t.Helper()
	real = make([]float64, rows*columns)
	var row, column []int32
	for i := range real {
		if r.below(2) > 0 {
			real[i] = 3 * r.unit()
		}
		row, column = append(row, int32(i/columns)), append(column, int32(i%columns))
	}
	rounded := func(of []int32, sums int) []int64 {
		cells, open := make([]cell, sums), []*cell(nil)
		for s, x := range sumsBy(real, of, sums) {
			cells[s] = newCell(x, r)
			open = append(open, &cells[s])
		}
		if !adjustSum(open, int64(sum(real))) {
			t.Fatal("no sums")
		}
		return wholeOf(cells)
	}
	return real, rounded(row, rows), rounded(column, columns)
}

// negativeArc describes an arc of a balanced table with a negative reduced cost, or a wrong sum; "" if there is
// neither. If no arc is negative for some potentials, no cycle is, so no other table with these sums is nearer (Klein
// 1967), however the potentials were found.
func negativeArc(t *transport, down, across []int64) string {
	rows, columns := slices.Clone(down), slices.Clone(across)
	for i := range t.rows {
		for j := range t.columns {
			c, by := t.cells[i*t.columns+j], t.potential[i]-t.potential[t.rows+j]
			rows[i], columns[j] = rows[i]-c.at, columns[j]-c.at
			if c.at < 0 || c.costUp()+by < 0 || c.at > 0 && c.costDown()-by < 0 {
				return fmt.Sprintf("cell %d, %d of %d", i, j, c.at)
			}
		}
	}
	for _, rest := range slices.Concat(rows, columns) {
		if rest != 0 {
			return fmt.Sprintf("a sum is off by %d", rest)
		}
	}
	return ""
}

// TestRoundingOfLargerTablesIsNearest rounds tables that are too large for enumeration, narrow ones in both directions
// and square ones, some with sums that are off by more than rounding. Negative control: exchanging two units so that
// all sums stay is detected.
func TestRoundingOfLargerTablesIsNearest(t *testing.T) {
	r := seededStream([32]byte{45})
	for _, c := range []struct{ rows, columns, off int }{{2000, 3, 0}, {3, 400, 0}, {60, 60, 0}, {150, 12, 0},
		{1, 30, 0},
		{30, 1, 0}, {40, 40, 9}, {300, 2, 30}} {
		real, down, across := randomRoundable(t, c.rows, c.columns, r)
		for range c.off {
			down[r.below(uint64(c.rows))]++
			across[r.below(uint64(c.columns))]++
		}
		cells := make([]cell, len(real))
		for i, x := range real {
			cells[i] = newCell(x, r)
		}
		table := newTransport(cells, down, across)
		if !table.balance(t.Context()) {
			t.Fatalf("%d × %d: not balanced", c.rows, c.columns)
		}
		if says := negativeArc(table, down, across); says != "" {
			t.Errorf("%d × %d: %s", c.rows, c.columns, says)
		}
		if c.rows < 2 || c.columns < 2 {
			continue
		}
		last := c.columns + 1
		cells[0].at, cells[1].at, cells[c.columns].at, cells[last].at = cells[0].at+2, cells[1].at-2,
			cells[c.columns].at-2,
			cells[last].at+2
		if negativeArc(table, down, across) == "" {
			t.Errorf("%d × %d: another table would be as near", c.rows, c.columns)
		}
	}
}

// TestRoundingIsInterrupted: a table is not balanced once its context has ended.
func TestRoundingIsInterrupted(t *testing.T) {
	r := seededStream([32]byte{46})
	real, down, across := randomRoundable(t, 40, 40, r)
	cells := make([]cell, len(real))
	for i, x := range real {
		cells[i] = newCell(x, r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if newTransport(cells, down, across).balance(ctx) {
		t.Error("balanced all the same")
	}
}

// TestExchangesHaveTheSums: exchanges remove most of the imbalance of columns, and paths remove the rest: nearly all
// cells are their number rounded up or down, all except at most one in 500.
func TestExchangesHaveTheSums(t *testing.T) {
	r := seededStream([32]byte{48})
	const side = 60
	real, down, across := randomRoundable(t, side, side, r)
	cells := make([]cell, len(real))
	for i, x := range real {
		cells[i] = newCell(x, r)
	}
	table := newTransport(cells, down, across)
	lacks := func() (all int64) {
		for _, n := range table.imbalance {
			all += max(n, -n)
		}
		return all
	}
	table.fixRows()
	before := lacks()
	if table.exchangePairs(t.Context()); before == 0 || lacks() > before/4 {
		t.Errorf("columns lack %d of %d", lacks(), before)
	}
	if !table.balance(t.Context()) {
		t.Fatal("not balanced")
	}
	rows, columns := make([]int64, side), make([]int64, side)
	for i, n := range wholeOf(cells) {
		rows[i/side] += n
		columns[i%side] += n
	}
	if !slices.Equal(rows, down) || !slices.Equal(columns, across) || slices.Min(wholeOf(cells)) < 0 {
		t.Error("other sums than were asked for, or a cell below 0")
	}
	if off, _ := notRounded(real, wholeOf(cells)); off > side*side/500 {
		t.Errorf("%d of %d cells are not their number rounded up or down", off, side*side)
	}
}
