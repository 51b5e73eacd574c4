package respondent

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const line = `{"collector":"0123456789abcdef","token":"00112233445566778899aabbccddeeff",` +
	`"question":"a<b","report":"0280"}`

func TestReportsAreLines(t *testing.T) {
	r, ok := parseLine([]byte(line))
	if !ok || r.Collector != "0123456789abcdef" || len(r.Token) != 16 || r.Token[1] != 0x11 || r.Question != "a<b" ||
		string(r.Bytes) != "\x02\x80" {
		t.Errorf("%+v", r)
	}
	escaped, err := json.Marshal(r)
	if err != nil || string(escaped) != strings.Replace(line, "<", `\u003c`, 1) {
		t.Errorf("%s: %v", escaped, err)
	}
	for _, text := range []string{string(escaped), " " + strings.Replace(line, ",", ", ", 1)} {
		if again, ok := parseLine([]byte(text)); !ok || !reflect.DeepEqual(again, r) {
			t.Errorf("%s is read as %+v", text, again)
		}
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
		{`"question":"a<b"`, `"question":"\u0061<b"`},
		{`"0280"}`, `"0280"}{}`},
	} {
		text := strings.Replace(line, c[0], c[1], 1)
		if _, ok := parseLine([]byte(text)); ok || text == line {
			t.Errorf("%s is accepted", text)
		}
	}
}
