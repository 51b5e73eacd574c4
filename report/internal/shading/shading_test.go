package shading

import "testing"

func TestEqualFiguresAreOneClass(t *testing.T) {
	for _, v := range []float64{0, 5, -5, 36_700_000, -36_700_000, 4e9, 1e17, -1e17, 1e30} {
		s := New([]float64{v, v, v}, Most)
		if len(s.All) != 1 || s.All[0] != Most/2 || s.Class(v) != 0 {
			t.Errorf("figures that all are %g have classes %v at %v", v, s.All, s.breaks)
		}
	}
}

func TestClassesBeginAtRoundNumbers(t *testing.T) {
	for _, c := range []struct {
		descending []float64
		want       []float64
	}{
		{[]float64{9, 4, 1}, []float64{2, 4, 6, 8}},
		{[]float64{36_700_004, 36_700_001}, []float64{36_700_002, 36_700_003, 36_700_004}},
		{[]float64{3, -8}, []float64{-6, -4, -2, 0, 2}},
		{[]float64{700, 2}, []float64{3, 10, 30, 100, 300}},
	} {
		s := New(c.descending, Most)
		if len(s.breaks) != len(c.want) {
			t.Errorf("%v: classes at %v, want %v", c.descending, s.breaks, c.want)
			continue
		}
		for i := range c.want {
			if s.breaks[i] != c.want[i] {
				t.Errorf("%v: classes at %v, want %v", c.descending, s.breaks, c.want)
			}
		}
	}
}
