package page

// This file tests that texts under and next to charts fit a narrow page.

import (
	"slices"
	"testing"
)

// Above a strip of 18 characters there is room for five numbers of two characters, with two between them, for three of
// four or six, and for two that are longer.
func TestNumbersUnderChartsHaveRoom(t *testing.T) {
	for high, want := range map[float64][]float64{
		40:      {0, 10, 20, 30, 40},
		2000:    {0, 1000, 2000},
		20000:   {0, 10000, 20000},
		2000000: {0, 2000000},
		4e8:     {0, 5e8},
	} {
		if _, got := ticksWithin(scale{0, high}, axisRunes); !slices.Equal(got, want) {
			t.Errorf("up to %v: %v, want %v", high, got, want)
		}
	}
}

func TestTicksOfNarrowScales(t *testing.T) {
	for _, s := range []scale{{0, 1}, {5, 5}, {36_700_000, 36_700_000}, {-4e9, -4e9}, {1e17, 1e17 + 16}, {1e30, 1e30}} {
		wide, ticks := s.roundTicks(5)
		if len(ticks) < 2 || len(ticks) > 6 || wide.low > s.low || wide.high < s.high {
			t.Errorf("the scale %v has ticks at %v", s, ticks)
		}
	}
}
