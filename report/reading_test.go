package report

import (
	"strings"
	"testing"
)

func TestTablesThatAreHardlyTold(t *testing.T) {
	table := func(path string, share float64) Table {
		return Table{Path: path, Statistics: []Statistic{{NoiseShare: share}}}
	}
	r := &Report{Tables: []Table{table("fine", .49)}}
	if s := hardlyTold(r); s != "" {
		t.Errorf("a fine table is warned of: %s", s)
	}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		r.Tables = append(r.Tables, table(name, .5))
	}
	if s := hardlyTold(r); !strings.Contains(s, "a (50% of its cells), b (") || !strings.Contains(s, "and 2 more tables") || strings.Contains(s, "fine") {
		t.Error(s)
	}
}
