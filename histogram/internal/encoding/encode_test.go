package encoding

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// columns is a release of one table, of which a test says what unknown and null values are.
const columns = `version: 1
release: survey
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1/2}
tables:
  persons:
    source: {csv: "*.csv"}
    unit: row
    columns:
      kind: {values: [a, b, c], unknown: UNKNOWN, null: NULL}
      age: {type: integer, range: [0, 9], unknown: UNKNOWN, null: NULL}
marginals:
  all: {by: [kind, age]}
`

// encoderOf is the encoder of one of them.
func encoderOf(t *testing.T, column string, replacements ...string) *Encoder {
	t.Helper()
	text := strings.NewReplacer(append(replacements, "UNKNOWN", "error", "NULL", "error")...).Replace(columns)
	r, err := spec.Parse(spec.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	e, err := OfCategories(r.Tables[0], r.Tables[0].Column(column))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestFloatsThatAreNoNumbers(t *testing.T) {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	inf := 1e308
	inf *= 10
	b.AppendValues([]float64{3, inf - inf, inf, -inf, 4.5}, nil)
	raw := b.NewArray()
	codes, found := encoderOf(t, "age").Encode(nil, 100, raw)
	want := []Misfit{{1, domain.NaN.String()}, {2, domain.Infinite.String()}, {3, domain.Infinite.String()},
		{4, domain.OutOfDomain.String()}}
	if codes[0] != 3 || fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("got %v, %v; want %v", codes, found, want)
	}
	codes, found = encoderOf(t, "age", "UNKNOWN", "drop").Encode(nil, 100, raw)
	if len(found) != 0 || codes[1] != Dropped || codes[2] != Dropped {
		t.Errorf("dropping: got %v, %v", codes, found)
	}
}

// Only entries of a dictionary that a row uses count.
func TestUnusedDictionaryEntries(t *testing.T) {
	values := histogramtest.FromJSON(t, arrow.BinaryTypes.String, `["x", "c", "y", "a"]`)
	index := histogramtest.FromJSON(t, arrow.PrimitiveTypes.Int32, `[3, 1, 1, 3]`)
	of := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	codes, found := encoderOf(t, "kind").Encode(nil, 100, array.NewDictionaryArray(of, index, values))
	if len(found) != 0 || fmt.Sprint(codes) != "[0 2 2 0]" {
		t.Errorf("got %v, %v", codes, found)
	}
	index = histogramtest.FromJSON(t, arrow.PrimitiveTypes.Int32, `[3, 2, null, 2]`)
	codes, found = encoderOf(t, "kind", "UNKNOWN", "{as: b}", "NULL", "drop").Encode(nil, 100,
		array.NewDictionaryArray(of, index, values))
	if len(found) != 0 || fmt.Sprint(codes) != fmt.Sprint([]uint32{0, 1, Dropped, 1}) {
		t.Errorf("got %v, %v", codes, found)
	}
}

// A column of a type its domain cannot read is refused even where unknown
// values are dropped.
func TestWrongTypeIsNeverDropped(t *testing.T) {
	raw := histogramtest.FromJSON(t, arrow.FixedWidthTypes.Boolean, `[true]`)
	_, found := encoderOf(t, "age", "UNKNOWN", "drop", "NULL", "drop").Encode(nil, 100, raw)
	if len(found) != 1 || found[0].Kind != domain.WrongType.String() {
		t.Errorf("got %v", found)
	}
}

func TestCodesHaveTheLeastWidth(t *testing.T) {
	for size, want := range map[int]int{1: 1, 254: 1, 255: 2, 65534: 2, 65535: 4, 1 << 31: 4} {
		if got := widthOf(size); got != want {
			t.Errorf("%d cells: got %d bytes", size, got)
		}
	}
	e := encoderOf(t, "kind", "UNKNOWN", "drop")
	codes := make([]uint32, 4)
	e.Codes(histogramtest.FromJSON(t, arrow.BinaryTypes.String, `["c", "x", null, "a"]`), codes)
	if want := []uint32{2, 255, 254, 0}; !slices.Equal(codes, want) {
		t.Errorf("got %v, want %v", codes, want)
	}
}
