package spec

import (
	"slices"
	"strings"
	"testing"
)

// Warnings about keys of public tables that do not match the codes of a column, or each other, come before any row is
// read.
func TestKeysThatDoNotMeetAreWarnedOf(t *testing.T) {
	const text = `version: 1
release: trips
privacy: {protects: trip, neighbours: replace}
budget: {epsilon: 4}
tables:
  trips:
    source: {csv: trips.csv}
    unit: row
    join:
      places: {csv: places.csv, on: place, public: true}
      prices: {csv: prices.csv, on: place, public: true}
    columns:
      place: {COLUMN}
      area:  {from: places.area, values: [north, south], null: drop}
      price: {from: prices.price, values: [low, high], null: drop}
marginals:
  m: {by: [place, area, price]}
`
	for name, c := range map[string]struct {
		column, places, prices string
		want                   []string
	}{
		"all meet":          {"values: ['07', '08']", "07,north\n08,south\n09,south\n", "07,low\n08,high\n", nil},
		"half of them meet": {"values: ['07', '08']", "07,north\n09,south\n", "07,low\n", nil},
		"none meets": {"values: ['07', '08']", "7,north\n8,south\n", "07,low\n08,high\n", []string{
			`0 of 2 codes of place are keys of the public table places ("07" is a code, "7" a key)`,
			"no key of prices is a key of places, although both are joined by place"}},
		"few meet": {"values: ['07', '08', '09']", "07,north\n8,south\n", "07,low\n08,high\n",
			[]string{`1 of 3 codes of place are keys of the public table places ("08" is a code, "8" a key)`}},
		"a code book": {"codebook: book.csv", "7,north\n", "07,low\n08,low\n7,low\n",
			[]string{`0 of 2 codes of place are keys of the public table places ("07" is a code, "7" a key)`}},
		"a range holds more": {"type: integer, range: [0, 99]", "7,north\n8,south\n", "7,low\n", nil},
		"a range holds none": {"type: integer, range: [0, 99]", "700,north\n", "7,low\n700,low\n",
			[]string{`0 of 100 codes of place are keys of the public table places ("0" is a code, "700" a key)`}},
		"another column's codes": {"from: other, values: ['07', '08']", "7,north\n", "7,low\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Parse(Source{Text: strings.ReplaceAll(text, "COLUMN", c.column), Files: map[string]string{
				"places.csv": "place,area\n" + c.places, "prices.csv": "place,price\n" + c.prices,
				"book.csv": "code,label\n07,Seven\n08,Eight\n"}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range r.Warnings {
				said, _, _ := strings.Cut(w.Message, ": ")
				got = append(got, said)
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("warned %q, want %q", got, c.want)
			}
		})
	}
}
