package release

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/query"
	"github.com/parquet-go/parquet-go"
)

// steadySpec is a release that no value may stop.
const steadySpec = `version: 1
release: steady
privacy: {protects: person, neighbours: NEIGHBOURS, account: trips, total: true}
budget: {rho: 100}
tables:
  visits:
    source: {FORMAT: t.FORMAT}
    unit: {id: person, max_rows: 2, null: drop}
    columns:
      ward: {values: [a, b, other], unknown: {as: other}, null: drop}
      days: {type: integer, range: [0, 9], unknown: drop, null: drop}
      long: {from: length(note) > 3 or days > 100, values: [short, long], unknown: drop, null: drop}
marginals:
  wards: {by: [ward]}
  days: {by: [days, long]}
`

// steadyRow is a row of the release's table, without its number of days, which is a text in CSV.
type steadyRow struct {
	Person string `parquet:"person"`
	Ward   string `parquet:"ward"`
	Note   string `parquet:"note"`
	Unused string `parquet:"unused"`
	Days   int64  `parquet:"days"`
	days   string
}

// writeSteady writes the rows as a file of a format.
func writeSteady(t *testing.T, dir, format string, rows []steadyRow) {
	t.Helper()
	path := filepath.Join(dir, "t."+format)
	if format == "parquet" {
		if err := parquet.WriteFile(path, rows); err != nil {
			t.Fatal(err)
		}
		return
	}
	quoted := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
	var b strings.Builder
	b.WriteString("person,ward,days,note,unused\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%s,%s,%s,%s,%s\n", quoted(r.Person), quoted(r.Ward), quoted(r.days), quoted(r.Note),
			quoted(r.Unused))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNoValueStopsATotalRelease: whatever a field of some rows holds, in a column that is counted, in the id or in a
// column that nothing reads, the release is published, and each row is counted where its values belong. The noise is
// next to nothing: a count is more than 1 off with a probability below 1e-20.
func TestNoValueStopsATotalRelease(t *testing.T) {
	const copies = 10
	for i, c := range []struct {
		name, value string
		longID      bool // longer than an id may be
		long        bool // and than any text
	}{
		{"not UTF-8", "\xff\xfe", false, false},
		{"half a character", "\xed\xa0\x80", false, false},
		{"nothing but quotes", `""""`, false, false},
		{"line ends", "a\r\n\"\r\n\x00\r", false, false},
		{"no number", "1e999999999", false, false},
		{"a long id", strings.Repeat("1", 4097), true, false},
		{"a long text", strings.Repeat("z,\n", 20_000), true, true},
	} {
		for j, format := range []string{"csv", "parquet"} {
			neighbours := []string{"add-remove", "replace"}[(i+j)%2]
			var rows []steadyRow
			for i := range 80 {
				rows = append(rows, steadyRow{fmt.Sprint("o", i), "ab"[i%2 : i%2+1], "a note", "x", 3, "3"})
			}
			for i := range copies {
				for column := range 5 {
					row := steadyRow{fmt.Sprint("p", column, ".", i), "a", "a note", "x", 3, "3"}
					*[]*string{&row.Person, &row.Ward, &row.Note, &row.Unused, &row.days}[column] = c.value
					rows = append(rows, row)
				}
			}
			dir := t.TempDir()
			writeSteady(t, dir, format, rows)
			spec := strings.NewReplacer("FORMAT", format, "NEIGHBOURS", neighbours).Replace(steadySpec)
			if err := os.WriteFile(filepath.Join(dir, "steady.yaml"), []byte(spec), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := planfile.Load(t.Context(), planfile.Spec{Path: filepath.Join(dir, "steady.yaml")})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Run(t.Context(), p,
				Options{Out: dir, Data: dir, State: filepath.Join(dir, "state")}); err != nil {
				t.Errorf("%s, %s, %s: %v", format, neighbours, c.name, err)
				continue
			}
			// An id that is a text is one unit, of which two rows count. A long text is null, and its row left out,
			// but where nothing reads it.
			want := map[string]float64{"a": 40 + copies, "b": 40}
			if !c.longID {
				want["a"] += 2
			}
			if !c.long {
				want["a"], want["other"] = want["a"]+copies, copies
			}
			if format == "parquet" { // whose days are numbers
				want["a"] += copies
			}
			total, err := query.Totals(t.Context(), []string{filepath.Join(dir, "steady")},
				query.Question{By: []string{"ward"}}, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range total.Rows {
				if math.Abs(*row.Value-want[row.Keys[0]]) > 1.5 {
					t.Errorf("%s, %s, %s: %g rows of ward %s, expected %g", format, neighbours, c.name, *row.Value,
						row.Keys[0],
						want[row.Keys[0]])
				}
			}
		}
	}
}
