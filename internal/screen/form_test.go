package screen

import (
	"fmt"
	"math"
	"testing"
)

// A figure and both ends of its interval have the same number of decimals, never three, and the interval shown holds
// the exact one.
func TestFiguresAreWrittenWithTheirIntervals(t *testing.T) {
	for _, c := range []struct {
		figure, low, high float64
		want              [3]string
	}{
		{223, 204.01, 242.6, [3]string{"223", "204", "243"}},
		{1353, 1350.75, 1355.5, [3]string{"1353", "1350", "1356"}},
		{0, -13.9, 7.2, [3]string{"0", "−14", "8"}},
		{12345.678, 12000.1, 12700.9, [3]string{"12\u202f346", "12\u202f000", "12\u202f701"}},
		{276.43, 266.81, 286.15, [3]string{"276", "266", "287"}},
		{40.718, 38.81, 42.66, [3]string{"40.7", "38.8", "42.7"}},
		{2.0213, 1.968, 2.0746, [3]string{"2.02", "1.96", "2.08"}},
		{2.0213, 2.0002, 2.0424, [3]string{"2.0213", "2.0002", "2.0424"}},
		{0.5, 0.48991, 0.51009, [3]string{"0.5000", "0.4899", "0.5101"}},
		{1, 0.97225, 1, [3]string{"1.0000", "0.9722", "1.0000"}},
		{-0.3, -0.71, 0.1, [3]string{"−0.30", "−0.71", "0.10"}},
		{7, 7, 7, [3]string{"7", "7", "7"}},
		{2.5e9, 2.4e9, 2.6e9, [3]string{"2.50e9", "2.40e9", "2.60e9"}},
		{1852345678, 1847000111, 1857000222, [3]string{"1.8523e9", "1.8470e9", "1.8571e9"}},
	} {
		f := FormOf(c.figure, &c.low, &c.high)
		if got := [3]string{f.Nearest(c.figure), f.Down(c.low), f.Up(c.high)}; got != c.want {
			t.Errorf("%v (%v to %v) is written as %q, want %q", c.figure, c.low, c.high, got, c.want)
		}
	}
	for v, want := range map[float64]string{1.968: "1.97", 54321.5: "54\u202f322", 0.12345: "0.1235", 40: "40"} {
		if got := FormOf(v, nil, nil).Nearest(v); got != want {
			t.Errorf("%v without an interval is written as %s, want %s", v, got, want)
		}
	}
	if got := FormOf(math.NaN(), nil, nil).Nearest(math.NaN()); got != "–" {
		t.Errorf("no number is written as %s", got)
	}
}

// A figure with a power of ten keeps its own form.
func TestFiguresWithIntervalsShareAForm(t *testing.T) {
	var forms []Form
	for _, v := range []struct{ figure, low, high float64 }{
		{12.1, 10.4, 13.9}, {20.52, 20.31, 20.73}, {2.5e9, 2.4e9, 2.6e9},
	} {
		forms = append(forms, FormOf(v.figure, &v.low, &v.high))
	}
	common := FormOfFigures(forms)
	got := fmt.Sprint(forms[0].In(common).Nearest(12.1), " ", forms[1].In(common).Nearest(20.52), " ",
		forms[2].In(common).Nearest(2.5e9))
	if want := "12.10 20.52 2.50e9"; got != want {
		t.Errorf("written %q, want %q", got, want)
	}
}
