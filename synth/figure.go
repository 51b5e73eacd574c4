package synth

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// This file holds the figure: a statistic of one cell that is computed from noisy figures, as it is published.

// Figure is a statistic of one cell with its standard error and an interval for the statistic of the bounded, clamped
// rows without noise. NaN stands for what is not published.
//
// One rule decides what is published. A figure is null and [Unbounded] if its interval leaves out no possible value. A
// figure that can be added up always has an estimate, which is exactly unbiased over the noise: it is [NoiseDominates]
// if its interval contains zero or no possible value, and is shown as the nearest possible value.
//
// The coverage of intervals holds over all cells, including those withheld or without an interval. Over the published
// cells only it may be lower, as the noise decides which are published.
type Figure struct {
	Value float64 // for reading
	// for arithmetic; of a figure that can be added up it is the middle of the interval, of another it equals Value
	Estimate float64
	Error    float64
	Low      float64
	High     float64
	Flag     Flag
}

// Flags of figures that are not published.
const (
	// Unbounded marks a cell whose noise leaves open every possible value of the statistic: nothing is published of it.
	Unbounded Flag = "unbounded"
	// Withheld marks a cell whose noisy count is below the least that the release shows.
	Withheld Flag = "withheld"
)

// null stands for what is not published.
var null = math.NaN()

// unpublishedFigure returns a figure of which only the reason is published.
func unpublishedFigure(reason Flag) Figure { return Figure{null, null, null, null, null, reason} }

// boundedFigure returns a figure with an interval that is extended to contain the value.
func boundedFigure(value, deviation, low, high float64) Figure {
	return Figure{Value: value, Estimate: value, Error: deviation, Low: math.Min(low, value),
		High: math.Max(high, value)}
}

// additiveFigure returns a figure that can be added up and lies between least and most, which are 0, infinite or a
// number of values.
func additiveFigure(estimate, deviation, margin, least, most float64) Figure {
	f := boundedFigure(estimate, deviation, estimate-margin, estimate+margin)
	f.Value = math.Max(least, math.Min(most, estimate))
	if f.Low <= 0 && f.High >= 0 || f.High < least || f.Low > most {
		f.Flag = NoiseDominates
	}
	return f
}

// HasInterval reports whether the figure has an interval.
func (f Figure) HasInterval() bool { return f.Low == f.Low }

// Scaled returns the figure of offset + factor·x, in the unit of the data, for a positive factor.
func (f Figure) Scaled(offset, factor float64) Figure {
	at := func(x float64) float64 { return offset + float64(factor*x) }
	return Figure{at(f.Value), at(f.Estimate), float64(factor * f.Error), at(f.Low), at(f.High), f.Flag}
}

// ShownFrom withholds the figure if the noisy count of its cell is below the least that is shown.
func (f Figure) ShownFrom(least, noisyCount float64) Figure {
	if noisyCount < least {
		return unpublishedFigure(Withheld)
	}
	return f
}

// FigureColumns are the columns of a statistic: an entry per cell, null where it is not published.
type FigureColumns struct {
	Value, Estimate, Error, Low, High *array.Float64
	Flags                             []Flag
}

// ColumnsOf returns the columns of figures.
func ColumnsOf(cells []Figure) FigureColumns {
	out := FigureColumns{Flags: make([]Flag, len(cells))}
	for i, c := range cells {
		out.Flags[i] = c.Flag
	}
	out.Value = nullableColumn(cells, func(f Figure) float64 { return f.Value })
	out.Estimate = nullableColumn(cells, func(f Figure) float64 { return f.Estimate })
	out.Error = nullableColumn(cells, func(f Figure) float64 { return f.Error })
	out.Low = nullableColumn(cells, func(f Figure) float64 { return f.Low })
	out.High = nullableColumn(cells, func(f Figure) float64 { return f.High })
	return out
}

func nullableColumn(cells []Figure, of func(f Figure) float64) *array.Float64 {
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
