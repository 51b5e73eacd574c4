package page

// This file tests the tables of numbers that differ between equal sentences.

import (
	"slices"
	"testing"

	"github.com/dprelease/dprelease/spec/language"
)

// The decimal marks of a column stand below one another: spaces as wide as digits and marks stand for what is missing.
func TestNumbersOfAPatternLineUp(t *testing.T) {
	const digit, mark = "\u2007", "\u2008"
	for _, c := range []struct{ column, want []string }{
		{[]string{"510.9", "10.55", "493"}, []string{"510.9" + digit, "10.55", "493" + mark + digit + digit}},
		{[]string{"10,5", "9"}, []string{"10,5", "9" + mark + digit}},
		{[]string{"±42", "±1002"}, []string{"±42", "±1002"}},
		{[]string{"2.5\u202f%", "10\u202f%"}, []string{"2.5\u202f%", "10" + mark + digit + "\u202f%"}},
		{[]string{"1\u202f002.5", "12"}, []string{"1\u202f002.5", "12" + mark + digit}},
	} {
		if got := lineUp(c.column); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.column, got, c.want)
		}
	}
}

// A pattern has a row for each text, with a letter for each number that differs.
func TestPatternsKeepTheirNumbers(t *testing.T) {
	got := patternsOf(language.English, []labelled{{"pay", "Error 510.9 of 3."}, {"persons", "Error 10.55 of 3."}})
	if len(got) != 1 || got[0].Text != "Error A of 3. The letters stand for these numbers:" || len(got[0].Rows) != 2 ||
		got[0].Rows[0].Name != "pay" || got[0].Rows[0].Values[0] != "510.9\u2007" ||
		got[0].Rows[1].Values[0] != "10.55" {
		t.Errorf("got %+v", got)
	}
}
