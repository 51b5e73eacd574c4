package domain

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

func joinCodes(l *Level) string {
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
		{"{type: integer, range: [0, 110], levels: {l: {width: 10}}}", "l",
			"0–9 10–19 20–29 30–39 … 90–99 100–109 110"},
		{"{type: integer, range: [0, 110], levels: {l: {width: 7}}}", "l",
			"0–6 7–13 14–20 21–27 … 91–97 98–104 105–110"},
		{"{type: integer, range: [0, 110], levels: {l: {edges: [0, 16, 25, 65]}}}", "l", "0–15 16–24 25–64 65+"},
		{"{type: integer, range: [0, 110], levels: {l: {edges: [0, 1, 65, 110]}}}", "l", "0 1–64 65–110"},
		{"{type: integer, range: [-5, 5], levels: {l: {edges: [-5, -1, 0]}}}", "l", "-5–-2 -1 0+"},
		{"{type: integer, range: [7, 7], levels: {l: {edges: [7]}}}", "l", "7"},
		{"{type: integer, range: [0, 10000], step: 4000, levels: {l: {width: 8000}}}", "",
			"0–3999 4000–7999 8000–10000"},
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
			"2024-01-03–2024-01-07 2024-01-08–2024-01-14 2024-01-15–2024-01-21 2024-01-22–2024-01-28 " +
				"2024-01-29–2024-01-30"},
		{"{type: date, range: [2024-01-01, 2024-01-15], levels: {l: {width: 7}}}", "l",
			"2024-01-01–2024-01-07 2024-01-08–2024-01-14 2024-01-15"},
		{"{type: date, range: [2024-01-03, 2024-12-30], levels: {l: {width: month}}}", "l",
			"2024-01 2024-02 2024-03 2024-04 … 2024-10 2024-11 2024-12"},
		{"{type: date, range: [2023-12-30, 2024-07-01], levels: {l: {width: quarter}}}", "l",
			"2023-Q4 2024-Q1 2024-Q2 2024-Q3"},
		{"{type: date, range: [2023-12-30, 2024-07-01], levels: {l: {width: year}}}", "l", "2023 2024"},
		{"{type: date, range: [2024-01-01, 2024-12-31], levels: {l: {edges: [2024-01-01, 2024-02-29, 2024-03-01]}}}",
			"l",
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
		{"{values: [01, 1, NO, 'null', 2.50], levels: {l: {a: [01, 1], b: [NO, 'null', 2.50]}}}", "",
			"01 1 NO null 2.50"},
		{"{values: [01, 1, NO], levels: {l: {a: [01, NO], b: [1]}}}", "l", "a b"},
		{"{type: integer, range: [0, 3], unknown: {as: odd}, null: {as: none}, levels: {l: {width: 2}}}", "",
			"0 1 2 3 odd none"},
		{"{type: integer, range: [0, 3], unknown: {as: odd}, null: {as: odd}, levels: {l: {width: 2}}}", "l",
			"0–1 2–3 odd"},
	} {
		l, ok := readDeclaration(t, c.column).Domain.Level(c.level)
		if !ok {
			t.Errorf("%s has no level %q", c.column, c.level)
		} else if got := joinCodes(l); got != c.want {
			t.Errorf("%s, level %q:\n got %s\nwant %s", c.column, c.level, got, c.want)
		}
	}
}

func TestRangesWithoutStepHaveNoFinestLevel(t *testing.T) {
	d := readDeclaration(t, "{type: decimal, range: [0, 200], unknown: {as: other}, "+
		"levels: {a: {edges: [0, 16]}, b: {edges: [0, 2.5, 16, 60]}}}").Domain
	if l, ok := d.Level(""); ok || d.Size() != 5 {
		t.Errorf("finest %v, %d base cells", l, d.Size())
	}
	a, _ := d.Level("a")
	if want := []uint32{0, 0, 1, 1, 2}; !slices.Equal(a.CategoryOf, want) {
		t.Errorf("a.Of = %v, want %v", a.CategoryOf, want)
	}
}

// value is a raw value of any type, and its expected code.
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
	day := func(s string) days { d, _ := time.Parse(time.DateOnly, s); return days(d.Unix() / (24 * 3600)) }
	at := func(s string) micros { m, _ := time.Parse("2006-01-02T15:04:05", s); return micros(m.UnixMicro()) }
	for text, values := range map[string][]value{
		"{type: integer, range: [-5, 110]}": {
			{39, 44, Fits}, {-5, 0, Fits}, {110, 115, Fits}, {111, 0, OutOfDomain}, {-6, 0, OutOfDomain},
			{39.0, 44, Fits}, {39.5, 0, OutOfDomain}, {math.NaN(), 0, NaN}, {math.Inf(-1), 0, Infinite},
			{1e300, 0, OutOfDomain},
			{"39", 44, Fits}, {"39.0", 44, Fits}, {"3.9e1", 44, Fits}, {"-5", 0, Fits}, {"+5", 10, Fits},
			{"39.5", 0, OutOfDomain},
			{"", 0, NotANumber}, {" 39", 0, NotANumber}, {"x", 0, NotANumber}, {"1/2", 0, NotANumber},
			{"NaN", 0, NotANumber},
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
			{"0.3333333333333333", 0, Fits}, {"0.33333333333333333333333334", 1, Fits}, {1.0 / 3, 0, Fits},
			{0.34, 1, Fits},
			{2.0 / 3, 1, Fits}, {1.0, 2, Fits},
		},
		"{type: decimal, range: [0, 200], levels: {l: {edges: [0, 16, 65]}}, null: {as: none}}": {
			{15.999999999999998, 0, Fits}, {16.0, 1, Fits}, {200.0, 2, Fits}, {200.00000000000003, 0, OutOfDomain},
		},
		"{type: date, range: [2024-02-28, 2024-03-01]}": {
			{day("2024-02-29"), 1, Fits}, {"2024-02-29", 1, Fits}, {"2024-03-02", 0, OutOfDomain},
			{"2024-02-30", 0, NotANumber},
			{"29.02.2024", 0, NotANumber},
			{"2024-02-29T00:00:00", 0, NotANumber}, {at("2024-02-29T00:00:00"), 1, Fits},
			{at("2024-02-29T00:00:01"), 0, OutOfDomain}, {3, 0, WrongType}, {3.0, 0, WrongType},
		},
		"{type: timestamp, range: [2026-01-01T00:00:00, 2026-01-01T23:59:59], step: hour}": {
			{at("2026-01-01T13:59:59.999999"), 13, Fits}, {"2026-01-01T13:00", 13, Fits},
			{"2026-01-01 13:00:00.5", 13, Fits},
			{"2026-01-01T23:59:59", 23, Fits}, {"2026-01-01T23:59:59.000001", 0, OutOfDomain},
			{"2026-01-01T13:00Z", 0, NotANumber}, {"2026-01-01T24:00", 0, NotANumber},
			{day("2026-01-01"), 0, WrongType},
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
		d := readDeclaration(t, text).Domain
		for _, v := range values {
			code, fit := encode(d, v.raw)
			if fit != v.fit || fit == Fits && code != v.code {
				t.Errorf("%s: %T %v is %d, %v, want %d, %v", text, v.raw, v.raw, code, fit, v.code, v.fit)
			}
		}
	}
}

func TestEncodingDoesNotAllocate(t *testing.T) {
	texts := readDeclaration(t, "{values: ['1', b]}").Domain
	integers := readDeclaration(t, "{type: integer, range: [0, 110]}").Domain
	decimals := readDeclaration(t, "{type: decimal, range: [0, 200], step: 0.01}").Domain
	dates := readDeclaration(t, "{type: date, range: [2024-01-01, 2024-12-31]}").Domain
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
