package words

import (
	"math"
	"math/big"
	"slices"
	"testing"
)

// written writes all values in one form.
func written[T any](values []T, write func(T) string) (all []string) {
	for _, v := range values {
		all = append(all, write(v))
	}
	return all
}

// Figures below one another have equally many decimals: no more than the largest and the smallest need.
func TestFiguresOfAColumnLineUp(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   []string
	}{
		{[]float64{9.829, 10.55, 21.98}, []string{"9.83", "10.55", "21.98"}},
		{[]float64{510.93, 10.549, 1590.6}, []string{"510.9", "10.5", "1590.6"}},
		{[]float64{0.2919, 0.0343, 0.5016}, []string{"0.2919", "0.0343", "0.5016"}},
		{[]float64{-3.7604, 0.01846, 0}, []string{"−3.7604", "0.0185", "0.0000"}},
		{[]float64{0.25, 0}, []string{"0.25", "0.00"}},
		{[]float64{0.9, -0.5}, []string{"0.9", "−0.5"}},
		{[]float64{12, 3000, 0}, []string{"12", "3000", "0"}},
		{[]float64{123456.7, 2000.25}, []string{"123\u202f457", "2000"}},
		{[]float64{0.00881, 0.00211}, []string{"0.00881", "0.00211"}},
		{[]float64{math.NaN(), 1.5}, []string{"–", "1.50"}},
		{nil, nil},
	} {
		f := FormOfColumn(c.values)
		if got := written(c.values, f.Nearest); !slices.Equal(got, c.want) {
			t.Errorf("%v are written %q, want %q", c.values, got, c.want)
		}
	}
}

func TestPercentagesOfAColumnLineUp(t *testing.T) {
	for _, c := range []struct {
		parts []float64
		want  []string
	}{
		{[]float64{1, 0.627, 0.447}, []string{"100.0%", "62.7%", "44.7%"}},
		{[]float64{0.5, 0.0625, 0.337}, []string{"50.00%", "6.25%", "33.70%"}},
		{[]float64{0.29, 1, 0}, []string{"29%", "100%", "0%"}},
		{[]float64{0.00046, 1.57}, []string{"0.05%", "157.00%"}},
		{[]float64{0.00002, 0.5}, []string{"0.002%", "50.000%"}},
		{[]float64{0.99999, 0.421}, []string{">99.9%", "42.1%"}},
		{[]float64{0.0001, 0.00031}, []string{"0.010%", "0.031%"}},
	} {
		f := FormOfPercentages(c.parts)
		if got := written(c.parts, f.Percentage); !slices.Equal(got, c.want) {
			t.Errorf("%v are written %q, want %q", c.parts, got, c.want)
		}
	}
}

// A confidence is rounded down, and a loss up.
func TestBoundsOfAColumnLineUp(t *testing.T) {
	levels := []float64{0.95, 0.95179, 0.9999}
	want := []string{"95.0%", "95.1%", "99.9%"}
	if got := written(levels, FormOfLevels(levels).Level); !slices.Equal(got, want) {
		t.Errorf("confidences are written %q, want %q", got, want)
	}
	if got := FormOfLevels([]float64{0.95}).Level(0.95); got != "95%" {
		t.Errorf("got %q", got)
	}
	losses := []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 3), big.NewRat(2524, 10000), nil}
	f := FormOfLosses(losses)
	if got, want := written(losses[:3], f.UpExact), []string{"1.0000", "0.3334", "0.2524"}; !slices.Equal(got, want) {
		t.Errorf("losses are written %q, want %q", got, want)
	}
}
