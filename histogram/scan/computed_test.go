package scan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
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
	text = strings.NewReplacer(append(replacements, "UNIT", "row", "UNKNOWN", "error", "NULL",
		"error")...).Replace(text)
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
			"id,admitted,discharged,born,ward,country\n1,2024-03-01,2024-03-02,2006-03-01,icu,de\n" +
				"1,2024-03-01,2024-03-02,2006-03-01,icu,2\n1,x,x,x,x,1.5\n", []int64{0, 0, 0, 1, 0, 0},
			[]int64{0, 1, 0, 0, 0, 0, 0, 0, 0, 0}},
		"policies": {[]string{"UNKNOWN", "drop", "NULL", "drop"},
			staysFile + "9,2024-01-01,2024-06-01,2000-01-01,icu,de\n9,2024-01-01,,2000-01-01,icu,de\n" +
				"9,2024-13-01,2024-01-01,2000-01-01,icu,de\n", []int64{0, 2, 0, 1, 0, 1},
			[]int64{1, 1, 1, 0, 0, 0, 0, 0, 0, 1}},
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
			err := errorOf(t, p, Files{Dir: folder(t, "a.csv", header+c.row)})
			var breach *ContractError
			if !errors.As(err, &breach) || breach.Column != c.column || breach.Kind != c.kind {
				t.Fatalf("got %v", err)
			}
			if want := "stays.where: a value is not a number; correct the data, or leave such rows out by where: " +
				"{is: …, unknown: drop}"; c.column == "where" && err.Error() != want {
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
				Text: "version: 1\nrelease: r\nprivacy: {protects: p, neighbours: add-remove}\nbudget: {rho: 1}\n" +
					"tables:\n  t:\n    source: {parquet: a.parquet}\n    unit: row\n    columns:\n      c: " +
					c.column + "\nmarginals: {m: {by: [c]}}\n"})
			if err != nil {
				b.Fatal(err)
			}
			t := &tally{task: task{table: r.Tables[0]}, where: -1}
			e, err := wantedColumn{column: r.Tables[0].Columns[0]}.newEncoder(r.Tables[0])
			if err != nil {
				b.Fatal(err)
			}
			t.readers = []*encoding.Encoder{e}
			x := t.columnsOfPass([]int{0}, false)
			chunk := &chunk{codes: make([]tabulate.Codes, 1), largest: make([]uint32, 1), wide: make([][]uint32, 1)}
			read := 0
			for b.Loop() {
				read = readAll(b, dir, r.Tables[0].Source,
					x, func(batch *source.Batch) { chunk.loadBatch(batch, t.readers, x) })
			}
			if read != rows {
				b.Fatalf("%d rows", read)
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// readAll reads the pieces of a table one after another.
func readAll(b *testing.B, dir string, s spec.TableSource, x *passColumns, visit func(*source.Batch)) (rows int) {
	b.Helper()
	files, err := source.Open(b.Context(), source.Data{Dir: dir}, &spec.Table{Source: s}, x.columns)
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
