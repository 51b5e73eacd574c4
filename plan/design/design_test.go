package design

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// small are designs of few codes: numbers whose values are not symmetric among them, contrasts and indicators.
func small(t *testing.T) map[string]*Design {
	t.Helper()
	number := func(name string, values ...int64) Column { return Column{Name: name, Values: values} }
	category := func(name string, n int) Column {
		return Column{Name: name, Categories: strings.Split("abcdefgh"[:n], "")}
	}
	all := map[string]*Design{}
	for name, columns := range map[string][]Column{
		"number on number":       {number("x", 0, 1, 3), number("y", -1, 0, 5)},
		"contrast on number":     {number("x", 0, 1, 3), category("y", 2)},
		"contrast on contrasts":  {category("a", 2), category("b", 2), category("y", 2)},
		"contrast on indicators": {category("a", 3), category("b", 3), category("y", 2)},
		"one of three":           {category("a", 3), number("x", 1, 2), category("y", 3)},
		"all kinds":              {category("a", 3), category("b", 2), number("x", 4, 5, 9), category("y", 2)},
		"number on all kinds":    {number("v", -3, 3), category("a", 3), category("b", 2), number("y", 1, 2, 6)},
	} {
		d, err := New(columns, 1)
		if err != nil {
			t.Fatal(name, err)
		}
		all[name] = d
	}
	return all
}

// rows returns the moments of every possible row: on the diagonal, and off it.
func (d *Design) rows() (diagonal, offDiagonal [][]*big.Int) {
	codes := make([]int, len(d.columns))
	for {
		on, off := d.Lengths()
		a, b := zeros(on), zeros(off)
		d.Row(codes, 1, a, b)
		diagonal, offDiagonal = append(diagonal, a), append(offDiagonal, b)
		i := len(codes) - 1
		for ; i >= 0; i-- {
			if codes[i]++; codes[i] < d.columns[i].Size() {
				break
			}
			codes[i] = 0
		}
		if i < 0 {
			return diagonal, offDiagonal
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

// norms returns the L1 norm and the squared L2 norm of Σ a·x − b·y.
func norms(a int64, x []*big.Int, b int64, y []*big.Int) (l1, squares *big.Int) {
	l1, squares = new(big.Int), new(big.Int)
	for i := range x {
		v := new(big.Int).Mul(big.NewInt(a), x[i])
		v.Sub(v, new(big.Int).Mul(big.NewInt(b), y[i]))
		l1.Add(l1, new(big.Int).Abs(v))
		squares.Add(squares, v.Mul(v, v))
	}
	return l1, squares
}

// TestSensitivitiesAreThoseOfAllRows compares both sensitivities with the largest over all rows and pairs of rows.
// Under add-remove they are attained, by one row in both vectors. The squared L2 norm of a replaced row is at most a
// sixth above the largest off the diagonal.
func TestSensitivitiesAreThoseOfAllRows(t *testing.T) {
	for name, d := range small(t) {
		t.Run(name, func(t *testing.T) {
			on, off := d.rows()
			both := false
			for i := range on {
				_, a := norms(1, on[i], 0, on[i])
				_, b := norms(1, off[i], 0, off[i])
				both = both || a.Cmp(d.Diagonal(Change{1, 0}).L2Squared) == 0 &&
					b.Cmp(d.OffDiagonal(Change{1, 0}).L2Squared) == 0
			}
			if !both {
				t.Error("no row attains both sensitivities")
			}
			for which, c := range map[string]struct {
				rows [][]*big.Int
				of   func(Change) Sensitivity
			}{"diagonal": {on, d.Diagonal}, "off the diagonal": {off, d.OffDiagonal}} {
				for _, change := range []Change{{1, 0}, {3, 0}, {1, 1}, {2, 2}, {3, 1}} {
					got := c.of(change)
					l1, squares := largest(change, c.rows)
					exact := change.Removed == 0
					if exact && (got.L1.Cmp(l1) != 0 || got.L2Squared.Cmp(squares) != 0) ||
						got.L1.Cmp(l1) < 0 || got.L2Squared.Cmp(squares) < 0 {
						t.Errorf("%s, %v: got %v and %v, the largest are %v and %v", which, change, got.L1,
							got.L2Squared, l1, squares)
					}
					slack, _ := new(big.Rat).SetFrac(got.L2Squared, squares).Float64()
					if change == (Change{1, 1}) && which == "off the diagonal" && slack > 7./6 {
						t.Errorf("one replaced row: %v is %.3f times the largest", got.L2Squared, slack)
					}
				}
			}
		})
	}
}

// largest returns the largest norms of a shift by a change of which all added rows are equal and all removed rows are
// equal: norms are convex, so no other shift is larger.
func largest(c Change, rows [][]*big.Int) (l1, squares *big.Int) {
	l1, squares = new(big.Int), new(big.Int)
	for a := range c.Added + 1 {
		for b := range c.Removed + 1 {
			for _, x := range rows {
				for _, y := range rows {
					one, two := norms(a, x, b, y)
					if one.Cmp(l1) > 0 {
						l1 = one
					}
					if two.Cmp(squares) > 0 {
						squares = two
					}
				}
			}
		}
	}
	return l1, squares
}

// TestMomentsAreAllProducts rebuilds z·zᵀ of every row from its moments.
func TestMomentsAreAllProducts(t *testing.T) {
	for name, d := range small(t) {
		t.Run(name, func(t *testing.T) {
			on, off := d.rows()
			for r := range on {
				z := make([]int64, d.Features())
				code := r
				for i := len(d.columns); i >= 0; i-- {
					e, c := d.Encodings()[i], 0
					if i > 0 {
						c, code = code%d.columns[i-1].Size(), code/d.columns[i-1].Size()
					}
					z[d.First(i)+e.Offset[c]] = e.Value[c]
				}
				seen := 0
				for a := range d.Encodings() {
					for b := a + 1; b < len(d.Encodings()); b++ {
						for i := range d.Encodings()[a].Width {
							for j := range d.Encodings()[b].Width {
								want := big.NewInt(z[d.First(a)+i] * z[d.First(b)+j])
								if at := d.Block(a, b) + i*d.Encodings()[b].Width + j; off[r][at].Cmp(want) != 0 {
									t.Errorf("row %d: entry %d is %v, want %v", r, at, off[r][at], want)
								}
								seen++
							}
						}
					}
				}
				if _, n := d.Lengths(); seen != n {
					t.Errorf("%d entries off the diagonal, want %d", n, seen)
				}
				for i, e := range d.Squares() {
					v := z[d.First(e)]
					if e == len(d.columns) {
						v = v * exactUnit(d.Target(), Scale) / d.Encodings()[e].Unit // exact, as all values are
					}
					if want := big.NewInt(v * v); on[r][i].Cmp(want) != 0 {
						t.Errorf("row %d: square %d is %v, want %v", r, i, on[r][i], want)
					}
				}
			}
		})
	}
}

// TestNumbersAreScaledByTheirRange checks ends, the middle, exact values and rounding.
func TestNumbersAreScaledByTheirRange(t *testing.T) {
	d, err := New([]Column{{Name: "x", Values: []int64{5, -5, 0, 1, -1}}, {Name: "y", Values: []int64{0, 3000, 1}}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Encodings()[1].Value, []int64{1020, -1020, 0, 204, -204}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := d.Encodings()[2].Value, []int64{-1024, 1024, -1023}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestDesignsThatCannotBeAreRefused lists them with what is said of each.
func TestDesignsThatCannotBeAreRefused(t *testing.T) {
	y := Column{Name: "y", Categories: []string{"no", "yes"}}
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, c := range []struct {
		columns  []Column
		positive int
		want     string
	}{
		{[]Column{y}, 1, "at least one column"},
		{[]Column{{Name: "x", Values: []int64{1, 1}}, y}, 1, "all values of column x are equal"},
		{[]Column{{Name: "x", Values: []int64{0, 1 << 41}}, y}, 1, "beyond ±2^40"},
		{[]Column{{Name: "x", Categories: []string{"a"}}, y}, 1, "fewer than two categories"},
		{[]Column{{Name: "x"}, y}, 1, "fewer than two categories"},
		{[]Column{{Categories: []string{"a", "b"}}, y}, 1, "has no name"},
		{[]Column{{Name: "x", Categories: []string{"a", "b"}, Values: []int64{1, 2}}, y}, 1,
			"both values and categories"},
		{[]Column{y, y}, 1, "in the model twice"},
		{[]Column{{Name: "x", Values: []int64{1, 2}}, y}, 2, "no category 2"},
		{[]Column{{Name: "x", Values: []int64{1, 2}}, y}, -1, "no category -1"},
		{[]Column{{Name: "x", Categories: many}, {Name: "z", Categories: many}, y}, 1, "products of features"},
	} {
		if _, err := New(c.columns, c.positive); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
