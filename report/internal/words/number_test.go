package words

import (
	"encoding/json"
	"math"
	"testing"
)

func TestNumbersAreWritten(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Decimal(5.2883), "5.29"}, {Decimal(0.52883), "0.5288"}, {Decimal(52.883), "52.88"},
		{Decimal(1234567.6), "1\u202f234\u202f568"}, {Decimal(math.NaN()), "–"},
		{Relative(1.2), "120%"}, {Relative(0.012345), "1.2%"}, {Relative(0), "0%"}, {Relative(123.456), "12\u202f346%"},
		{Level(0.95), "95%"}, {Level(0.9999), "99.9%"}, {Level(0.95179), "95.1%"}, {Level(1), "100%"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// A margin is shown rounded up.
func TestMarginsAreShownRoundedUp(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 11: "11", 2.0001: "3", 12345.5: "12\u202f346"} {
		if got := Margin(v); got != want {
			t.Errorf("%v is shown as %s, want %s", v, got, want)
		}
	}
}

func TestSumsAreWritten(t *testing.T) {
	for n, want := range map[json.Number]string{"": "–", "1": "1", "1.25": "1.25", "-12345.678": "−12\u202f346",
		"9007199254740993": "9\u202f007\u202f199\u202f254\u202f740\u202f993", "0": "0"} {
		if got := Number(n); got != want {
			t.Errorf("%s is shown as %s, want %s", n, got, want)
		}
	}
}
