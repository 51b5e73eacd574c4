package published

import (
	"errors"
	"fmt"
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// This file checks that the columns of a published table agree with each other.

// figureShape describes how the columns of one figure of a table agree with each other.
type figureShape struct {
	name        string
	unbiased    bool    // there is an unbiased estimate, from which the published value is made
	least, most float64 // bounds of the published value if there is an unbiased estimate
	rounded     bool    // the published value is a whole number
	fitted      bool    // the published value may have been moved so that tables add up
}

// checkFigures returns an error for the first figure of a table that is outside its own interval, or whose published
// value does not follow from its unbiased estimate. No count is published above most.
func checkFigures(f *parquet.File, t plan.Table, rows *spec.Table, most float64, fitted bool) error {
	var shapes []figureShape
	for _, s := range t.Statistics {
		shapes = append(shapes, figureShape{name: s.Name, unbiased: true, rounded: true, fitted: fitted, most: most})
	}
	for _, n := range t.Figures {
		s := figureShape{name: n.Name, unbiased: statistic.OfFigure(n).Additive()}
		s.least, s.most = statistic.OfFigure(n).Limits(n, rows)
		shapes = append(shapes, s)
	}
	places := make([][5]int, len(shapes))
	for i, s := range shapes {
		for k, suffix := range [5]string{statistic.Published, statistic.Unbiased, statistic.Low, statistic.High,
			statistic.Flag} {
			leaf, found := f.Schema().Lookup(s.name + suffix)
			if !found && (k != 1 || s.unbiased) {
				return fmt.Errorf("has no column %q", s.name+suffix)
			}
			if found && (leaf.Node.Type().Kind() == parquet.ByteArray) != (k == 4) {
				return fmt.Errorf("has another kind of column %q than tables have", s.name+suffix)
			}
			if places[i][k] = -1; found {
				places[i][k] = leaf.ColumnIndex
			}
		}
	}
	row := 0
	return EachRow(f, func(r parquet.Row) error {
		row++
		for i, s := range shapes {
			at := places[i]
			estimate := r[at[0]]
			if s.unbiased {
				estimate = r[at[1]]
			}
			if err := s.checkCell(r[at[0]], estimate, r[at[2]], r[at[3]], r[at[4]]); err != nil {
				return fmt.Errorf("row %d: %s %w", row, s.name, err)
			}
		}
		return nil
	})
}

// checkCell checks one cell: its interval, and the published value against the estimate if there is one.
func (s figureShape) checkCell(published, estimate, low, high, flag parquet.Value) error {
	switch {
	case estimate.IsNull() && published.IsNull() && low.IsNull() && high.IsNull():
		return nil
	case estimate.IsNull():
		return errors.New("is published, or has an interval, without the estimate that it is made from")
	case low.IsNull() != high.IsNull():
		return errors.New("has one end of an interval without the other")
	}
	x := Number(estimate)
	if !low.IsNull() && !high.IsNull() && !(Number(low) <= x && x <= Number(high)) {
		return fmt.Errorf("is %v, outside its own interval %v … %v", x, Number(low), Number(high))
	}
	if published.IsNull() {
		return nil
	}
	shown, want := Number(published), x
	if s.rounded {
		want = math.Floor(want + 0.5)
	}
	moved := s.fitted && (flag.String() == string(synth.Fitted) || flag.String() == string(synth.NoiseDominates))
	if shown == want || s.unbiased && shown == math.Max(s.least, math.Min(s.most, want)) || moved && shown >= 0 {
		return nil
	}
	return fmt.Errorf("is published as %v, and its unbiased estimate is %v", shown, x)
}
