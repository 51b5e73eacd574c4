package document

import "testing"

func TestDifferingPartOfAPath(t *testing.T) {
	for _, c := range [][3]string{
		{"tables.a.columns.x.values", "tables.a.columns.y.values", "y"},
		{"tables.a.columns.x.values", "tables.b.columns.y.values", "tables.b.columns.y.values"},
		{"a.b", "a.b", ""},
		{"a.b", "a.b.c", "a.b.c"},
	} {
		if got := differingPart(c[0], c[1]); got != c[2] {
			t.Errorf("%s from %s: %q", c[1], c[0], got)
		}
	}
}
