package spec

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// column parses one column, written as in a spec, of a table with nothing else.
func column(t testing.TB, text string, files map[string]string) *Column {
	t.Helper()
	c, err := tryColumn(text, files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tryColumn(text string, files map[string]string) (*Column, error) {
	r, err := Parse(Source{Name: "release.yaml", Files: files, Text: `version: 1
release: x
privacy: {protects: trip, neighbours: add-remove}
budget: {epsilon: 1}
tables:
  t:
    source: {parquet: t.parquet}
    unit: row
    columns:
      x: ` + text + `
marginals:
  total: {by: []}
`})
	if err != nil {
		return nil, err
	}
	return r.Tables[0].Columns[0], nil
}

func codes(l *Level) string {
	var all []string
	for _, c := range l.Categories {
		all = append(all, c.Code)
	}
	if len(all) > 9 {
		all = append(append(slices.Clone(all[:4]), "…"), all[len(all)-3:]...)
	}
	return strings.Join(all, " ")
}

func TestLevelsAreLabelled(t *testing.T) {
	stamps := "type: timestamp, range: [2026-01-30T22:10:00, 2026-02-01T23:59:59]"
	for _, c := range []struct{ column, level, want string }{
		{"{type: integer, range: [0, 110]}", "", "0 1 2 3 … 108 109 110"},
		{"{type: integer, range: [0, 110], levels: {l: {width: 10}}}", "l", "0–9 10–19 20–29 30–39 … 90–99 100–109 110"},
		{"{type: integer, range: [0, 110], levels: {l: {width: 7}}}", "l", "0–6 7–13 14–20 21–27 … 91–97 98–104 105–110"},
		{"{type: integer, range: [0, 110], levels: {l: {edges: [0, 16, 25, 65]}}}", "l", "0–15 16–24 25–64 65+"},
		{"{type: integer, range: [0, 110], levels: {l: {edges: [0, 1, 65, 110]}}}", "l", "0 1–64 65–110"},
		{"{type: integer, range: [-5, 5], levels: {l: {edges: [-5, -1, 0]}}}", "l", "-5–-2 -1 0+"},
		{"{type: integer, range: [7, 7], levels: {l: {edges: [7]}}}", "l", "7"},
		{"{type: integer, range: [0, 10000], step: 4000, levels: {l: {width: 8000}}}", "", "0–3999 4000–7999 8000–10000"},
		{"{type: integer, range: [0, 10000], step: 4000, levels: {l: {width: 8000}}}", "l", "0–7999 8000–10000"},
		{"{type: integer, range: [0, 2e3], step: 1e3}", "", "0–999 1000–1999 2000"},
		{"{type: decimal, range: [0, 1], step: 0.25}", "", "0–<0.25 0.25–<0.5 0.5–<0.75 0.75–1"},
		{"{type: decimal, range: [0, 1], step: 0.40}", "", "0–<0.4 0.4–<0.8 0.8–1"},
		{"{type: decimal, range: [0, 1], step: 1/3}", "", "0–<1/3 1/3–<2/3 2/3–1"},
		{"{type: decimal, range: [0, 200], levels: {l: {edges: [0, 16, 65]}}}", "l", "0–<16 16–<65 65+"},
		{"{type: decimal, range: [0, 200], levels: {l: {edges: [0, 16, 65, 200]}}}", "l", "0–<16 16–<65 65–200"},
		{"{type: decimal, range: [-0.5, 200], levels: {l: {width: 100}}}", "l", "-0.5–<99.5 99.5–<199.5 199.5–200"},
		{"{type: date, range: [2024-01-03, 2024-12-30]}", "",
			"2024-01-03 2024-01-04 2024-01-05 2024-01-06 … 2024-12-28 2024-12-29 2024-12-30"},
		{"{type: date, range: [2024-01-03, 2024-01-30], levels: {l: {width: week}}}", "l",
			"2024-01-03–2024-01-07 2024-01-08–2024-01-14 2024-01-15–2024-01-21 2024-01-22–2024-01-28 2024-01-29–2024-01-30"},
		{"{type: date, range: [2024-01-01, 2024-01-15], levels: {l: {width: 7}}}", "l",
			"2024-01-01–2024-01-07 2024-01-08–2024-01-14 2024-01-15"},
		{"{type: date, range: [2024-01-03, 2024-12-30], levels: {l: {width: month}}}", "l",
			"2024-01 2024-02 2024-03 2024-04 … 2024-10 2024-11 2024-12"},
		{"{type: date, range: [2023-12-30, 2024-07-01], levels: {l: {width: quarter}}}", "l",
			"2023-Q4 2024-Q1 2024-Q2 2024-Q3"},
		{"{type: date, range: [2023-12-30, 2024-07-01], levels: {l: {width: year}}}", "l", "2023 2024"},
		{"{type: date, range: [2024-01-01, 2024-12-31], levels: {l: {edges: [2024-01-01, 2024-02-29, 2024-03-01]}}}", "l",
			"2024-01-01–2024-02-28 2024-02-29 2024-03-01+"},
		{"{" + stamps + ", step: day}", "", "2026-01-30 2026-01-31 2026-02-01"},
		{"{" + stamps + ", levels: {l: {width: hour}}}", "l",
			"2026-01-30T22 2026-01-30T23 2026-01-31T00 2026-01-31T01 … 2026-02-01T21 2026-02-01T22 2026-02-01T23"},
		{"{" + stamps + ", levels: {l: {width: month}}}", "l", "2026-01 2026-02"},
		{"{" + stamps + ", levels: {l: {width: week}}}", "l", "2026-01-30–2026-02-01"},
		{"{" + stamps + ", levels: {l: {width: 1 days}}}", "l", "2026-01-30 2026-01-31 2026-02-01"},
		{"{" + stamps + ", levels: {l: {width: 2 days}}}", "l",
			"2026-01-30T22:10–<2026-02-01T22:10 2026-02-01T22:10–2026-02-01T23:59:59"},
		{"{" + stamps + ", levels: {l: {edges: [2026-01-30T22:10, 2026-01-31 00:00:00.5]}}}", "l",
			"2026-01-30T22:10–<2026-01-31T00:00:00.5 2026-01-31T00:00:00.5+"},
		{"{values: {integers: [0, 23]}, levels: {l: {width: 6}}}", "l", "0–5 6–11 12–17 18–23"},
		{"{values: [01, 1, NO, 'null', 2.50], levels: {l: {a: [01, 1], b: [NO, 'null', 2.50]}}}", "", "01 1 NO null 2.50"},
		{"{values: [01, 1, NO], levels: {l: {a: [01, NO], b: [1]}}}", "l", "a b"},
		{"{type: integer, range: [0, 3], unknown: {as: odd}, null: {as: none}, levels: {l: {width: 2}}}", "",
			"0 1 2 3 odd none"},
		{"{type: integer, range: [0, 3], unknown: {as: odd}, null: {as: odd}, levels: {l: {width: 2}}}", "l", "0–1 2–3 odd"},
	} {
		l, ok := column(t, c.column, nil).Domain.Level(c.level)
		if !ok {
			t.Errorf("%s has no level %q", c.column, c.level)
		} else if got := codes(l); got != c.want {
			t.Errorf("%s, level %q:\n got %s\nwant %s", c.column, c.level, got, c.want)
		}
	}
}

func TestRangesWithoutStepHaveNoFinestLevel(t *testing.T) {
	d := column(t, "{type: decimal, range: [0, 200], levels: {a: {edges: [0, 16]}, b: {edges: [0, 2.5, 16, 60]}}, unknown: {as: other}}", nil).Domain
	if l, ok := d.Level(""); ok || d.Size() != 5 {
		t.Errorf("finest %v, %d base cells", l, d.Size())
	}
	a, _ := d.Level("a")
	if want := []uint32{0, 0, 1, 1, 2}; !slices.Equal(a.Of, want) {
		t.Errorf("a.Of = %v, want %v", a.Of, want)
	}
}

func TestPoliciesNameCategories(t *testing.T) {
	c := column(t, "{values: [a, b, c], unknown: {as: c}, null: drop}", nil)
	if c.Unknown != (Policy{As, 2}) || c.Null != (Policy{Action: Drop}) {
		t.Errorf("unknown %v, null %v", c.Unknown, c.Null)
	}
	c = column(t, "{type: integer, range: [0, 3], unknown: {as: odd}, null: {as: none}}", nil)
	if c.Unknown != (Policy{As, 4}) || c.Null != (Policy{As, 5}) {
		t.Errorf("unknown %v, null %v", c.Unknown, c.Null)
	}
	c = column(t, "{values: {integers: [1, 3]}, unknown: {as: 3}}", nil)
	if c.Unknown != (Policy{As, 2}) || c.Null != (Policy{}) {
		t.Errorf("unknown %v, null %v", c.Unknown, c.Null)
	}
}

// value is a raw value of any type and what becomes of it.
type value struct {
	raw  any
	code int
	fit  Fit
}

// encode calls the method for the value's type.
func encode(d *Domain, raw any) (int, Fit) {
	switch v := raw.(type) {
	case string:
		return d.CodeOfText(v)
	case int:
		return d.CodeOfInt(int64(v))
	case float64:
		return d.CodeOfFloat(v)
	case bool:
		return d.CodeOfBool(v)
	case decimal:
		return d.CodeOfDecimal(big.NewInt(v.unscaled), v.scale)
	case days:
		return d.CodeOfDate(int32(v))
	case micros:
		return d.CodeOfTimestamp(int64(v))
	}
	panic(fmt.Sprintf("no method for %T", raw))
}

type (
	days    int32
	micros  int64
	decimal struct {
		unscaled int64
		scale    int32
	}
)

func TestValuesAreEncoded(t *testing.T) {
	day := func(s string) days { d, _ := parseDate(s); return days(d) }
	at := func(s string) micros { m, _ := parseTimestamp(s); return micros(m) }
	for text, values := range map[string][]value{
		"{type: integer, range: [-5, 110]}": {
			{39, 44, Fits}, {-5, 0, Fits}, {110, 115, Fits}, {111, 0, OutOfDomain}, {-6, 0, OutOfDomain},
			{39.0, 44, Fits}, {39.5, 0, OutOfDomain}, {math.NaN(), 0, NaN}, {math.Inf(-1), 0, Infinite}, {1e300, 0, OutOfDomain},
			{"39", 44, Fits}, {"39.0", 44, Fits}, {"3.9e1", 44, Fits}, {"-5", 0, Fits}, {"+5", 10, Fits},
			{"39.5", 0, OutOfDomain},
			{"", 0, NotANumber}, {" 39", 0, NotANumber}, {"x", 0, NotANumber}, {"1/2", 0, NotANumber}, {"NaN", 0, NotANumber},
			{"1e", 0, NotANumber}, {".", 0, NotANumber}, {"-", 0, NotANumber},
			{"1e999999999", 0, OutOfDomain}, {"1e-999999999", 0, OutOfDomain}, {"0e999999999", 5, Fits},
			{strings.Repeat("9", 100), 0, OutOfDomain}, {strings.Repeat("9", 1000), 0, NotANumber},
			{"39." + strings.Repeat("0", 100), 44, Fits}, {"99999999999999999999999999999", 0, OutOfDomain},
			{decimal{390, 1}, 44, Fits}, {decimal{395, 1}, 0, OutOfDomain}, {decimal{4, -1}, 45, Fits},
			{true, 0, WrongType}, {days(3), 0, WrongType}, {micros(3), 0, WrongType},
		},
		"{type: integer, range: [0, 10000], step: 4000}": {{3999, 0, Fits}, {4000, 1, Fits}, {10000, 2, Fits},
			{10001, 0, OutOfDomain}, {"8000", 2, Fits}},
		"{type: integer, range: [0, 110], levels: {l: {edges: [0, 16]}}, unknown: {as: other}}": {
			{111, 0, OutOfDomain}, {110, 110, Fits},
		},
		"{type: decimal, range: [0, 1], step: 0.1}": {
			{0.3, 3, Fits}, {0.1 + 0.2, 3, Fits}, {0.7, 7, Fits}, {math.Nextafter(0.3, 0), 2, Fits}, {1.0, 9, Fits},
			{math.Nextafter(1, 2), 0, OutOfDomain},
			{0.0, 0, Fits}, {math.Copysign(0, -1), 0, Fits}, {-1e-300, 0, OutOfDomain}, {1, 9, Fits}, {0, 0, Fits},
			{2, 0, OutOfDomain},
			{"0.3", 3, Fits}, {"0.29999999999999999999999", 2, Fits}, {"0.30000000000000000000001", 3, Fits},
			{"1.00000000000000000000001", 0, OutOfDomain},
			{"-0", 0, Fits}, {"-1e-30", 0, OutOfDomain}, {"1e-30", 0, Fits}, {decimal{3, 1}, 3, Fits},
			{decimal{299, 3}, 2, Fits}, {decimal{1000, 3}, 9, Fits},
			{math.NaN(), 0, NaN}, {math.Inf(1), 0, Infinite},
		},
		"{type: decimal, range: [0, 1], step: 1/3}": {
			{"0.3333333333333333", 0, Fits}, {"0.33333333333333333333333334", 1, Fits}, {1.0 / 3, 0, Fits}, {0.34, 1, Fits},
			{2.0 / 3, 1, Fits}, {1.0, 2, Fits},
		},
		"{type: decimal, range: [0, 200], levels: {l: {edges: [0, 16, 65]}}, null: {as: none}}": {
			{15.999999999999998, 0, Fits}, {16.0, 1, Fits}, {200.0, 2, Fits}, {200.00000000000003, 0, OutOfDomain},
		},
		"{type: date, range: [2024-02-28, 2024-03-01]}": {
			{day("2024-02-29"), 1, Fits}, {"2024-02-29", 1, Fits}, {"2024-03-02", 0, OutOfDomain}, {"2024-02-30", 0, NotANumber},
			{"29.02.2024", 0, NotANumber},
			{"2024-02-29T00:00:00", 0, NotANumber}, {at("2024-02-29T00:00:00"), 1, Fits},
			{at("2024-02-29T00:00:01"), 0, OutOfDomain}, {3, 0, WrongType}, {3.0, 0, WrongType},
		},
		"{type: timestamp, range: [2026-01-01T00:00:00, 2026-01-01T23:59:59], step: hour}": {
			{at("2026-01-01T13:59:59.999999"), 13, Fits}, {"2026-01-01T13:00", 13, Fits}, {"2026-01-01 13:00:00.5", 13, Fits},
			{"2026-01-01T23:59:59", 23, Fits}, {"2026-01-01T23:59:59.000001", 0, OutOfDomain},
			{"2026-01-01T13:00Z", 0, NotANumber}, {"2026-01-01T24:00", 0, NotANumber}, {day("2026-01-01"), 0, WrongType},
		},
		"{values: ['01', '1', NO, 'true', '2.5', 2024-02-29, '']}": {
			{"01", 0, Fits}, {"1", 1, Fits}, {1, 1, Fits}, {1.0, 1, Fits}, {2.5, 4, Fits}, {decimal{250, 2}, 4, Fits},
			{decimal{1, 0}, 1, Fits}, {"NO", 2, Fits}, {"no", 0, OutOfDomain},
			{true, 3, Fits}, {false, 0, OutOfDomain}, {day("2024-02-29"), 5, Fits}, {"", 6, Fits}, {math.NaN(), 0, NaN},
			{math.Inf(1), 0, Infinite}, {micros(1), 0, WrongType}, {1e300, 0, OutOfDomain},
			{decimal{1, math.MaxInt32}, 0, OutOfDomain}, {decimal{1, math.MinInt32}, 0, OutOfDomain},
		},
		"{values: [false, true], type: boolean}": {{true, 1, Fits}, {false, 0, Fits}, {"true", 1, Fits},
			{"TRUE", 0, OutOfDomain}},
	} {
		d := column(t, text, nil).Domain
		for _, v := range values {
			code, fit := encode(d, v.raw)
			if fit != v.fit || fit == Fits && code != v.code {
				t.Errorf("%s: %T %v is %d, %v, want %d, %v", text, v.raw, v.raw, code, fit, v.code, v.fit)
			}
		}
	}
}

func TestEncodingDoesNotAllocate(t *testing.T) {
	texts := column(t, "{values: ['1', b]}", nil).Domain
	integers := column(t, "{type: integer, range: [0, 110]}", nil).Domain
	decimals := column(t, "{type: decimal, range: [0, 200], step: 0.01}", nil).Domain
	dates := column(t, "{type: date, range: [2024-01-01, 2024-12-31]}", nil).Domain
	unscaled := big.NewInt(1999)
	for name, call := range map[string]func(){
		"text":             func() { texts.CodeOfText("b") },
		"integer of text":  func() { texts.CodeOfInt(1) },
		"integer":          func() { integers.CodeOfInt(39) },
		"text of integer":  func() { integers.CodeOfText("39") },
		"float":            func() { decimals.CodeOfFloat(19.99) },
		"text of decimal":  func() { decimals.CodeOfText("19.99") },
		"decimal":          func() { decimals.CodeOfDecimal(unscaled, 2) },
		"date":             func() { dates.CodeOfDate(19800) },
		"text of date":     func() { dates.CodeOfText("2024-02-29") },
		"float of integer": func() { integers.CodeOfFloat(39) },
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestCodebookLevels(t *testing.T) {
	book := "\ufeffplace,label,state,state_label,nation\n" +
		"003,Three,s2,South,n\n001,One,s1,North,n\n\"002\",\"Two, or so\",s2,South,n\n"
	files := map[string]string{"r.csv": book}
	d := column(t, "{codebook: r.csv, levels: [nation, state, district]}", files).Domain
	if got := fmt.Sprint(d.finest.Categories); got != "[{003 Three} {001 One} {002 Two, or so}]" {
		t.Errorf("finest %s", got)
	}
	state, _ := d.Level("state")
	if got := fmt.Sprint(state.Categories, state.Of); got != "[{s2 South} {s1 North}] [0 1 0]" {
		t.Errorf("state %s", got)
	}
	district, ok := d.Level("district")
	if !ok || district.Of != nil || district.Size() != 3 {
		t.Errorf("district %v", district)
	}
	for _, levels := range []string{"[state, place]", "[state, code]", "[state]", "[place]"} {
		column(t, "{codebook: r.csv, levels: "+levels+"}", files)
	}
	if names := column(t, "{codebook: r.csv}", files).Domain.LevelNames(); len(names) != 0 {
		t.Errorf("levels %v without being named", names)
	}
}

func TestLargeDomains(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a few hundred megabytes")
	}
	d := column(t, "{type: integer, range: [1, 1000000], levels: {l: {width: 1000}}}", nil).Domain
	if code, fit := d.CodeOfInt(1_000_000); d.Size() != 1_000_000 || code != 999_999 || fit != Fits {
		t.Errorf("size %d, code %d, %v", d.Size(), code, fit)
	}
	for _, text := range []string{
		"{type: integer, range: [0, 16777216], levels: {l: {width: 1000}}}",
		"{type: decimal, range: [0, 1e15], step: 0.001, levels: {l: {width: 1e14}}}",
		"{type: timestamp, range: [0001-01-01T00:00:00, 9999-12-31T23:59:59], levels: {l: {width: second}}}",
	} {
		if _, err := tryColumn(text, nil); err == nil || !strings.Contains(err.Error(), "more than 16777216 cells") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestDomainsOfAReleaseAreBoundedTogether(t *testing.T) {
	var levels []string
	for i := range 30 {
		levels = append(levels, fmt.Sprintf("l%d: {width: 1}", i))
	}
	_, err := tryColumn("{type: integer, range: [1, 16000000], levels: {"+strings.Join(levels, ", ")+"}}", nil)
	if err == nil || !strings.Contains(err.Error(), "cells and categories together") {
		t.Errorf("got %v", err)
	}
}
