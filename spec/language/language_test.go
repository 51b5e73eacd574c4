package language

import "testing"

func TestTexts(t *testing.T) {
	de := Of("de")
	for _, c := range []struct{ got, want string }{
		{English.Text("%s times", "3"), "3 times"},
		{de.Text("%s times", "3"), "3 Mal"},
		{English.Text(Key("100% and 50%%")), "100% and 50%"},
		{de.Text("nobody translated %s%%", "this"), "nobody translated this%"},
		{English.Number("1\u202f234.5%"), "1\u202f234.5%"},
		{de.Number("1\u202f234.5%"), "1\u202f234,5\u202f%"},
		{de.Number("±3"), "±3"},
		{de.Percent(0.732), "73,2\u202f%"},
		{English.Date("2026-11-28"), "2026-11-28"},
		{de.Date("2026-11-28"), "28.11.2026"},
		{de.Date("unknown"), "unknown"},
		{de.List([]string{"a", "b", "c"}), "a, b und c"},
		{English.List([]string{"a"}), "a"},
		{de.FirstOf([]string{"a", "b", "c"}), "a und 2 weitere"},
		{de.FirstFew([]string{"a", "b", "c", "d", "e", "f"}), "a, b, c, d, e und 1 weitere Tabelle"},
		{English.FirstFew([]string{"a", "b", "c", "d", "e", "f", "g"}), "a, b, c, d, e and 2 more tables"},
		{Of("").Tag(), "en"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if Of("xx") != nil {
		t.Error("there is a language xx")
	}
}
