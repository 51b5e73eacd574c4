package domain

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestRangesOfEdges compares the domain that the edges of a level make with the level itself, for values everywhere.
func TestRangesOfEdges(t *testing.T) {
	numbers := func(random *rand.Rand) any {
		switch x := random.IntN(1400) - 150; random.IntN(3) {
		case 0:
			return x / 5
		case 1:
			return float64(x) / 8
		default:
			return strconv.FormatFloat(float64(x)/10, 'f', -1, 64)
		}
	}
	days := func(random *rand.Rand) any {
		return string(AppendDate(nil, 19_700+int64(random.IntN(500))))
	}
	moments := func(random *rand.Rand) any {
		return string(appendTimestamp(nil, 1_769_800_000_000_000+random.Int64N(200_000_000_000)))
	}
	for _, c := range []struct {
		column, level string
		draw          func(*rand.Rand) any
	}{
		{"{type: integer, range: [0, 110]}", "", numbers},
		{"{type: integer, range: [-10, 110], levels: {l: {width: 7}}, null: {as: none}}", "l", numbers},
		{"{type: integer, range: [0, 110], levels: {l: {edges: [0, 16, 25, 65]}}}", "l", numbers},
		{"{type: integer, range: [7, 7]}", "", numbers},
		{"{type: decimal, range: [0, 100], step: 0.25}", "", numbers},
		{"{type: decimal, range: [0, 1], step: 1/3}", "", numbers},
		{"{type: decimal, range: [0, 100], levels: {l: {edges: [0, 12.5, 16, 65]}, k: {width: 3}}}", "l", numbers},
		{"{type: date, range: [2024-01-03, 2024-12-30], levels: {l: {width: week}}}", "l", days},
		{"{type: timestamp, range: [2026-01-30T22:10:00, 2026-02-01T23:59:59], levels: {l: {width: hour}}}", "l",
			moments},
	} {
		d := readDeclaration(t, c.column)
		l, _ := d.Domain.Level(c.level)
		least, most, ok := d.Domain.Edges(l)
		if !ok {
			t.Fatalf("%s: no edges", c.column)
		}
		again, err := NewRange(d.Type, least, most)
		if err != nil {
			t.Fatalf("%s: %v", c.column, err)
		}
		random, fits := rand.New(rand.NewPCG(1, 1)), 0
		for range 2000 {
			raw := c.draw(random)
			base, want := encode(d.Domain, raw)
			got, fit := encode(again, raw)
			if fit != want || fit == Fits && got != l.Category(base) {
				t.Fatalf("%s: %v is category %d (%s), and by the level's edges %d (%s)", c.column, raw,
					l.Category(base), want,
					got, fit)
			}
			if fit == Fits {
				fits++
			}
		}
		if fits == 0 {
			t.Errorf("%s: no value fits", c.column)
		}
	}
	if _, _, ok := readDeclaration(t, "{values: [a, b]}").Domain.Edges(nil); ok {
		t.Error("a list of values has edges")
	}
}

// TestEdgesThatMakeNoRange: edges from a stranger's file are refused where they make no range.
func TestEdgesThatMakeNoRange(t *testing.T) {
	for _, c := range []struct {
		of    Type
		least []string
		most  string
	}{
		{Integer, nil, "3"},
		{Integer, []string{"1", "x"}, "3"},
		{Integer, []string{"1.5"}, "3"},
		{Integer, []string{"1", "1"}, "3"},
		{Integer, []string{"5"}, "3"},
		{Integer, []string{"1"}, "1e300"},
		{Decimal, []string{"1e-300"}, "1"},
		{Decimal, []string{"1"}, "1"},
		{Decimal, []string{"1/0"}, "1"},
		{Date, []string{"2024-02-30"}, "2024-03-01"},
		{Timestamp, []string{"2024-02-01"}, "2024-03-01"},
		{Text, []string{"a"}, "b"},
		{"", []string{"1"}, "2"},
	} {
		if _, err := NewRange(c.of, c.least, c.most); err == nil {
			t.Errorf("%s %q to %q is a range", c.of, c.least, c.most)
		}
	}
}
