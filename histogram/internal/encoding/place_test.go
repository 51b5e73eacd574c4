package encoding

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// numbersOf is the encoder of numbers on a lattice of halves from −1 to 3.
func numbersOf(t *testing.T, unknown, null spec.Action) *Encoder {
	t.Helper()
	e, err := OfNumbers(&spec.Table{Name: "t"}, &spec.Column{Name: "x", From: "x",
		Unknown: spec.Policy{Action: unknown},
		Null:    spec.Policy{Action: null},
		Declaration: domain.Declaration{Type: domain.Decimal,
			Lattice: &domain.Lattice{Step: big.NewRat(1, 2), First: -2, Last: 6}}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var fromJSON = histogramtest.FromJSON

// TestNumbersOfAllTypes reads values of each type: rounded, clamped, and by the column's policies where they are none.
func TestNumbersOfAllTypes(t *testing.T) {
	floats := array.NewFloat64Builder(memory.DefaultAllocator)
	floats.AppendValues([]float64{0, 0.25, 0.24, -7, math.Inf(1), math.Inf(-1), math.NaN(), 1e300}, nil)
	floats.AppendNull()
	texts := `["0", "0.25", "-0.26", "2.5e0", "x", "", "900000000000000000000000", null]`
	for _, c := range []struct {
		name          string
		raw           arrow.Array
		unknown, null spec.Action
		want          string
	}{
		{"floats", floats.NewArray(), spec.Refuse, spec.Drop, "[2 3 2 0 8 0 d 8 d] []"},
		{"integers", fromJSON(t, arrow.PrimitiveTypes.Int64, `[0, 1, -1, -9, 3, 4, null]`), spec.Drop, spec.Refuse,
			"[2 4 0 0 8 8 b] [null]"},
		{"texts", fromJSON(t, arrow.BinaryTypes.String, texts), spec.Refuse, spec.Drop,
			"[2 3 1 7 b b 8 d] [not a number not a number]"},
		{"texts left out", fromJSON(t, arrow.BinaryTypes.String, texts), spec.Drop, spec.Drop, "[2 3 1 7 d d 8 d] []"},
		{"long texts", fromJSON(t, arrow.BinaryTypes.LargeString, `["1", "?"]`), spec.Refuse, spec.Drop,
			"[4 b] [not a number]"},
		{"decimals", fromJSON(t, &arrow.Decimal128Type{Precision: 20, Scale: 2}, `["0.25", "-0.26", "99", "2.74"]`),
			spec.Refuse, spec.Refuse, "[3 1 8 7] []"},
		{"booleans", fromJSON(t, arrow.FixedWidthTypes.Boolean, `[true]`), spec.Drop, spec.Drop,
			"[b] [of the wrong type]"},
		{"dates", fromJSON(t, arrow.PrimitiveTypes.Date32, `[0]`), spec.Drop, spec.Drop, "[b] [of the wrong type]"},
	} {
		e := numbersOf(t, c.unknown, c.null)
		codes, misfits := e.Encode(nil, 100, c.raw)
		var shown []string
		for _, code := range codes {
			switch code {
			case Dropped:
				shown = append(shown, "d")
			case Breached:
				shown = append(shown, "b")
			default:
				shown = append(shown, fmt.Sprint(code))
			}
		}
		kinds := []string{}
		for _, m := range misfits {
			kinds = append(kinds, m.Kind)
		}
		if got := fmt.Sprint(shown, " ", kinds); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		read := make([]uint32, c.raw.Len())
		e.Codes(c.raw, read)
		for i, code := range read { // what readers get, whose marks are those of the width
			want := codes[i]
			switch want {
			case Dropped:
				want = math.MaxUint8
			case Breached:
				want = math.MaxUint8 - 1
			}
			if code != want {
				t.Errorf("%s: row %d is read as %d, want %d", c.name, i, code, want)
			}
		}
	}
}

// TestLatticesThatHaveNoCodes: 2^32 − 3 places are the most.
func TestLatticesThatHaveNoCodes(t *testing.T) {
	for last, want := range map[int64]bool{1<<32 - 5: true, 1<<32 - 4: false, math.MaxInt64: false} {
		c := &spec.Column{Name: "x", Declaration: domain.Declaration{
			Lattice: &domain.Lattice{Step: big.NewRat(1, 1), First: 0, Last: last}}}
		if _, err := OfNumbers(&spec.Table{Name: "t"}, c); (err == nil) != want {
			t.Errorf("places up to %d: %v", last, err)
		}
	}
	c := &spec.Column{Name: "x", Declaration: domain.Declaration{
		Lattice: &domain.Lattice{Step: big.NewRat(1, 1), First: math.MinInt64 / 2, Last: math.MaxInt64 / 2}}}
	if _, err := OfNumbers(&spec.Table{Name: "t"}, c); err == nil {
		t.Error("2^63 places have codes")
	}
}
