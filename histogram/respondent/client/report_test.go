package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

const line = `{"collector":"0123456789abcdef","token":"00112233445566778899aabbccddeeff",` +
	`"question":"a<b","report":"0280"}`

func TestReportsAreLines(t *testing.T) {
	var r client.Report
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatal(err)
	}
	if r.Collector != "0123456789abcdef" || len(r.Token) != 16 || r.Token[1] != 0x11 || r.Question != "a<b" ||
		string(r.Bytes) != "\x02\x80" {
		t.Errorf("%+v", r)
	}
	escaped, err := json.Marshal(r)
	if err != nil || string(escaped) != strings.Replace(line, "<", `\u003c`, 1) || textOf(t, r) != line {
		t.Errorf("%s: %v", escaped, err)
	}
	if err := json.Unmarshal(escaped, &r); err != nil {
		t.Error(err)
	}
}

func TestReportsThatNoDeviceSends(t *testing.T) {
	for _, c := range [][2]string{
		{`"question"`, `"note":1,"question"`},
		{`"question":"a<b"`, `"question":"a<b","question":"a<b"`},
		{`"report":"0280"`, `"report":"028"`},
		{`"report":"0280"`, `"report":"02zz"`},
		{`"report":"0280"`, `"report":640`},
		{`"token":"00112233445566778899aabbccddeeff"`, `"token":"00112233445566778899aabbccddee"`},
		{`ddeeff`, `ddeeFF`},
		{`"token":"00112233445566778899aabbccddeeff"`, `"token":""`},
		{`abcdef"`, `abcde"`},
		{`"collector"`, `"Collector"`},
		{`"collector":"0123456789abcdef",`, ``},
	} {
		text := strings.Replace(line, c[0], c[1], 1)
		var r client.Report
		if err := json.Unmarshal([]byte(text), &r); err == nil || text == line {
			t.Errorf("%s is accepted", text)
		}
	}
}

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
