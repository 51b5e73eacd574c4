package synth

import (
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
)

func TestFiguresScale(t *testing.T) {
	got := Figure{Value: 2, Estimate: 2, Error: 0.5, Low: 1, High: 4}.Scaled(100, 3)
	if want := (Figure{Value: 106, Estimate: 106, Error: 1.5, Low: 103, High: 112}); got != want {
		t.Errorf("%v, expected %v", got, want)
	}
	if f := unpublishedFigure(Unbounded).Scaled(1, 2); f.Value == f.Value || f.HasInterval() || f.Flag != Unbounded {
		t.Errorf("%v is published", f)
	}
}

func TestRootsOfFigures(t *testing.T) {
	got := Figure{Value: 16, Estimate: 16, Error: 2, Low: 9, High: 25}.SquareRoot()
	if want := (Figure{Value: 4, Estimate: 4, Error: 0.25, Low: 3, High: 5}); got != want {
		t.Errorf("%v, expected %v", got, want)
	}
	if got := (Figure{Value: 0, Error: 4, Low: 0, High: 9}).SquareRoot(); got.Error != 2 {
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
	c := ColumnsOf([]Figure{{Value: 0, Estimate: -2, Error: 0.5, Low: -4, High: 4, Flag: NoiseDominates},
		unpublishedFigure(Unbounded), unpublishedFigure(Withheld)})
	if want := []Flag{NoiseDominates, Unbounded, Withheld}; !slices.Equal(c.Flags, want) {
		t.Errorf("flags %q, expected %q", c.Flags, want)
	}
	for name, column := range map[string]struct {
		of   *array.Float64
		want float64
	}{"value": {c.Value, 0}, "estimate": {c.Estimate, -2}, "error": {c.Error, 0.5}, "low": {c.Low, -4},
		"high": {c.High, 4}} {
		if column.of.NullN() != 2 || column.of.Value(0) != column.want {
			t.Errorf("%s: %v, expected %v and two nulls", name, column.of, column.want)
		}
	}
}

// TestFiguresThatCanBeAddedUpAreFlaggedByOneRule expects the flag exactly if the interval contains zero or no possible
// value, the estimate as it was drawn, and a possible value for reading.
func TestFiguresThatCanBeAddedUpAreFlaggedByOneRule(t *testing.T) {
	inf := math.Inf(1)
	for _, of := range []struct {
		estimate, margin, least, most float64
		value                         float64
		flag                          Flag
	}{
		{-470, 350, 0, inf, 0, NoiseDominates}, // an empty cell of values from 0 to 32, whose interval lies below zero
		{-470, 350, -inf, inf, -470, Plain},    // a possible sum of values of both signs
		{470, 350, 0, inf, 470, Plain},
		{470, 470, 0, inf, 470, NoiseDominates},
		{300, 350, -inf, inf, 300, NoiseDominates},
		{90, 20, -inf, 0, 0, NoiseDominates},
		{-90, 20, -inf, 0, -90, Plain},
		{60, 5, 0, 50, 50, NoiseDominates}, // more values than exist
		{52, 5, 0, 50, 50, Plain},
	} {
		want := Figure{Value: of.value, Estimate: of.estimate, Error: 1, Low: of.estimate - of.margin,
			High: of.estimate +
				of.margin, Flag: of.flag}
		if got := additiveFigure(of.estimate, 1, of.margin, of.least, of.most); got != want {
			t.Errorf("%v ± %v between %v and %v: %+v, expected %+v", of.estimate, of.margin, of.least, of.most, got,
				want)
		}
	}
}
