package client_test

import (
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// TestValidReports changes reports in ways that no device draws.
func TestValidReports(t *testing.T) {
	set := question(t, client.Set, "1", column("c", 12)) // three of twelve
	permuted := question(t, client.Permuted, "1", column("c", 600))
	for _, c := range []struct {
		q      *client.Question
		report string
		want   bool
	}{
		{&set, "\x07\x00", true}, {&set, "\x81\x08", true}, {&set, "\x03\x00", false}, {&set, "\x0f\x00", false},
		{&set, "\x03\x10", false}, {&set, "\x07", false}, {&set, "\x07\x00\x00", false}, {&set, "", false},
		{&permuted, "\x00\x00\x00\x01\x00\x00\x00\x00", true}, {&permuted, "\x00\x00\x02\x58\x00\x00\x02\x58", true},
		{&permuted, "\x00\x00\x00\x00\x00\x00\x00\x00", false}, {&permuted, "\x00\x00\x02\x59\x00\x00\x00\x00", false},
		{&permuted, "\x00\x00\x00\x01\x00\x00\x02\x59", false}, {&permuted, "\xff\xff\xff\xff\x00\x00\x00\x01", false},
		{&permuted, "\x00\x00\x00\x01\x00\x00\x00", false}, {&permuted, "", false},
	} {
		if got := c.q.Valid([]byte(c.report)); got != c.want {
			t.Errorf("%s of %d: report %x is valid: %t", c.q.Form, c.q.Categories, c.report, got)
		}
	}
}

func TestCategoriesThatAreNone(t *testing.T) {
	q := question(t, client.Set, "1", column("c", 12))
	for _, v := range []int64{-1, 12, 1 << 40} {
		if report, err := q.Randomise(nil, v, client.NewBytes(nil)); err == nil || report != nil {
			t.Errorf("category %d has report %x", v, report)
		}
	}
}
