package expression

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/spec/calendar"
	"pgregory.net/rapid"
)

// writer draws well-typed expressions as text.
type writer struct{ t *rapid.T }

func (w writer) pick(options ...func() string) string {
	return options[rapid.IntRange(0, len(options)-1).Draw(w.t, "which")]()
}

func (w writer) one(texts ...string) string { return rapid.SampledFrom(texts).Draw(w.t, "one") }

func (w writer) number(d int) string {
	if d <= 0 {
		return w.one("0", "1", "7", "-3", "0.5", "2.25", "-0.1", "100", "integer(i)", "integer(k)", "decimal(d, 2)")
	}
	small := func() string { return "clamp(" + w.number(d-1) + ", " + w.one("-10, 20", "0, 0.25", "-1.5, 99") + ")" }
	return w.pick(
		func() string { return w.number(0) },
		func() string { return small() + w.one(" + ", " - ", " * ") + small() },
		func() string { return "(" + small() + " - " + small() + ") * 3" },
		func() string { return "floor(" + small() + ")" + w.one(" // ", " % ") + w.one("7", "-7", "1", "10") },
		func() string { return w.one("abs", "floor", "round") + "(" + small() + ")" },
		func() string { return w.one("floor", "round") + "(a)" },
		func() string { return "-" + "(" + small() + ")" },
		func() string { return w.one("min", "max") + "(" + small() + ", " + small() + ", " + small() + ")" },
		func() string { return "if(" + w.boolean(d-1) + ", " + small() + ", " + w.one("null", small()) + ")" },
		func() string {
			return "case(" + w.boolean(d-1) + ", " + small() + ", " + w.boolean(d-1) + ", " + small() + ", " +
				small() + ")"
		},
		func() string { return "coalesce(" + small() + ", " + small() + ")" },
		func() string { return w.one("days", "months", "years") + "(" + w.day(d-1) + " - " + w.day(d-1) + ")" },
		func() string {
			return w.one("hours", "minutes", "seconds") + "(s - " + w.one("s", "2024-02-29T12:00") + ")"
		},
		func() string {
			return w.one("year", "quarter", "month", "week", "day", "weekday") + "(" + w.day(d-1) + ")"
		},
		func() string { return w.one("hour", "minute") + "(s)" },
		func() string { return "length(" + w.text(d-1) + ")" },
		func() string { return "integer(" + w.one("boolean(b)", w.boolean(d-1)) + ")" },
		func() string {
			return "recode(" + w.one("a", small()) + ", {0: 1, 0.5: 2.5, 7: -1}" + w.one("", ", 3") + ")"
		},
		func() string { return "recode(" + w.text(d-1) + ", {'': 1, 'é': 2}" + w.one("", ", "+small()) + ")" },
	)
}

func (w writer) boolean(d int) string {
	if d <= 0 {
		return w.one("boolean(b)", "true", "false", "is_null(x)", "a > 0.5", "1 <= a", "a == 7")
	}
	compare := w.one("==", "!=", "<", "<=", ">", ">=")
	return w.pick(
		func() string { return w.boolean(0) },
		func() string { return "(" + w.boolean(d-1) + w.one(" and ", " or ") + w.boolean(d-1) + ")" },
		func() string { return "not " + w.boolean(0) },
		func() string {
			return "(clamp(" + w.number(d-1) + ", -50, 50) " + compare + " clamp(" + w.number(d-1) + ", -5, 5))"
		},
		func() string { return "(" + w.day(d-1) + " " + compare + " " + w.day(d-1) + ")" },
		func() string { return "(s " + compare + " 2024-02-29T12:00)" },
		func() string { return "(" + w.text(d-1) + " " + w.one("==", "!=") + " " + w.text(d-1) + ")" },
		func() string { return "(a " + w.one("", "not ") + "in [0, 0.5, -3, 7])" },
		func() string { return "(" + w.text(d-1) + " in ['', 'é', 'Ab'])" },
		func() string { return "is_null(" + w.one(w.number(d-1), w.text(d-1), w.boolean(d-1)) + ")" },
		func() string { return "starts_with(" + w.text(d-1) + ", " + w.text(d-1) + ")" },
		func() string { return "if(" + w.boolean(d-1) + ", " + w.boolean(d-1) + ", " + w.one("null", "b") + ")" },
		func() string { return "coalesce(b, " + w.boolean(d-1) + ")" },
	)
}

func (w writer) text(d int) string {
	if d <= 0 {
		return w.one("text(u)", "text(v)", "'Ab'", `"é"`, "''", "' it''s '")
	}
	return w.pick(
		func() string { return w.text(0) },
		func() string { return w.one("lower", "upper", "trim") + "(" + w.text(d-1) + ")" },
		func() string { return "prefix(" + w.text(d-1) + ", " + w.one("0", "1", "3") + ")" },
		func() string { return "slice(" + w.text(d-1) + ", " + w.one("1, 2", "3, 1", "2, 100", "9, 0") + ")" },
		func() string {
			return "if(" + w.boolean(d-1) + ", " + w.text(d-1) + ", " + w.one("null", w.text(d-1)) + ")"
		},
		func() string { return "coalesce(" + w.text(d-1) + ", " + w.text(d-1) + ")" },
		func() string {
			return "recode(" + w.text(d-1) + ", {'Ab': 'x', 'é': ''}" + w.one("", ", "+w.text(d-1)) + ")"
		},
	)
}

func (w writer) day(d int) string {
	if d <= 0 {
		return w.one("date(m)", "date(s)", "2024-02-29", "1999-12-31")
	}
	return w.pick(
		func() string { return w.day(0) },
		func() string {
			return "if(" + w.boolean(d-1) + ", " + w.day(d-1) + ", " + w.one("null", w.day(d-1)) + ")"
		},
		func() string { return "coalesce(" + w.day(d-1) + ", " + w.day(d-1) + ")" },
	)
}

func (w writer) expression() string {
	d := rapid.IntRange(0, 4).Draw(w.t, "depth")
	return w.pick(
		func() string { return w.number(d) }, func() string { return w.boolean(d) },
		func() string { return w.text(d) }, func() string { return w.day(d) })
}

// drawInput draws a random value of an input, and the number or text that encodes it.
func drawInput(t *rapid.T, in Input) (value, int64, string) {
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return nil, rapid.SampledFrom([]int64{0, 1}).Draw(t, "under null"), ""
	}
	switch in.Reading {
	case AnyNumber:
		x := big.NewRat(rapid.SampledFrom([]int64{0, 1, -1, 500, -500, 7000, 499, 501, -3000, 250, 12345,
			1 << 50}).Draw(t,
			"thousandths"), 1000)
		units := new(big.Rat).Mul(x, new(big.Rat).SetInt(bigPowerOfTen(in.DecimalPlaces)))
		floor := new(big.Int).Div(units.Num(), units.Denom()).Int64()
		return x, 2*floor + toBit(!units.IsInt()), ""
	case FixedNumber:
		units := rapid.SampledFrom([]int64{0, 1, -1, 5, 7, -3, 100, 250, 99, -101, MaxUnits, -MaxUnits}).Draw(t,
			"units")
		return new(big.Rat).SetFrac(big.NewInt(units), bigPowerOfTen(in.DecimalPlaces)), units, ""
	case AsText:
		s := rapid.SampledFrom([]string{"", "Ab", "é", " it's ", "ÀÉ x", "日本語テキスト"}).Draw(t, "text")
		return s, 0, s
	case AsBoolean:
		b := rapid.Bool().Draw(t, "truth")
		return b, toBit(b), ""
	case AsDate, AsDay:
		days := rapid.OneOf(rapid.Int64Range(19000, 20000),
			rapid.Int64Range(calendar.FirstDay, calendar.LastDay)).Draw(t, "days")
		return time.Unix(days*86400, 0).UTC(), days, ""
	case AsTimestamp:
		micros := rapid.OneOf(rapid.Int64Range(1_700_000_000_000_000, 1_710_000_000_000_000),
			rapid.Int64Range(calendar.FirstDay*calendar.MicrosPerDay, calendar.LastDay*calendar.MicrosPerDay)).Draw(t,
			"micros")
		return time.UnixMicro(micros).UTC(), micros, ""
	}
	return "anything", 0, ""
}

// TestProgramsEqualTheReference draws expressions and rows, and compares the program with the reference.
func TestProgramsEqualTheReference(t *testing.T) {
	read, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := writer{t}.expression()
		e, err := Parse(text, nil)
		if err != nil {
			refused++
			for _, known := range []string{"the same in every row", "beyond ±2^62", "places", "is null in every row"} {
				if strings.Contains(err.Error(), known) {
					return
				}
			}
			t.Fatalf("%s: %v", text, err)
		}
		read++
		const rows = 5
		wide := make([]row, rows)
		inputs := make([]Vector, len(e.Inputs()))
		for i := range wide {
			wide[i] = row{}
		}
		for j, in := range e.Inputs() {
			v := Vector{Numbers: make([]int64, rows), Texts: make([]string, rows), Null: make([]bool, rows)}
			for i := range rows {
				wide[i][in.Name], v.Numbers[i], v.Texts[i] = drawInput(t, in)
				v.Null[i] = wide[i][in.Name] == nil
			}
			inputs[j] = v
		}
		p := Compile(e)
		for range 2 { // the second time in reused memory
			p.Run(rows, inputs, func(got Vector) {
				for i := range rows {
					want := wide[i].eval(e.root)
					if have := valueAt(e.Type(), got, i); !isSameValue(have, want) {
						t.Fatalf("%s of %v is %v, want %v", text, wide[i], have, want)
					}
					checkBounds(t, e.Type(), got, i)
				}
			})
		}
	})
	if read < refused {
		t.Errorf("%d expressions read, %d refused: the test draws too few", read, refused)
	}
}

// checkBounds fails if a number is outside the bounds of its type.
func checkBounds(t *rapid.T, typ Type, got Vector, i int) {
	if typ.Kind != Text && (got.Null == nil || !got.Null[i]) &&
		(got.Numbers[i] < typ.Low || got.Numbers[i] > typ.High) {
		t.Fatalf("%d is not within %d and %d", got.Numbers[i], typ.Low, typ.High)
	}
}

func valueAt(typ Type, v Vector, i int) value {
	if v.Null != nil && v.Null[i] {
		return nil
	}
	switch typ.Kind {
	case Text:
		return v.Texts[i]
	case Boolean:
		return v.Numbers[i] == 1
	case Date:
		return time.Unix(v.Numbers[i]*86400, 0).UTC()
	case Timestamp:
		return time.UnixMicro(v.Numbers[i]).UTC()
	}
	return new(big.Rat).SetFrac(big.NewInt(v.Numbers[i]), bigPowerOfTen(typ.DecimalPlaces))
}

func isSameValue(a, b value) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return compareValues(a, b) == 0
}

// TestCalendar compares the parts of days with the arithmetic of the calendar.
func TestCalendar(t *testing.T) {
	for days := int64(calendar.FirstDay); days <= calendar.LastDay; days += 13 {
		y, m, d := civilDate(days)
		weekday := calendar.FloorMod(days+3, 7) + 1
		year, _, _ := civilDate(days - weekday + 4) // the year of the week's Thursday
		week, first := int64(1), days-weekday+4
		for y, _, _ := civilDate(first - 7*week); y == year; y, _, _ = civilDate(first - 7*week) {
			week++
		}
		for name, want := range map[string]int64{"year": y, "month": m, "day": d, "quarter": (m + 2) / 3,
			"weekday": weekday, "week": week} {
			if got := dateParts[name].compute(calendar.Day(days)); int64(got) != want {
				t.Fatalf("%s of day %d is %d, want %d", name, days, got, want)
			}
		}
		text := fmt.Sprintf("%04d-%02d-%02d", y, m, d)
		if got, ok := calendar.ParseDate(text); got != days || !ok {
			t.Fatalf("%s is day %d (%v), want %d", text, got, ok, days)
		}
	}
}

// civilDate returns the year, month and day of the month of a day in the proleptic Gregorian calendar. Eras are of 400
// years; years begin in March, so that leap days come last.
func civilDate(days int64) (year, month, day int64) {
	z := days + 719_468
	era := calendar.FloorDiv(z, 146_097)
	inEra := z - era*146_097
	yearOfEra := (inEra - inEra/1460 + inEra/36_524 - inEra/146_096) / 365
	ofYear := inEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*ofYear + 2) / 153
	day = ofYear - (153*shifted+2)/5 + 1
	month = shifted + 3
	if month > 12 {
		month -= 12
	}
	year = yearOfEra + era*400
	if month <= 2 {
		year++
	}
	return year, month, day
}

// FuzzExpression parses any text, and evaluates the expressions that are accepted.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{"age >= 18", "days(discharged - admitted)", "recode(sex, {'1': 'male', 2: 3})",
		"case(a > 1, 2024-01-31, null)",
		"register.size == \"micro\" and not x in [1, -2.5e3]", "slice(trim(x), 2, 3)", "round(a) % -7", "`a b` == ''",
		"((((",
		"1 / 0", "clamp(integer(x), 0, 1e17) * 10"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text, func(string, string) Column {
			return Column{Kind: Kind(len(text) % 7),
				DecimalPlaces: 1}
		})
		if err != nil {
			wrong := err.(*Error)
			if wrong.At < 0 || wrong.At > wrong.End || wrong.End > len(text) || wrong.Message == "" {
				t.Fatalf("%q: %+v", text, wrong)
			}
			return
		}
		inputs := make([]Vector, len(e.Inputs()))
		for i := range inputs {
			inputs[i] = Vector{Numbers: []int64{0, 1, -5}, Texts: []string{"", "é", "\xff"},
				Null: []bool{false, true, false}}
		}
		Compile(e).Run(3, inputs, func(v Vector) {
			if len(v.Numbers) != 3 && len(v.Texts) != 3 {
				t.Fatalf("%q: %d and %d values of 3 rows", text, len(v.Numbers), len(v.Texts))
			}
		})
	})
}

// Numbers are read with patterns that are compiled once: compiling one takes dozens of allocations.
func TestTokensOfNumbersAreCheap(t *testing.T) {
	const numbers, most = 100, 12
	text := strings.Repeat("17 ", numbers)
	got := testing.AllocsPerRun(5, func() {
		if _, err := tokenize(text); err != nil {
			t.Error(err)
		}
	})
	if got > numbers*most {
		t.Errorf("%v allocations for %d numbers, want %d for one at the most", got, numbers, most)
	}
}
