package histogram

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/parquet-go/parquet-go"
)

// stays is a release of a table of computed columns.
const stays = `version: 1
release: stays
privacy: {protects: patient, neighbours: add-remove}
budget: {rho: 1/2}
tables:
  stays:
    source: {csv: "*.csv"}
    unit: UNIT
    where: WHERE
    columns:
      adult: {from: years(admitted - born) >= 18, values: [minor, adult], unknown: UNKNOWN, null: NULL}
      nights: {from: days(discharged - admitted), type: integer, range: [0, 9], unknown: UNKNOWN, null: NULL}
      ward:
        from: "= recode(lower(trim(ward)), {'icu': 'intensive', 'er': 'emergency'}, 'other')"
        values: [intensive, emergency, other]
        null: NULL
marginals:
  all: {by: [adult, ward]}
  nights: {by: [nights]}
`

func staysPlan(t testing.TB, replacements ...string) *plan.Plan {
	t.Helper()
	text := stays
	if !slices.Contains(replacements, "WHERE") {
		text = strings.Replace(text, "    where: WHERE\n", "", 1)
	}
	text = strings.NewReplacer(append(replacements, "UNIT", "row", "UNKNOWN", "error", "NULL", "error")...).Replace(text)
	r, err := spec.Parse(spec.Source{Name: "stays.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p.Plan()
}

const staysFile = `id,admitted,discharged,born,ward,country
1,2024-03-01,2024-03-02,2006-03-01, ICU,de
1,2024-03-01,2024-03-01,2006-03-02,er,de
2,2024-02-29,2024-03-09,2008-02-29,ER ,fr
3,2024-01-01,2024-01-03,1990-05-05,x,de
`

func TestComputedColumnsAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		replace     []string
		file        string
		all, nights []int64
	}{
		"rows": {nil, staysFile, []int64{0, 2, 0, 1, 0, 1}, []int64{1, 1, 1, 0, 0, 0, 0, 0, 0, 1}},
		"units": {[]string{"UNIT", "{id: id, max_rows: 2}"}, staysFile, []int64{0, 2, 0, 1, 0, 1},
			[]int64{1, 1, 1, 0, 0, 0, 0, 0, 0, 1}},
		"where": {[]string{"WHERE", "country == 'de'"}, staysFile, []int64{0, 1, 0, 1, 0, 1},
			[]int64{1, 1, 1, 0, 0, 0, 0, 0, 0, 0}},
		"where of units": {[]string{"WHERE", "country == 'de'", "UNIT", "{id: id, max_rows: 2}"}, staysFile,
			[]int64{0, 1, 0, 1, 0, 1}, []int64{1, 1, 1, 0, 0, 0, 0, 0, 0, 0}},
		"what is outside breaks no contract": {[]string{"WHERE", "country == 'de'", "UNIT", "{id: id, max_rows: 2}"},
			staysFile + ",nonsense,2024-01-01,,,fr\n,2024-01-01,2030-01-01,x,,\n", []int64{0, 1, 0, 1, 0, 1},
			[]int64{1, 1, 1, 0, 0, 0, 0, 0, 0, 0}},
		"a condition that cannot be read": {[]string{"WHERE", "{is: integer(country) > 1, unknown: drop}"},
			"id,admitted,discharged,born,ward,country\n1,2024-03-01,2024-03-02,2006-03-01,icu,de\n1,2024-03-01,2024-03-02,2006-03-01,icu,2\n1,x,x,x,x,1.5\n", []int64{0, 0, 0, 1, 0, 0}, []int64{0, 1, 0, 0, 0, 0, 0, 0, 0, 0}},
		"policies": {[]string{"UNKNOWN", "drop", "NULL", "drop"},
			staysFile + "9,2024-01-01,2024-06-01,2000-01-01,icu,de\n9,2024-01-01,,2000-01-01,icu,de\n9,2024-13-01,2024-01-01,2000-01-01,icu,de\n", []int64{0, 2, 0, 1, 0, 1}, []int64{1, 1, 1, 0, 0, 0, 0, 0, 0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := staysPlan(t, c.replace...)
			e := exactOf(t, p, folder(t, "a.csv", c.file), 1)
			if got := countsOf(t, e, "all"); !slices.Equal(got, c.all) {
				t.Errorf("by adult and ward %v, want %v", got, c.all)
			}
			if got := countsOf(t, e, "nights"); !slices.Equal(got, c.nights) {
				t.Errorf("nights %v, want %v", got, c.nights)
			}
		})
	}
}

// TestBreachesOfComputedColumns: no value in the error, all that it is made of in the diagnostics.
func TestBreachesOfComputedColumns(t *testing.T) {
	header := "id,admitted,discharged,born,ward,country\n"
	for name, c := range map[string]struct {
		replace                     []string
		row, column, kind, diagnose string
	}{
		"no date": {nil, "1,2024-03-01,secret,2006-03-01,er,de\n", "nights", "not a number",
			`discharged secret, admitted 2024-03-01`},
		"beyond": {nil, "1,2024-03-01,2024-03-31,2006-03-01,er,de\n", "nights", "outside its domain",
			`discharged 2024-03-31, admitted 2024-03-01`},
		"null": {nil, "1,2024-03-01,,2006-03-01,er,de\n", "nights", "null",
			`discharged (null), admitted 2024-03-01`},
		"condition": {[]string{"WHERE", "integer(country) > 1"}, "1,2024-03-01,2024-03-01,2006-03-01,er,secret\n",
			"where", "not a number", `country secret`},
		"inside, after some": {[]string{"WHERE", "country == 'de'"}, strings.Repeat(",x,x,x,x,fr\n", 300) +
			"1,secret,2024-01-01,2000-01-01,er,de\n", "adult", "not a number", `admitted secret, born 2000-01-01`},
	} {
		t.Run(name, func(t *testing.T) {
			p := staysPlan(t, c.replace...)
			_, err := Count(context.Background(), compiled.Of(p), Files{Dir: folder(t, "a.csv", header+c.row)}, streams(p, 1))
			var breach *ContractError
			if !errors.As(err, &breach) || breach.Column != c.column || breach.Kind != c.kind {
				t.Fatalf("got %v", err)
			}
			if want := "stays.where: a value is not a number; correct the data, or leave such rows out by where: {is: …, unknown: drop}"; c.column == "where" && err.Error() != want {
				t.Errorf("the error is %q, want %q", err, want)
			}
			if strings.Contains(fmt.Sprintf("%+v", err), "secret") {
				t.Errorf("the error tells a value: %v", err)
			}
			var b strings.Builder
			if err := breach.WriteDiagnostics(&b); err != nil || !strings.Contains(b.String(), c.diagnose) {
				t.Errorf("diagnostics %s, want %s (%v)", b.String(), c.diagnose, err)
			}
		})
	}
}

// TestExpressionsReadEveryType reads one column in all the types that files have, exactly.
func TestExpressionsReadEveryType(t *testing.T) {
	build := func(of arrow.DataType, add func(b array.Builder)) arrow.Array {
		b := array.NewBuilder(memory.DefaultAllocator, of)
		add(b)
		b.AppendNull()
		return b.NewArray()
	}
	texts := func(values ...string) arrow.Array {
		return build(arrow.BinaryTypes.String, func(b array.Builder) { b.(*array.StringBuilder).AppendValues(values, nil) })
	}
	floats := func(values ...float64) arrow.Array {
		return build(arrow.PrimitiveTypes.Float64,
			func(b array.Builder) { b.(*array.Float64Builder).AppendValues(values, nil) })
	}
	ints := func(values ...int64) arrow.Array {
		return build(arrow.PrimitiveTypes.Int64, func(b array.Builder) { b.(*array.Int64Builder).AppendValues(values, nil) })
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
			Text: "version: 1\nrelease: r\nprivacy: {protects: p, neighbours: add-remove}\nbudget: {rho: 1}\ntables:\n  t:\n    source: {csv: a.csv}\n    unit: row\n    columns:\n      c: {from: \"=" +
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
			case misfits != nil && misfits[i] != spec.Fits:
				got = append(got, map[spec.Fit]string{spec.NotANumber: "NotANumber", spec.OutOfDomain: "OutOfDomain",
					spec.WrongType: "WrongType"}[misfits[i]])
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

// BenchmarkExpressions reads a Parquet file of 4 million rows on one core: a dictionary of texts through a comparison
// and a recode, beside the column as it is, and a condition on two columns row by row.
func BenchmarkExpressions(b *testing.B) {
	const rows = 4 << 20
	dir := b.TempDir()
	type record struct {
		Size string `parquet:"size,dict"`
		Age  int64  `parquet:"age"`
	}
	f, err := os.Create(filepath.Join(dir, "a.parquet"))
	if err != nil {
		b.Fatal(err)
	}
	w := parquet.NewGenericWriter[record](f, parquet.MaxRowsPerRowGroup(1<<20))
	for i := range rows / 1024 {
		batch := make([]record, 1024)
		for j := range batch {
			k := (i*1024 + j) * 7919 % 1_000_003
			batch[j] = record{[]string{"micro", "small", "medium", "large"}[k%4], int64(k % 100)}
		}
		if _, err := w.Write(batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, column string }{
		{"as it is", "{from: size, values: [micro, small, medium, large]}"},
		{"comparison", "{from: size == 'micro', values: [no, yes]}"},
		{"recode", "{from: \"= recode(size, {'micro': 'a', 'small': 'b'}, 'c')\", values: [a, b, c]}"},
		{"comparison of numbers", "{from: age >= 18, values: [minor, adult]}"},
		{"two columns", "{from: size == 'micro' and age >= 18, values: [no, yes]}"},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, err := spec.Parse(spec.Source{
				Text: "version: 1\nrelease: r\nprivacy: {protects: p, neighbours: add-remove}\nbudget: {rho: 1}\ntables:\n  t:\n    source: {parquet: a.parquet}\n    unit: row\n    columns:\n      c: " + c.column + "\nmarginals: {m: {by: [c]}}\n"})
			if err != nil {
				b.Fatal(err)
			}
			t := &tally{table: r.Tables[0], where: -1}
			e, err := wanted{column: r.Tables[0].Columns[0]}.encoder(r.Tables[0])
			if err != nil {
				b.Fatal(err)
			}
			t.readers = []*encoder{e}
			x := t.intake([]int{0}, false)
			chunk := &chunk{codes: make([]tabulate.Codes, 1), largest: make([]uint32, 1), wide: make([][]uint32, 1)}
			read := 0
			for b.Loop() {
				read = readAll(b, dir, r.Tables[0].Source, x, func(batch *source.Batch) { chunk.load(batch, t.readers, x) })
			}
			if read != rows {
				b.Fatalf("%d rows", read)
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// readAll reads the pieces of a table one after another.
func readAll(b *testing.B, dir string, s spec.TableSource, x *intake, visit func(*source.Batch)) (rows int) {
	b.Helper()
	files, err := source.Open(b.Context(), dir, s, x.columns)
	if err != nil {
		b.Fatal(err)
	}
	defer files.Close()
	buffers := &source.Buffers{}
	for {
		piece, err := files.Next(b.Context())
		if err != nil {
			return rows
		}
		if err := piece.Read(b.Context(), buffers, source.MaxRows, func(batch *source.Batch) error {
			visit(batch)
			rows += batch.Rows
			return nil
		}); err != nil {
			b.Fatal(err)
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
