package published

import (
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestAFigureNeedsItsEstimate publishes a value, or an end of an interval, with what it belongs to left out.
func TestAFigureNeedsItsEstimate(t *testing.T) {
	null, seven, five, nine := parquet.NullValue(), parquet.Int64Value(7), parquet.Int64Value(5), parquet.Int64Value(9)
	shape := figureShape{name: "count", unbiased: true, rounded: true}
	for name, c := range map[string]struct {
		published, estimate, low, high parquet.Value
		says                           string
	}{
		"whole":                    {seven, seven, five, nine, ""},
		"withheld":                 {null, null, null, null, ""},
		"no estimate":              {seven, null, five, nine, "without the estimate"},
		"a value alone":            {seven, null, null, null, "without the estimate"},
		"an interval alone":        {null, null, five, nine, "without the estimate"},
		"no lower end":             {seven, seven, null, nine, "one end of an interval"},
		"no upper end":             {seven, seven, five, null, "one end of an interval"},
		"below the interval":       {five, five, seven, nine, "outside its own interval"},
		"another value":            {nine, seven, five, nine, "its unbiased estimate is 7"},
		"not a number":             {seven, parquet.DoubleValue(math.NaN()), five, nine, "outside its own interval"},
		"an end that is no number": {seven, seven, parquet.DoubleValue(math.NaN()), nine, "outside its own interval"},
	} {
		err := shape.checkCell(c.published, c.estimate, c.low, c.high, null)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// TestNoCountIsAboveItsLimit publishes counts whose unbiased estimate is above the largest count that there can be.
func TestNoCountIsAboveItsLimit(t *testing.T) {
	value := parquet.Int64Value
	shape := figureShape{name: "count", unbiased: true, rounded: true, most: 7}
	if err := shape.checkCell(value(7), value(9), value(5), value(9), parquet.NullValue()); err != nil {
		t.Error(err)
	}
	for _, shown := range []int64{6, 8} {
		if err := shape.checkCell(value(shown), value(9), value(5), value(9), parquet.NullValue()); err == nil {
			t.Errorf("a count of at most 7 with the unbiased estimate 9 was published as %d", shown)
		}
	}
}
