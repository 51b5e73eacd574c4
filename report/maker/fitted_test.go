package maker

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/synth"
)

// TestFittedGaps compares how far counts were moved with values computed by hand: cells without an error have no gap.
func TestFittedGaps(t *testing.T) {
	decimals := func(values ...float64) *array.Float64 {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		b.AppendValues(values, nil)
		return b.NewFloat64Array()
	}
	whole := array.NewInt64Builder(memory.DefaultAllocator)
	whole.AppendValues([]int64{0, 10, 3, 0}, nil)
	s := synth.Statistic{Published: whole.NewInt64Array(), Unbiased: decimals(-4, 12.4, 3.2, 0),
		Error: decimals(2, 2, 2, 0), Flags: []synth.Flag{"", "", "", synth.Impossible}}
	if fittedOf("fitted", s) != nil {
		t.Error("gaps of counts that are the estimates, rounded")
	}
	s.Fitted = true
	got := fittedOf("fitted", s)
	want := report.Fitted{Way: "fitted", Moved: 1, Mean: (2 - 1.2 - 0.1) / 3, Spread: math.Sqrt((4 + 1.44 + 0.01) / 3),
		Largest: 2, Off: (4 + 2.4 + 0.2) / 3, MostOff: 4}
	if got.Way != want.Way || got.Moved != want.Moved || got.Largest != want.Largest ||
		math.Abs(got.Mean-want.Mean) > 1e-12 || math.Abs(got.Spread-want.Spread) > 1e-12 ||
		math.Abs(got.Off-want.Off) > 1e-12 || got.MostOff != want.MostOff {
		t.Errorf("%+v, expected %+v", *got, want)
	}
}
