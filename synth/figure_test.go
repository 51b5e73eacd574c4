package synth

import (
	"math"
	"slices"
	"testing"
)

func TestFiguresScale(t *testing.T) {
	got := Figure{Value: 2, Error: 0.5, Low: 1, High: 4}.Scaled(100, 3)
	if want := (Figure{Value: 106, Error: 1.5, Low: 103, High: 112}); got != want {
		t.Errorf("%v, expected %v", got, want)
	}
	if f := unbounded(1).Scaled(1, 2); f.Value != 3 || f.HasInterval() || f.Flag != Unbounded {
		t.Errorf("%v has an interval", f)
	}
}

func TestRootsOfFigures(t *testing.T) {
	got := Figure{Value: 16, Error: 2, Low: 9, High: 25}.Root()
	if want := (Figure{Value: 4, Error: 0.25, Low: 3, High: 5}); got != want {
		t.Errorf("%v, expected %v", got, want)
	}
	if got := (Figure{Value: 0, Error: 4, Low: 0, High: 9}).Root(); got.Error != 2 {
		t.Errorf("an error of %v at 0, expected 2", got.Error)
	}
}

func TestFiguresAreShownByNoisyCounts(t *testing.T) {
	f := Figure{Value: 2, Error: 0.5, Low: 1, High: 4}
	if got := f.ShownFrom(10, 10); got != f {
		t.Errorf("%v is not shown at the least count", f)
	}
	got := f.ShownFrom(10, 9.5)
	if got.Flag != Withheld || got.Value == got.Value || got.Error == got.Error || got.HasInterval() {
		t.Errorf("%v is shown below the least count", got)
	}
}

func TestColumnsHaveNulls(t *testing.T) {
	c := ColumnsOf([]Figure{{Value: 2, Error: 0.5, Low: 1, High: 4}, unbounded(7), {null, null, null, null, Withheld}})
	if want := []Flag{Plain, Unbounded, Withheld}; !slices.Equal(c.Flags, want) {
		t.Errorf("flags %q, expected %q", c.Flags, want)
	}
	for i, want := range []float64{2, 7} {
		if c.Value.IsNull(i) || c.Value.Value(i) != want {
			t.Errorf("value %d is %v, expected %v", i, c.Value.Value(i), want)
		}
	}
	for name, nulls := range map[string][2]int{"value": {c.Value.NullN(), 1}, "error": {c.Error.NullN(), 2}, "low": {c.Low.NullN(), 2}, "high": {c.High.NullN(), 2}} {
		if nulls[0] != nulls[1] {
			t.Errorf("%s has %d nulls, expected %d", name, nulls[0], nulls[1])
		}
	}
	if math.Abs(c.High.Value(0)-4) > 0 {
		t.Errorf("high %v, expected 4", c.High.Value(0))
	}
}
