package moments

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/design"
)

// adultLike is a design of numbers, contrasts and indicators with this many columns of each.
func adultLike(t testing.TB, of int) *design.Design {
	t.Helper()
	var columns []design.Column
	for i := range of {
		number := design.Column{Name: fmt.Sprint("number", i)}
		for v := range int64(40) {
			number.Values = append(number.Values, v*v)
		}
		categories := make([]string, 8)
		for c := range categories {
			categories[c] = fmt.Sprint(c)
		}
		columns = append(columns, number, design.Column{Name: fmt.Sprint("category", i), Categories: categories},
			design.Column{Name: fmt.Sprint("contrast", i), Categories: categories[:2]})
	}
	d, err := design.New(columns, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// drawCells returns n cells drawn uniformly, and counts up to most.
func drawCells(d *design.Design, n int, most int64) (cells []uint64, counts []int64) {
	all := uint64(1)
	for _, s := range d.Sizes() {
		all *= uint64(s)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		cells, counts = append(cells, r.Uint64N(all)), append(counts, r.Int64N(most+1))
	}
	return cells, counts
}

// TestMomentsEqualTheirDefinition compares with sums of [design.Design.Row] in integers of any size, with any number of
// workers, and with counts near the largest that are allowed.
func TestMomentsEqualTheirDefinition(t *testing.T) {
	for _, c := range []struct {
		of, cells int
		most      int64
	}{{1, 1000, 5}, {3, 200_000, 3}, {2, 1000, design.MaxRows / 1000}, {1, 0, 0}} {
		d := adultLike(t, c.of)
		cells, counts := drawCells(d, c.cells, c.most)
		on, off := d.Lengths()
		wantOn, wantOff := zeros(on), zeros(off)
		for i, cell := range cells {
			codes := make([]int, len(d.Columns()))
			for j := len(codes) - 1; j >= 0; j-- {
				codes[j], cell = int(cell%uint64(d.Sizes()[j])), cell/uint64(d.Sizes()[j])
			}
			d.Row(codes, counts[i], wantOn, wantOff)
		}
		for _, workers := range []int{1, 3} {
			gotOn, gotOff, err := Count(t.Context(), d, cells, counts, workers)
			if err != nil {
				t.Fatal(err)
			}
			if !equal(gotOn, wantOn) || !equal(gotOff, wantOff) {
				t.Errorf("%v with %d workers: the moments differ from their definition", c, workers)
			}
		}
	}
}

// zeros returns n zeros.
func zeros(n int) []*big.Int {
	all := make([]*big.Int, n)
	for i := range all {
		all[i] = new(big.Int)
	}
	return all
}

// equal reports whether the integers are equal.
func equal(got []int64, want []*big.Int) bool {
	return slices.EqualFunc(got, want, func(a int64, b *big.Int) bool { return big.NewInt(a).Cmp(b) == 0 })
}

// TestWhatIsNoTableIsRefused lists what is, and that no number is in the message.
func TestWhatIsNoTableIsRefused(t *testing.T) {
	d := adultLike(t, 1)
	for _, c := range []struct {
		cells  []uint64
		counts []int64
		want   string
	}{
		{[]uint64{1}, nil, "differ in number"},
		{[]uint64{1, 2}, []int64{1, -7777}, "more rows than"},
		{[]uint64{1, 2}, []int64{design.MaxRows, 1}, "more rows than"},
		{[]uint64{7777}, []int64{1}, "outside of the columns' categories"},
	} {
		_, _, err := Count(t.Context(), d, c.cells, c.counts, 2)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "7777") {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	cells, counts := drawCells(d, 10, 1)
	if _, _, err := Count(ended, d, cells, counts, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkCount counts 10 million cells of 12 columns.
func BenchmarkCount(b *testing.B) {
	d := adultLike(b, 4)
	cells, counts := drawCells(d, 10_000_000, 3)
	for b.Loop() {
		if _, _, err := Count(b.Context(), d, cells, counts, 2); err != nil {
			b.Fatal(err)
		}
	}
}
