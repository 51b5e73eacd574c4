package counted

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec"
)

// unitSums are all sums over so many cells that one unit's rows can have: at most all of them, at most each in a cell,
// each an integer from least to most.
func unitSums(least, most, all, each int64, cells int) [][]int64 {
	seen := map[string]bool{}
	var out [][]int64
	var walk func(cell int, left int64, sums []int64)
	walk = func(cell int, left int64, sums []int64) {
		if cell == cells {
			if key := fmt.Sprint(sums); !seen[key] {
				seen[key] = true
				out = append(out, append([]int64(nil), sums...))
			}
			return
		}
		for rows := int64(0); rows <= min(each, left); rows++ {
			for sum := rows * least; sum <= rows*most; sum++ {
				walk(cell+1, left-rows, append(sums, sum))
			}
		}
	}
	walk(0, all, nil)
	return out
}

// Every neighbour of small queries is within the norms, some reach them, and none has a shift that could not be turned
// into those that are charged.
func TestNoUnitMovesSumsFurther(t *testing.T) {
	for _, c := range []struct {
		least, most, all, each int64
		cells                  int
	}{
		{1, 1, 1, 1, 3}, {1, 1, 3, 3, 3}, {1, 1, 3, 2, 3}, {1, 1, 3, 1, 3}, {0, 3, 2, 2, 2}, {-2, 2, 2, 2, 2},
		{-2, 2, 2, 1, 3}, {-1, 3, 2, 2, 2}, {-3, 1, 3, 2, 2}, {2, 3, 2, 2, 3}, {-3, -1, 2, 2, 2}, {-2, 2, 3, 3, 1},
		{0, 3, 2, 2, 1}, {-1, 2, 2, 2, 1},
	} {
		units := unitSums(c.least, c.most, c.all, c.each, c.cells)
		for _, relation := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
			d := SumSensitivity(relation, Extent{big.NewInt(c.least), big.NewInt(c.most)}, c.all, c.each,
				int64(c.cells))
			others := [][]int64{make([]int64, c.cells)}
			if relation == spec.Replace {
				others = units
			}
			var l1, l2Squared int64
			for _, u := range units {
				for _, v := range others {
					var one, two, up, down int64
					for i := range u {
						x := u[i] - v[i]
						one, two = one+max(x, -x), two+x*x
						up, down = up+max(x, 0), down+max(-x, 0)
					}
					l1, l2Squared = max(l1, one), max(l2Squared, two)
					if len(d.Shifts) == 1 {
						shift := d.Shifts[0]
						if len(shift) == 1 && one > shift[0] || len(shift) == 2 && max(up, down) > shift[0] {
							t.Fatalf("%+v, %s: %v against %v is no shift that %v covers", c, relation, u, v, shift)
						}
					}
				}
			}
			if want := d.L1.Int64(); l1 > want || l2Squared > d.L2Squared.Int64() {
				t.Errorf("%+v, %s: the norms are %d and %d², charged are %d and %v", c, relation, l1, l2Squared, want,
					d.L2Squared)
			}
			tight := c.cells >= 2*int((c.all+c.each-1)/c.each) || c.each == c.all &&
				(relation == spec.AddRemove || c.cells > 1)
			if tight && (l1 != d.L1.Int64() || l2Squared != d.L2Squared.Int64()) {
				t.Errorf("%+v, %s: the norms are %d and %d², charged are %d and %v: more than any unit moves", c,
					relation, l1,
					l2Squared, d.L1, d.L2Squared)
			}
		}
	}
}

// The integers of values lie within their extent, which they reach.
func TestValuesLieWithinTheirExtent(t *testing.T) {
	column := &spec.Column{Name: "x", Declaration: domain.Declaration{Lattice: &domain.Lattice{Step: big.NewRat(1, 2),
		First: -3, Last: 8, By: "s", Strata: []domain.Stratum{{First: -3, Last: 2}, {First: 0, Last: 8}}}}}
	table := &spec.Table{Columns: []*spec.Column{column},
		Weight: &spec.Weight{Lattice: domain.Lattice{Step: big.NewRat(1, 1), First: 0, Last: 3}}}
	for _, v := range []Values{
		{Column: "x", Power: 1, Times: 1, Minus: 2}, {Column: "x", Power: 2, Times: 2, Minus: 5},
		{Column: "x", Power: 1, Times: 1, Minus: -4}, {Weight: true},
		{Column: "x", Power: 1, Times: 2, Per: "s", By: []int64{3, 2}, Off: []int64{-1, 8}},
		{Column: "x", Power: 2, Times: 2, Per: "s", By: []int64{3, 2}, Off: []int64{-1, 8}, Weight: true},
	} {
		e := v.Extent(table)
		var least, most int64
		first := true
		for stratum, s := range column.Lattice.Strata {
			for p := s.First; p <= s.Last; p++ {
				for w := int64(0); w <= 3; w++ {
					x := int64(1)
					for range v.Power {
						if v.Per == "" {
							x *= v.Times*p - v.Minus
						} else {
							x *= (v.Times*p - v.Off[stratum]) * v.By[stratum]
						}
					}
					if v.Weight {
						x *= w
					}
					if first || x < least {
						least = x
					}
					if first || x > most {
						most = x
					}
					first = false
				}
			}
		}
		if least < e.Least.Int64() || most > e.Most.Int64() {
			t.Errorf("%+v: integers from %d to %d, the extent is %v to %v", v, least, most, e.Least, e.Most)
		}
		if e.Largest().Int64() != max(-least, most) {
			t.Errorf("%+v: the largest is %d, charged is %v", v, max(-least, most), e.Largest())
		}
	}
}
