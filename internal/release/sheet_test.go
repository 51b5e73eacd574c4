package release

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/show"
)

// sameValue reports whether two texts are equal or write the same number.
func sameValue(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, other := strconv.ParseFloat(b, 64)
	return a == b || err == nil && other == nil && x == y
}

// A CSV file and a JSON document of a table hold every value of the published file, and no other: figures of all kinds,
// with what is not published left out.
func TestSheetsHoldTheFile(t *testing.T) {
	o := releasetest.With(t, releasetest.PayText("{rho: 1}", true, ""), releasetest.PayPolicy,
		releasetest.PayData(releasetest.PayRows()))
	_, place := runRelease(t, o)
	for _, table := range o.Plan.Tables {
		s, err := show.Open(place, table.Path)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range s.Columns {
			names = append(names, c.Name)
		}
		want := append([][]string{names}, releasetest.Figures(t, place, table.Path, names...)...)
		for _, row := range want[1:] {
			for i, text := range row {
				if text == "<null>" {
					row[i] = ""
				}
			}
		}
		var file bytes.Buffer
		if err := s.CSV(&file, ""); err != nil {
			t.Fatal(err)
		}
		got, err := csv.NewReader(&file).ReadAll()
		if err != nil || !slices.EqualFunc(got, want,
			func(a, b []string) bool { return slices.EqualFunc(a, b, sameValue) }) {
			t.Fatalf("table %s as CSV: %v\n%q\nwant\n%q", table.Path, err, got, want)
		}
		document, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var data struct {
			Columns []show.Column
			Rows    [][]any
		}
		d := json.NewDecoder(bytes.NewReader(document))
		d.UseNumber()
		if err := d.Decode(&data); err != nil || len(data.Rows) != len(want)-1 {
			t.Fatalf("table %s as JSON: %d rows, %v", table.Path, len(data.Rows), err)
		}
		for i, row := range data.Rows {
			for k, v := range row {
				text := ""
				switch v := v.(type) {
				case string:
					text = v
				case json.Number:
					text = v.String()
				}
				if !sameValue(text, want[i+1][k]) {
					t.Errorf("table %s, row %d, %s: %q, want %q", table.Path, i, names[k], text, want[i+1][k])
				}
			}
		}
	}
	if _, err := show.Open(place, "al"); err == nil || !strings.Contains(err.Error(), `did you mean "all"?`) {
		t.Errorf("a table that there is not: %v", err)
	}
}
