// Package canonical writes values as JSON in the forms that files of a release, of a ledger and of the program's output
// have: fields in declared order, so that equal values are equal bytes and can be hashed, signed and compared.
package canonical

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Line returns a value on one line, without white space and without a newline at its end.
func Line(v any) (string, error) {
	b, err := encoded(v, "")
	return strings.TrimSuffix(string(b), "\n"), err
}

// Indented returns a value indented by two spaces, with a newline at its end, as files have it that people read too.
func Indented(v any) ([]byte, error) { return encoded(v, "  ") }

// Escaped is [Indented] with the characters <, > and & as escapes: the form of records of debits and of what commands
// print, which pages may embed.
func Escaped(v any) ([]byte, error) {
	b, err := Indented(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	json.HTMLEscape(&out, b)
	return out.Bytes(), nil
}

// Must returns what one of the writers returned of a value that always encodes. It panics on an error.
func Must(b []byte, err error) []byte {
	if err != nil {
		panic("canonical: " + err.Error())
	}
	return b
}

func encoded(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}
