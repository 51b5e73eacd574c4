package synth

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// This file holds the figure: what is published of a statistic that is put together from noisy figures, in one cell.

// Figure is a statistic of one cell with its standard error and an interval for what the statistic of the bounded,
// clamped rows is without noise. NaN stands for what is not published.
//
// One rule decides what is published of noise. A figure is null and [Unbounded] where its interval leaves out nothing
// that it can be. A figure that can be added up always has an estimate, whose mean over the noise is exact: it is
// [NoiseDominates] where its interval holds zero or nothing that it can be, and it is shown as the nearest value that
// it can be.
//
// Intervals hold over all cells, those withheld or without an interval included; of the published alone they may hold
// less often, as which are published depends on the noise.
type Figure struct {
	Value float64 // for reading
	// for arithmetic, in the middle of the interval of a figure that can be added up; of another it is the value
	Estimate float64
	Error    float64
	Low      float64
	High     float64
	Flag     Flag
}

// Figures that are published in part, or not at all.
const (
	// Unbounded is a cell whose noise leaves open all that the statistic may be: nothing is published of it.
	Unbounded Flag = "unbounded"
	// Withheld is a cell whose noisy count is below what the release asks of those that are shown.
	Withheld Flag = "withheld"
)

// null stands for what is not published.
var null = math.NaN()

// unpublished is a figure of which nothing is published but the reason.
func unpublished(reason Flag) Figure { return Figure{null, null, null, null, null, reason} }

// bounded is a figure with an interval that holds the value.
func bounded(value, deviation, low, high float64) Figure {
	return Figure{Value: value, Estimate: value, Error: deviation, Low: math.Min(low, value), High: math.Max(high, value)}
}

// additive is a figure that can be added up and cannot be below least or above most, which are 0, infinite or a number
// of values.
func additive(estimate, deviation, margin, least, most float64) Figure {
	f := bounded(estimate, deviation, estimate-margin, estimate+margin)
	f.Value = math.Max(least, math.Min(most, estimate))
	if f.Low <= 0 && f.High >= 0 || f.High < least || f.Low > most {
		f.Flag = NoiseDominates
	}
	return f
}

// HasInterval reports whether the figure has an interval.
func (f Figure) HasInterval() bool { return f.Low == f.Low }

// Scaled is the figure of offset + factor·x, in the unit of the data; the factor is positive.
func (f Figure) Scaled(offset, factor float64) Figure {
	at := func(x float64) float64 { return offset + float64(factor*x) }
	return Figure{at(f.Value), at(f.Estimate), float64(factor * f.Error), at(f.Low), at(f.High), f.Flag}
}

// ShownFrom withholds the figure where the noisy count of its cell is below the least that is shown.
func (f Figure) ShownFrom(least, noisyCount float64) Figure {
	if noisyCount < least {
		return unpublished(Withheld)
	}
	return f
}

// FigureColumns are a statistic's columns: an entry per cell, null where it is not published.
type FigureColumns struct {
	Value, Estimate, Error, Low, High *array.Float64
	Flags                             []Flag
}

// ColumnsOf are the columns of figures.
func ColumnsOf(cells []Figure) FigureColumns {
	out := FigureColumns{Flags: make([]Flag, len(cells))}
	for i, c := range cells {
		out.Flags[i] = c.Flag
	}
	out.Value = nullable(cells, func(f Figure) float64 { return f.Value })
	out.Estimate = nullable(cells, func(f Figure) float64 { return f.Estimate })
	out.Error = nullable(cells, func(f Figure) float64 { return f.Error })
	out.Low = nullable(cells, func(f Figure) float64 { return f.Low })
	out.High = nullable(cells, func(f Figure) float64 { return f.High })
	return out
}

func nullable(cells []Figure, of func(f Figure) float64) *array.Float64 {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(len(cells))
	for _, c := range cells {
		if v := of(c); v == v {
			b.Append(v)
		} else {
			b.AppendNull()
		}
	}
	return b.NewFloat64Array()
}
