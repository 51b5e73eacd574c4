package release

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// This file holds the columns of the numbers that a table publishes beside its count.

// numberColumns are a figure's value, unbiased estimate where it has one, standard error, interval and flag: null where
// nothing is published. What is counted is in whole numbers, and shown as zero where it was drawn below.
func numberColumns(n synth.Number, confidence float64, protects string) []column {
	kind, values, unit := optionalDecimal, nullableDecimals, n.Column
	published := n.What()
	switch n.Kind {
	case spec.Units:
		kind, values, unit = optionalInteger, nullableIntegers, protects
		published += "; negative estimates are shown as 0"
	case spec.Distinct:
		kind, values = optionalInteger, nullableIntegers
		published += "; negative estimates are shown as 0"
	}
	if n.Column != "" && n.Kind != spec.Distinct || n.Kind == spec.Ratio {
		published += "; of values as they are counted: rounded to the step, and to the end of the range where they lie beyond it"
	}
	value := values(n.Value)
	if counted(n) {
		value = shownFromZero(n.Value)
	}
	interval := fmt.Sprintf("end of the %g%% interval, privacy noise only", 100*confidence)
	columns := []column{{n.Name + plan.Published, published, unit, string(n.Kind), kind, value}}
	if n.Unbiased {
		columns = append(columns, column{n.Name + plan.Unbiased, "unbiased estimate; use this one for sums", unit, "estimate", kind, values(n.Value)})
	}
	return append(columns,
		column{n.Name + plan.StandardError, "standard error of the privacy noise", unit, "standard error", optionalDecimal, nullableDecimals(n.Error)},
		column{n.Name + plan.Low, "lower " + interval, unit, "interval", kind, values(n.Low)},
		column{n.Name + plan.High, "upper " + interval, unit, "interval", kind, values(n.High)},
		column{n.Name + plan.Flag, numberFlagsText, "", "flag", optionalText, flagValues(n.Flags)},
	)
}

// numberFlagsText is what the flag of a figure says.
const numberFlagsText = "null, or unbounded where the noise leaves open all that the figure may be: it has no interval; or withheld where the noisy count is below what the spec shows"

// counted tells that a figure is a noisy count, which is whole.
func counted(n synth.Number) bool { return n.Kind == spec.Units || n.Kind == spec.Distinct }

// nullable gives those entries that are not null.
func nullable(of *array.Float64, value func(float64) parquet.Value) func(int, []parquet.Value) {
	return func(row int, into []parquet.Value) {
		for i := range into {
			if of.IsNull(row + i) {
				into[i] = parquet.NullValue()
			} else {
				into[i] = value(of.Value(row+i)).Level(0, 1, 0)
			}
		}
	}
}

func nullableDecimals(of *array.Float64) func(int, []parquet.Value) {
	return nullable(of, parquet.DoubleValue)
}

func nullableIntegers(of *array.Float64) func(int, []parquet.Value) {
	return nullable(of, func(v float64) parquet.Value { return parquet.Int64Value(int64(v)) })
}

// shownFromZero are whole numbers, with negative ones shown as zero.
func shownFromZero(of *array.Float64) func(int, []parquet.Value) {
	return nullable(of, func(v float64) parquet.Value { return parquet.Int64Value(int64(math.Max(v, 0))) })
}
