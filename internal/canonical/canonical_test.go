package canonical

import "testing"

func TestForms(t *testing.T) {
	v := struct {
		B string         `json:"b"`
		A map[string]int `json:"a"`
	}{"x < y & z\u2028", map[string]int{"q": 2, "p": 1}}
	line, err := Line(v)
	if want := `{"b":"x < y & z\u2028","a":{"p":1,"q":2}}`; line != want || err != nil {
		t.Errorf("line: %s, %v", line, err)
	}
	indented, err := Indented(v)
	want := "{\n  \"b\": \"x < y & z\\u2028\",\n  \"a\": {\n    \"p\": 1,\n    \"q\": 2\n  }\n}\n"
	if string(indented) != want || err != nil {
		t.Errorf("indented: %s, %v", indented, err)
	}
	escaped, err := Escaped(v)
	want = "{\n  \"b\": \"x \\u003c y \\u0026 z\\u2028\",\n  \"a\": {\n    \"p\": 1,\n    \"q\": 2\n  }\n}\n"
	if string(escaped) != want || err != nil {
		t.Errorf("escaped: %s, %v", escaped, err)
	}
}

func TestWhatHasNoJSONIsRefused(t *testing.T) {
	if _, err := Line(func() {}); err == nil {
		t.Error("a function has a line")
	}
	if _, err := Escaped(func() {}); err == nil {
		t.Error("a function is escaped")
	}
}
