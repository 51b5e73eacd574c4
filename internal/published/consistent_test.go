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
