package synth

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
)

// This file holds the statistic of a table: one figure per cell with its interval, and the flags of single cells.

// Statistic is one figure per cell. Arrays have one entry per cell.
type Statistic struct {
	Name      string
	Published *array.Int64 // for reading: the rounded estimate, with negative counts shown as zero; or [Consistent]
	// Unbiased is for arithmetic: its mean over the noise is the exact value. Low and High are an interval around it,
	// which covers the exact value with probability Attained.
	Unbiased, Low, High *array.Float64
	Error               *array.Float64 // standard errors of Unbiased, from the law of the noise
	// Whole is true if Unbiased, Low and High are whole numbers: the figure is one measurement, as it was drawn.
	Whole         bool
	Fitted        bool    // Published is by [Consistent]
	Tabulated     bool    // Published counts rows of microdata
	Skewed        bool    // intervals are not around the figure: they end where no exact figure lies
	StandardError float64 // root mean square of Error
	// Margin is (High − Low) / 2 of the widest interval; of skewed ones, the furthest that an end is from the figure.
	Margin     float64
	Confidence float64 // that was asked for
	Attained   float64 // by the law of the noise, at least Confidence
	Flags      []Flag
}

// Flag is a remark about one cell.
type Flag string

const (
	// Plain marks a cell without a remark.
	Plain Flag = ""
	// NoiseDominates marks a cell whose interval reaches zero: it cannot be distinguished from an empty one.
	NoiseDominates Flag = "noise_dominates"
	// Impossible marks a cell that the spec says no row falls into: its zero is exact, and was not measured.
	Impossible Flag = "impossible"
)

// standaloneStatistic returns the statistic of a count that is one measurement. Its impossible cells are exact zeros.
func standaloneStatistic(st plan.Statistic, m measured.Measured, impossible []bool) Statistic {
	law, unit := m.Measurement.Mechanism, st.UnitValue()
	whole, attained := law.Margin(st.Confidence)
	margin, deviation := float64(unit*float64(whole)), float64(unit*math.Sqrt(law.Variance()))
	cells := make([]float64, m.Values.Len())
	errors := make([]float64, len(cells))
	for i, v := range m.Values.Int64Values() {
		if impossible == nil || !impossible[i] {
			cells[i], errors[i] = float64(unit*float64(v)), deviation
		}
	}
	out := newStatistic(st.Name, cells, errors, func(i int) float64 {
		if impossible != nil && impossible[i] {
			return 0
		}
		return margin
	})
	for i := range impossible {
		if impossible[i] {
			out.Flags[i] = Impossible
		}
	}
	out.Whole, out.StandardError, out.Margin = unit == math.Floor(unit), deviation, margin
	out.Confidence, out.Attained = st.Confidence, attained
	return out
}

// newStatistic returns the statistic with these unbiased estimates, standard errors and margins. It takes ownership of
// the estimates and errors.
func newStatistic(name string, cells, errors []float64, margin func(i int) float64) Statistic {
	out := Statistic{Name: name, Flags: make([]Flag, len(cells)), Unbiased: float64Column(cells),
		Error: float64Column(errors)}
	published, low, high := make([]int64, len(cells)), make([]float64, len(cells)), make([]float64, len(cells))
	for i, v := range cells {
		m := margin(i)
		published[i] = int64(math.Floor(max(v, 0) + 0.5))
		low[i], high[i] = v-m, v+m
		if v <= m && m > 0 {
			out.Flags[i] = NoiseDominates
		}
	}
	out.Low, out.High = float64Column(low), float64Column(high)
	out.Published = int64Column(published)
	return out
}

// int64Column returns an array of these values, without a copy.
func int64Column(values []int64) *array.Int64 {
	data := columnOf(arrow.PrimitiveTypes.Int64, len(values), arrow.Int64Traits.CastToBytes(values))
	defer data.Release()
	return array.NewInt64Data(data)
}

// float64Column returns an array of these values, without a copy.
func float64Column(values []float64) *array.Float64 {
	data := columnOf(arrow.PrimitiveTypes.Float64, len(values), arrow.Float64Traits.CastToBytes(values))
	defer data.Release()
	return array.NewFloat64Data(data)
}

func columnOf(of arrow.DataType, n int, values []byte) *array.Data {
	return array.NewData(of, n, []*memory.Buffer{nil, memory.NewBufferBytes(values)}, nil, 0, 0)
}
