package encoding

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// TestExpressionsReadEveryType reads one column in all the types that files have, exactly.
func TestExpressionsReadEveryType(t *testing.T) {
	build := func(of arrow.DataType, add func(b array.Builder)) arrow.Array {
		b := array.NewBuilder(memory.DefaultAllocator, of)
		add(b)
		b.AppendNull()
		return b.NewArray()
	}
	texts := func(values ...string) arrow.Array {
		return build(arrow.BinaryTypes.String,
			func(b array.Builder) { b.(*array.StringBuilder).AppendValues(values, nil) })
	}
	floats := func(values ...float64) arrow.Array {
		return build(arrow.PrimitiveTypes.Float64,
			func(b array.Builder) { b.(*array.Float64Builder).AppendValues(values, nil) })
	}
	ints := func(values ...int64) arrow.Array {
		return build(arrow.PrimitiveTypes.Int64,
			func(b array.Builder) { b.(*array.Int64Builder).AppendValues(values, nil) })
	}
	tenth := 0.1 // not a constant, which Go would add exactly
	micros := build(arrow.FixedWidthTypes.Timestamp_us, func(b array.Builder) {
		b.(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{0, 86_399_999_999, 86_400_000_000, -1}, nil)
	})
	days := build(arrow.FixedWidthTypes.Date32,
		func(b array.Builder) { b.(*array.Date32Builder).AppendValues([]arrow.Date32{0, 1, 1 << 30}, nil) })
	for _, c := range []struct {
		expression string
		raw        arrow.Array
		want       string // t, f, n for null, and of misfits what they are
	}{
		{"x >= 18", texts("18", "17.999999999999999999999999", "1.8e1", "-18", "1e400", "x"), "t f t f t NotANumber n"},
		{"x > 0.1", floats(tenth, 0.1000000000000001, 3*tenth-0.2), "f t t n"},
		{"x == 0.3", floats(0.3, tenth+0.2), "t f n"},
		{"x < 4611686018427387904", texts("9"), "refused"},
		{"x < 2305843009213693952", ints(1<<61-1, 1<<61, -1<<63), "t f t n"},
		{"integer(x) > 3", floats(4, 3.5, 3, 1e300), "t OutOfDomain f OutOfDomain n"},
		{"decimal(x, 1) * 2 == 0.6", texts("0.3", "0.30", "0.31"), "t t OutOfDomain n"},
		{"floor(x) == -1", floats(-0.5, -1, -1.0001), "t t f n"},
		{"round(x) == 3", floats(2.5, 3.4999, 3.5), "t t f n"},
		{"x == 'a'", texts("a", "A"), "t f n"},
		{"x == '7'", ints(7, 8), "t f n"},
		{"x == 'a'", micros, "WrongType WrongType WrongType WrongType n"},
		{"x > 3", days, "WrongType WrongType WrongType n"},
		{"date(x) == 1970-01-01", micros, "t t f f n"},
		{"x == 1970-01-02", micros, "f OutOfDomain t OutOfDomain n"},
		{"day(x) == 2", days, "f t OutOfDomain n"},
		{"hour(x) == 23", micros, "f t f t n"},
		{"hour(x) == 23", days, "WrongType WrongType WrongType n"},
		{"is_null(x)", floats(1), "f t"},
		{"coalesce(x == 1, true)", floats(1, 2), "t f t"},
		{"boolean(x)", texts("true", "false", "True"), "t f OutOfDomain n"},
	} {
		r, err := spec.Parse(spec.Source{
			Text: "version: 1\nrelease: r\nprivacy: {protects: p, neighbours: add-remove}\nbudget: {rho: 1}\n" +
				"tables:\n  t:\n    source: {csv: a.csv}\n    unit: row\n    columns:\n      c: {from: \"=" +
				c.expression + "\", values: [no, yes]}\nmarginals: {m: {by: [c]}}\n"})
		if err != nil {
			if c.want != "refused" {
				t.Errorf("%s: %v", c.expression, err)
			}
			continue
		}
		table := r.Tables[0]
		v, err := newEvaluation(table, table.Columns[0].Expression)
		if err != nil {
			t.Fatal(err)
		}
		values, misfits := v.compute([]arrow.Array{c.raw})
		var got []string
		for i := range values.Len() {
			switch {
			case misfits != nil && misfits[i] != domain.Fits:
				got = append(got, map[domain.Fit]string{domain.NotANumber: "NotANumber",
					domain.OutOfDomain: "OutOfDomain",
					domain.WrongType:   "WrongType"}[misfits[i]])
			case values.IsNull(i):
				got = append(got, "n")
			default:
				got = append(got, map[string]string{"false": "f", "true": "t"}[values.ValueStr(i)])
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s of %v: %v, want %s", c.expression, c.raw, got, c.want)
		}
	}
}

// TestExpressionsOfPublicTables names a column of a public table, by the key of the row, beside one of the source.
func TestExpressionsOfPublicTables(t *testing.T) {
	r, err := spec.Parse(spec.Source{Files: map[string]string{"register.csv": "id,size,staff\n1,small,3\n2,large,77\n3,,x\n"}, Text: `version: 1
release: r
privacy: {protects: firm, neighbours: add-remove}
budget: {rho: 1}
tables:
  t:
    source: {csv: a.csv}
    unit: row
    join: {register: {csv: register.csv, on: id, public: true}}
    columns:
      c: {from: register.size == 'large' or integer(register.staff) > 2 and kind == 'a', values: [no, yes]}
marginals: {m: {by: [c]}}
`})
	if err != nil {
		t.Fatal(err)
	}
	v, err := newEvaluation(r.Tables[0], r.Tables[0].Columns[0].Expression)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Tables[0].Columns[0].Inputs(); !slices.Equal(got, []string{"id", "kind"}) {
		t.Fatalf("it reads %q", got)
	}
	texts := func(values ...string) arrow.Array { return textsOf(values) }
	values, misfits := v.compute([]arrow.Array{texts("1", "1", "2", "3", "9"), texts("a", "b", "b", "a", "a")})
	var got []string
	for i := range values.Len() {
		got = append(got, values.ValueStr(i)+" "+misfits[i].String())
	}
	want := []string{"true in its domain", "false in its domain", "true in its domain", "(null) not a number",
		"(null) in its domain"}
	if got[3] = "(null) " + misfits[3].String(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
