package expression

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConstantsAreWhatChoicesEndIn(t *testing.T) {
	for text, want := range map[string][]string{
		"recode(x, {'a': 'one', 'b': 'two'})":                           {"'one'", "'two'"},
		"recode(x, {'a': 'one'}, 'other')":                              {"'one'", "'other'"},
		"recode(x, {1: 2, 3: -4}, null)":                                {"2", "-4"},
		"if(x > 3, 'a', y)":                                             {"'a'"},
		"case(x > 3, 'a', x > 1, recode(y, {'p': 'b', 'q': 'c'}), 'd')": {"'a'", "'b'", "'c'", "'d'"},
		"coalesce(lower(x), if(y == 'z', 'u', 'v'))":                    {"'u'", "'v'"},
		"upper(recode(x, {'a': 'one'}))":                                nil,
		"prefix(x, 3)":                                                  nil,
		"x == 'a'":                                                      nil,
	} {
		e, err := Parse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range e.Constants() {
			written := text[c.At:c.End]
			if said := "'" + c.Text + "'"; c.Number == nil && said != written || c.Number != nil &&
				c.Number.RatString() != written {
				t.Errorf("%s: %v is written %s", text, c, written)
			}
			got = append(got, fmt.Sprint(written))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
