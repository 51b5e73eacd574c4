package encoding

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec"
)

// TestKeysAreComparedAsCanonicalTexts looks up arrays of every type of value.
func TestKeysAreComparedAsCanonicalTexts(t *testing.T) {
	r, err := spec.Parse(spec.Source{Text: `version: 1
release: firms
privacy: {protects: firm, neighbours: add-remove}
budget: {rho: 1/2}
tables:
  firms:
    source: {csv: "*.csv"}
    unit: row
    join: {register: {csv: register.csv, on: id, public: true}}
    columns:
      size: {from: register.size, values: [small, large], unknown: drop, null: drop}
marginals:
  sizes: {by: [size]}
`, Files: map[string]string{
		"register.csv": "id,size\n7,small\n07,large\n-1.5,huge\n2024-02-29,large\ntrue,small\n"}})
	if err != nil {
		t.Fatal(err)
	}
	table := r.Tables[0]
	look, err := lookupValues(table, table.Column("size"))
	if err != nil {
		t.Fatal(err)
	}
	allocator := memory.DefaultAllocator
	decimals := func(scale int32, unscaled ...int64) arrow.Array {
		b := array.NewDecimal128Builder(allocator, &arrow.Decimal128Type{Precision: 20, Scale: scale})
		for _, u := range unscaled {
			b.Append(decimal128.FromI64(u))
		}
		return b.NewArray()
	}
	texts := textsOf([]string{"7", "07", "7.0", " 7", "-1.5", ""})
	integers := array.NewInt64Builder(allocator)
	integers.AppendValues([]int64{7, 8, -1, 7}, []bool{true, true, true, false})
	floats := array.NewFloat64Builder(allocator)
	floats.AppendValues([]float64{7, -1.5, 7.5}, nil)
	days := array.NewDate32Builder(allocator)
	days.AppendValues([]arrow.Date32{19782, 19783}, nil)
	booleans := array.NewBooleanBuilder(allocator)
	booleans.AppendValues([]bool{true, false}, nil)
	index := array.NewInt32Builder(allocator)
	index.AppendValues([]int32{1, 0, 2}, []bool{true, true, false})
	times := array.NewTimestampBuilder(allocator, &arrow.TimestampType{Unit: arrow.Microsecond})
	times.AppendValues([]arrow.Timestamp{19782 * 86_400_000_000}, nil)
	for name, c := range map[string]struct {
		keys arrow.Array
		want string
	}{
		"texts":        {texts, "small large – – huge –"},
		"dictionaries": {array.NewDictionaryArray(lookedType, index.NewArray(), texts), "large small –"},
		"integers":     {integers.NewArray(), "small – – –"},
		"floats":       {floats.NewArray(), "small huge –"},
		"decimals":     {decimals(1, 70, -15, 71), "small huge –"},
		"wholes":       {decimals(-1, 0, 7), "– –"},
		"dates":        {days.NewArray(), "large –"},
		"booleans":     {booleans.NewArray(), "small –"},
		"timestamps":   {times.NewArray(), "of the wrong type"},
	} {
		values, misfits := look([]arrow.Array{c.keys})
		var got []string
		for i := range values.Len() {
			switch {
			case misfits != nil:
				got = append(got, misfits[i].String())
			case values.IsNull(i):
				got = append(got, "–")
			default:
				got = append(got, values.ValueStr(i))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestLongColumnsAreLookedUpAsTheyAre has more texts in the public table than rows in a batch, and wants of both forms
// the same.
func TestLongColumnsAreLookedUpAsTheyAre(t *testing.T) {
	texts := make([]string, 3000)
	places := []int32{2999, -1, 0, 1500}
	for i := range texts {
		texts[i] = fmt.Sprint(i)
	}
	long := lookedUpTexts(textsOf(texts), slices.Clone(places))
	short := lookedUpTexts(textsOf([]string{"0", "1500", "2999"}), []int32{2, -1, 0, 1})
	for i := range places {
		if long.IsNull(i) != short.IsNull(i) || !long.IsNull(i) && long.ValueStr(i) != short.ValueStr(i) {
			t.Errorf("row %d: %s and %s", i, long.ValueStr(i), short.ValueStr(i))
		}
	}
	if long.DataType().ID() != arrow.STRING || short.DataType().ID() != arrow.DICTIONARY {
		t.Errorf("types %s and %s", long.DataType(), short.DataType())
	}
}
