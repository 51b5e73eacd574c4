package budget

import (
	"math/big"
	"regexp"
	"strings"
	"testing"
)

func TestParseRatIsExact(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"0", "0"}, {"-0", "0"}, {"7", "7"}, {"+7", "7"}, {"007", "7"}, {"010/08", "5/4"}, {"1/3", "1/3"},
		{"-2/6", "-1/3"},
		{"4/2", "2"},
		{"0.25", "1/4"}, {"-0.5", "-1/2"}, {"1.0", "1"}, {"1e-9", "1/1000000000"}, {"2.5E3", "2500"}, {"1e+2", "100"},
		{"0.1", "1/10"}, {"12345678901234567890.5", "24691357802469135781/2"},
		{"1e400", "1" + strings.Repeat("0", 400)},
	} {
		r, err := ParseRat(c.text)
		if err != nil || FormatRat(r) != c.want {
			t.Errorf("ParseRat(%q) = %s, %v; want %s", c.text, FormatRat(r), err, c.want)
		}
	}
}

func TestParseRatRefusesEverythingElse(t *testing.T) {
	for _, text := range []string{
		"", " ", " 1", "1 ", "1_000", "0x10", "1,5", ".5", "5.", "-", "+", "1/", "/2", "1/0", "0/0", "1/-2", "1/+2",
		"1.5/2",
		"1/2.5", "1/2/3",
		"1e", "e5", "1e5.5", "1e401", "1e-401", "1e99999999999999999999", "--1", "NaN", "Inf", "½", "٣", "1e5e5",
		"1\x00",
		strings.Repeat("9", maxRatText+1),
	} {
		if r, err := ParseRat(text); err == nil {
			t.Errorf("ParseRat(%q) = %s, want an error", clipText(text), FormatRat(r))
		} else if len(err.Error()) > 300 {
			t.Errorf("ParseRat(%q): the error has %d characters", clipText(text), len(err.Error()))
		}
	}
}

var octal = regexp.MustCompile(`^[+-]?0[0-9]|/0[0-9]`)

func FuzzParseRat(f *testing.F) {
	for _, text := range []string{"1/3", "0.25", "1e-9", "-1.5e+3", "1/0", "", "9e400", "1e-400"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRat(text)
		if err != nil {
			return
		}
		if again, err := ParseRat(FormatRat(r)); err == nil && again.Cmp(r) != 0 {
			t.Errorf("%q reads back as %s", text, FormatRat(again))
		}
		if octal.MatchString(text) {
			return // math/big reads 1/010 as an eighth
		}
		if other, ok := new(big.Rat).SetString(text); !ok || other.Cmp(r) != 0 {
			t.Errorf("%q is read as %s, math/big reads %v", text, FormatRat(r), other)
		}
	})
}

func TestRoundingGoesTheWayItsNameSays(t *testing.T) {
	for _, text := range []string{"1/3", "2/3", "0.1", "0.3", "1", "5/4096", "1e-300", "12345678901234567890", "1e-390",
		"1e390"} {
		r := mustRat(t, text)
		if up := roundUp(r); up < roundDown(r) || !isInfinite(up) && exactly(up).Cmp(r) < 0 {
			t.Errorf("roundUp(%s) = %v", text, up)
		}
		if down := roundDown(r); exactly(down).Cmp(r) > 0 {
			t.Errorf("roundDown(%s) = %v", text, down)
		}
		grid := roundUpToGrid(r)
		excess := new(big.Rat).Sub(grid, r)
		if excess.Sign() < 0 || excess.Cmp(big.NewRat(1, 4096)) >= 0 ||
			!new(big.Rat).Mul(grid, big.NewRat(4096, 1)).IsInt() {
			t.Errorf("roundUpToGrid(%s) = %v", text, grid)
		}
	}
}

func isInfinite(x float64) bool { return x > 0 && x == x/2 }

func TestAmountsInWords(t *testing.T) {
	for _, c := range []struct{ amount, want string }{
		{"0", "= 0"}, {"1", "= 1"}, {"0.5", "= 0.5"}, {"1e-9", "= 1e-9"}, {"2.5e-9", "= 2.5e-9"}, {"100", "= 100"},
		{"1/4096", "= 0.000244140625"},
		{"1/3", "≤ 0.3333334"}, {"2/3", "≤ 0.6666667"}, {"0.99999999999999", "≤ 1"},
		{"3.0000000000000001", "≤ 3.000001"},
		{"1e15", "= 1e15"}, {"0.0123", "= 0.0123"}, {"9999999999999", "≤ 1e13"}, {"1234567890123", "≤ 1.234568e12"},
		{"123456789012", "= 123\u202f456\u202f789\u202f012"},
	} {
		if got := Amount(mustRat(t, c.amount)); got != c.want {
			t.Errorf("Amount(%s) = %q, want %q", c.amount, got, c.want)
		}
	}
}
