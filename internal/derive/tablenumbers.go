package derive

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// This file holds the columns of a table's figures other than counts.

// numberColumns returns a figure's value, unbiased estimate if it has one, standard error, interval and flag: null
// where nothing is published. Counted figures are whole numbers, and are shown as zero if the draw is negative.
func numberColumns(p *compiled.Compiled, n synth.Number, planned plan.Table, confidence float64) []column {
	of := statistic.OfFigure(n.Figure)
	kind, values := optionalDecimal, nullableDecimals
	unit := describe.UnitOf(language.English, p.Release().Words, n.Figure, planned, p.Guarantee.Protects)
	published := describe.FigureText(language.English, p.Release().Words, n.Figure, planned)
	if of.IsWhole() {
		kind, values = optionalInteger, nullableIntegers
	}
	if of.Additive() {
		published += "; an estimate that cannot be is shown as the nearest value that can"
	}
	if of.Clamped() {
		published += "; of values as they are counted: rounded to the step, and to the end of the range where they " +
			"lie beyond it"
	}
	interval := fmt.Sprintf("end of the %g%% interval, privacy noise only", 100*confidence)
	columns := []column{{n.Name + statistic.Published, published, unit, n.Kind.String(), kind, values(n.Value)}}
	if of.Additive() {
		columns = append(columns, column{n.Name + statistic.Unbiased, "unbiased estimate; use this one for sums", unit,
			"estimate",
			kind, values(n.Estimate)})
	}
	return append(columns,
		column{n.Name + statistic.StandardError, "standard error of the privacy noise", unit, "standard error",
			optionalDecimal,
			nullableDecimals(n.Error)},
		column{n.Name + statistic.Low, "lower " + interval, unit, "interval", kind, values(n.Low)},
		column{n.Name + statistic.High, "upper " + interval, unit, "interval", kind, values(n.High)},
		column{n.Name + statistic.Flag, numberFlagsText(n), "", "flag", optionalText, flagValues(n.Flags)},
	)
}

// numberFlagsText describes the flags of a figure.
func numberFlagsText(n synth.Number) string {
	const withheld = "or withheld where the noisy count is below what the spec shows"
	if statistic.OfFigure(n.Figure).Additive() {
		return "null, or noise_dominates where the interval reaches zero, or holds nothing that the figure can be; " +
			withheld
	}
	return "null, or unbounded where the noise leaves open all that the figure may be: nothing is published; " +
		withheld
}

// nullableValues returns the entries that are not null.
func nullableValues(of *array.Float64, value func(float64) parquet.Value) func(int, []parquet.Value) {
	return valuesBy(func(row int) parquet.Value {
		if of.IsNull(row) {
			return parquet.NullValue()
		}
		return value(of.Value(row)).Level(0, 1, 0)
	})
}

func nullableDecimals(of *array.Float64) func(int, []parquet.Value) {
	return nullableValues(of, parquet.DoubleValue)
}

func nullableIntegers(of *array.Float64) func(int, []parquet.Value) {
	return nullableValues(of, func(v float64) parquet.Value { return parquet.Int64Value(int64(v)) })
}
