package report

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/synth"
)

// TestFittedGaps: how far counts were moved, worked out by hand: cells without an error have no gap.
func TestFittedGaps(t *testing.T) {
	decimals := func(values ...float64) *array.Float64 {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		b.AppendValues(values, nil)
		return b.NewFloat64Array()
	}
	whole := array.NewInt64Builder(memory.DefaultAllocator)
	whole.AppendValues([]int64{0, 10, 3, 0}, nil)
	s := synth.Statistic{Published: whole.NewInt64Array(), Unbiased: decimals(-4, 12.4, 3.2, 0), Error: decimals(2, 2, 2, 0), Flags: []synth.Flag{"", "", "", synth.Impossible}}
	if fittedOf("fitted", s) != nil {
		t.Error("gaps of counts that are the estimates, rounded")
	}
	s.Fitted = true
	got := fittedOf("fitted", s)
	want := Fitted{Way: "fitted", Moved: 1, Mean: (2 - 1.2 - 0.1) / 3, Spread: math.Sqrt((4 + 1.44 + 0.01) / 3), Largest: 2, Off: (4 + 2.4 + 0.2) / 3, MostOff: 4}
	if got.Way != want.Way || got.Moved != want.Moved || got.Largest != want.Largest || math.Abs(got.Mean-want.Mean) > 1e-12 || math.Abs(got.Spread-want.Spread) > 1e-12 || math.Abs(got.Off-want.Off) > 1e-12 || got.MostOff != want.MostOff {
		t.Errorf("%+v, expected %+v", *got, want)
	}
	if says := got.text(3); says != "1 of 3 cells moved, on the mean by +0.23 standard errors, at most by 2.0" {
		t.Error(says)
	}
}

// TestMovedAmongOthers: where not all numbers were made to add up it is said how many were; of one, of one.
func TestMovedAmongOthers(t *testing.T) {
	fitted := Statistic{Name: "count", Confidence: 0.95, Margin: 3, Fitted: &Fitted{Off: 2, MostOff: 7.5}}
	added := Table{Path: "a", Cells: 4, Impossible: 2, Statistics: []Statistic{fitted}}
	for want, tables := range map[string][]Table{
		"Of the 12 published numbers, 2 of them as they were before they were made to add up (count_unbiased), on average at least ": {added, {Path: "b", Cells: 10, Statistics: []Statistic{{Name: "count", Confidence: 0.95, Margin: 3}}}},
		"Of the 2 published numbers, as they were before they were made to add up (count_unbiased), on average at least ":            {added},
		"The one published number, as it was before it was made to add up (count_unbiased), is off the exact count by 3 or less":     {{Path: "c", Cells: 1, Statistics: []Statistic{fitted}}},
		"Of the 10 published numbers, on average at least ":                                                                          {{Path: "b", Cells: 10, Statistics: []Statistic{{Name: "count", Confidence: 0.95, Margin: 3}}}},
	} {
		got := accuracyOf(tables).Sentence
		if moved := strings.Contains(got, "was moved from there, by 2 on the mean and by 8 at most,"); !strings.HasPrefix(got, want) || moved != (tables[0].Path != "b") {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
