package domain

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/calendar"
	"github.com/dprelease/dprelease/spec/document"
	"pgregory.net/rapid"
)

// readDeclaration reads a column declaration, written as in a spec, and adds the categories of unknown and null.
func readDeclaration(t interface {
	Helper()
	Fatal(...any)
}, text string) Declaration {
	t.Helper()
	f := document.NewFindings("column.yaml", text)
	n, ok := f.Read("a column", "one column")
	d := NewReader(f, nil, nil).Read(n)
	if problems := f.Problems(); !ok || len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, key := range []string{"unknown", "null"} {
		if as := n.Get(key).Get("as"); as.Present() {
			if _, ok := d.Domain.Add(as.Text()); !ok {
				t.Fatal(as.Text())
			}
		}
	}
	return d
}

// decimalDomain draws a decimal range with a step or two levels, and returns it with its bounds in units of 10^-places.
func decimalDomain(t *rapid.T) (d *Domain, low, high int64, places int) {
	places = rapid.IntRange(0, 6).Draw(t, "places")
	low = rapid.Int64Range(-2000, 2000).Draw(t, "low")
	high = low + rapid.Int64Range(1, 3000).Draw(t, "span")
	write := func(x int64) string { return document.FormatNumber(big.NewRat(x, int64(powersOfTen[places]))) }
	width := rapid.Int64Range(1, 500).Draw(t, "width")
	edges := []string{write(low)}
	for at := low; ; {
		at += rapid.Int64Range(1, 900).Draw(t, "gap")
		if at > high {
			break
		}
		edges = append(edges, write(at))
	}
	text := fmt.Sprintf("{type: decimal, range: [%s, %s], levels: {even: {width: %s}, uneven: {edges: [%s]}}}",
		write(low), write(high), write(width), strings.Join(edges, ", "))
	if rapid.Bool().Draw(t, "stepped") {
		text = strings.Replace(text, "levels", "step: "+write(1)+", levels", 1)
	}
	return readDeclaration(t, text).Domain, low, high, places
}

// checkLevels fails unless every level maps the base cells monotonically onto all its categories, whose codes are
// distinct.
func checkLevels(t *rapid.T, d *Domain) {
	for _, name := range append(d.LevelNames(), "") {
		l, ok := d.Level(name)
		if !ok {
			continue
		}
		seen := map[string]bool{}
		for _, c := range l.Categories {
			if seen[c.Code] {
				t.Fatalf("level %q has %q twice", name, c.Code)
			}
			seen[c.Code] = true
		}
		if l.CategoryOf == nil {
			continue
		}
		if len(l.CategoryOf) != d.Size() || l.CategoryOf[0] != 0 ||
			int(l.CategoryOf[len(l.CategoryOf)-1]) != l.Size()-1 {
			t.Fatalf("level %q: %v onto %d", name, l.CategoryOf, l.Size())
		}
		for k := 1; k < len(l.CategoryOf); k++ {
			if step := l.CategoryOf[k] - l.CategoryOf[k-1]; step > 1 {
				t.Fatalf("level %q jumps from %d to %d", name, l.CategoryOf[k-1], l.CategoryOf[k])
			}
		}
	}
}

func TestDecimalBinsPartTheRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, low, high, places := decimalDomain(t)
		checkLevels(t, d)
		extra := rapid.IntRange(0, 12).Draw(t, "extra")
		scale := int64(powersOfTen[extra])
		x := rapid.Int64Range((low-2)*scale, (high+2)*scale).Draw(t, "x")
		if rapid.Bool().Draw(t, "on the lattice") {
			x = x / scale * scale
		}
		exact := new(big.Rat).SetFrac64(x, scale*int64(powersOfTen[places]))
		code, fit := d.CodeOfDecimal(big.NewInt(x), int32(places+extra))
		assertBin(t, d, exact, code, fit)

		text := exact.FloatString(places + extra)
		if c, f := d.CodeOfText(text); c != code || f != fit {
			t.Fatalf("text %s is %d, %v, the decimal %d, %v", text, c, f, code, fit)
		}
		v, _ := strconv.ParseFloat(text, 64)
		v = rapid.SampledFrom([]float64{v, math.Nextafter(v, 1e9), math.Nextafter(v, -1e9)}).Draw(t, "v")
		shortest, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
		c, f := d.CodeOfFloat(v)
		assertBin(t, d, shortest, c, f)
		if c2, f2 := d.bins.binOfQuantity(quantityOfFloat(v)); c2 != c || f2 != f {
			t.Fatalf("%v is %d, %v by search and %d, %v by its decimal", v, c, f, c2, f2)
		}
	})
}

// assertBin fails unless a code agrees with the definition: exactly one bin contains a value of the range.
func assertBin(t *rapid.T, d *Domain, x *big.Rat, code int, fit Fit) {
	cut := func(k int) *big.Rat { return big.NewRat(d.bins.cuts[k], d.bins.den) }
	last := d.bins.size() - 1
	var holding []int
	for k := 0; k <= last; k++ {
		below := x.Cmp(cut(k+1)) < 0 || k == last && x.Cmp(cut(k+1)) == 0
		if x.Cmp(cut(k)) >= 0 && below {
			holding = append(holding, k)
		}
	}
	inside := x.Cmp(cut(0)) >= 0 && x.Cmp(cut(last+1)) <= 0
	switch {
	case inside && (len(holding) != 1 || fit != Fits || code != holding[0]):
		t.Fatalf("%s is %d, %v; bins that hold it: %v", x, code, fit, holding)
	case !inside && fit != OutOfDomain:
		t.Fatalf("%s is outside and yet %d, %v", x, code, fit)
	}
}

func TestIntegerBinsPartTheRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Int64Range(-1000, 1000).Draw(t, "low")
		high := low + rapid.Int64Range(0, 500).Draw(t, "span")
		step := rapid.Int64Range(1, 7).Draw(t, "step")
		factor := rapid.Int64Range(1, 9).Draw(t, "factor")
		text := fmt.Sprintf("{type: integer, range: [%d, %d], step: %d, levels: {l: {width: %d}}, unknown: {as: other}}", low,
			high, step, step*factor)
		d := readDeclaration(t, text).Domain
		checkLevels(t, d)
		v := rapid.Int64Range(low-5, high+5).Draw(t, "v")
		code, fit := d.CodeOfInt(v)
		if want := int((v - low) / step); v >= low && v <= high && (fit != Fits || code != want) {
			t.Fatalf("%d is %d, %v, want %d", v, code, fit, want)
		}
		if (v < low || v > high) != (fit == OutOfDomain) {
			t.Fatalf("%d is %v", v, fit)
		}
		for _, raw := range []any{strconv.FormatInt(v, 10), float64(v), decimal{v * 100, 2}} {
			if c, f := encode(d, raw); c != code || f != fit {
				t.Fatalf("%T %v is %d, %v; as an integer %d, %v", raw, raw, c, f, code, fit)
			}
		}
	})
}

func TestCalendarBinsPartTheRange(t *testing.T) {
	units := []string{"second", "minute", "hour", "day", "week", "month", "quarter", "year", "15 minutes", "5 days",
		"3 weeks", "7 hours"}
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom(units).Draw(t, "unit")
		most := 500 * max(calendar.MicrosPerSecond, map[string]int64{"minute": 60, "hour": 3600,
			"15 minutes": 900}[unit]*calendar.MicrosPerSecond)
		if d, _ := parseDuration(unit); d.unitMonths() > 0 || d.unitMicros() >= calendar.MicrosPerDay {
			most = 3000 * calendar.MicrosPerDay
		}
		low := rapid.Int64Range(-40_000*24*3600, 40_000*24*3600).Draw(t, "low") * calendar.MicrosPerSecond
		high := low + rapid.Int64Range(1, most).Draw(t, "span")
		text := fmt.Sprintf("{type: timestamp, range: [%s, %s], levels: {l: {width: %s}, all: {width: year}}}",
			appendTimestamp(nil, low), appendTimestamp(nil, high), unit)
		c := readDeclaration(t, text)
		checkLevels(t, c.Domain)
		at := rapid.Int64Range(low, high).Draw(t, "at")
		code, fit := c.Domain.CodeOfTimestamp(at)
		cuts := c.Domain.bins.cuts
		if fit != Fits || at < cuts[code] || at >= cuts[code+1] {
			t.Fatalf("%d is %d, %v in %v", at, code, fit, cuts)
		}
		year, _ := c.Domain.Level("all")
		if got, want := year.Categories[year.CategoryOf[code]].Code, microsTime(at).Format("2006"); got != want {
			t.Fatalf("%s lies in %s", want, got)
		}
	})
}

func FuzzCodeOfText(f *testing.F) {
	var domains []*Domain
	for _, text := range []string{
		"{type: integer, range: [-5, 110]}", "{type: decimal, range: [0, 1], step: 1/3}",
		"{type: decimal, range: [-1, 1], step: 0.01}",
		"{type: date, range: [2024-01-01, 2024-12-31]}",
		"{type: timestamp, range: [2026-01-01T00:00:00, 2026-01-02T00:00:00], step: hour}",
		"{values: [a, '1']}",
	} {
		domains = append(domains, readDeclaration(f, text).Domain)
	}
	for _, s := range []string{"", "1", "-0.5", "1e-3", "1e999999999", "2024-02-30", "2026-01-01T12:00:00.5", "a",
		"0.333333333333333333333"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		exact, isNumber := new(big.Rat), false
		if len(s) < 40 && !strings.ContainsAny(s, "/_xXoObBpP") {
			exact, isNumber = exact.SetString(s)
		}
		for _, d := range domains {
			code, fit := d.CodeOfText(s)
			if fit == Fits && (code < 0 || code >= d.Size()) {
				t.Fatalf("%q has code %d of %d", s, code, d.Size())
			}
			if !isNumber || !d.isNumeric() {
				continue
			}
			last := len(d.bins.cuts) - 1
			scaled := new(big.Rat).Mul(exact, new(big.Rat).SetInt64(d.bins.den))
			at := func(k int) *big.Rat { return new(big.Rat).SetInt64(d.bins.cuts[k]) }
			if fit == Fits && (scaled.Cmp(at(code)) < 0 || scaled.Cmp(at(code+1)) > 0 || scaled.Cmp(at(code+1)) == 0 &&
				code+1 < last) {
				t.Fatalf("%q has code %d", s, code)
			}
			if fit == OutOfDomain && scaled.Cmp(at(0)) >= 0 && scaled.Cmp(at(last)) <= 0 &&
				!(d.bins.whole && !exact.IsInt()) &&
				!(d.bins.whole && scaled.Cmp(at(last)) == 0) {
				t.Fatalf("%q is not outside", s)
			}
		}
	})
}
