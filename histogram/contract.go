package histogram

// This file holds the breach of a table's contract: a value that its column may
// not hold, told without the value.

import (
	"fmt"
	"io"
	"strings"

	"github.com/dprelease/dprelease/spec"
)

// breachLimit is how many breaches are collected before reading stops.
const breachLimit = 100

// Kinds of breach beside those of [spec.Fit].
const (
	kindNull   = "null"
	kindNullID = "null id"
)

// breach is one value that breaks its table's contract. File, Row (from 1) and
// Value are for the operator's own file of mode 0600 alone.
type breach struct {
	Table, Column, Kind, File string
	Row                       int64
	Value                     string
}

// Format shows table, column and kind under every verb.
func (b breach) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "%s.%s: %s", b.Table, b.Column, b.Kind)
}

// MarshalJSON shows what Format shows.
func (b breach) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%q", fmt.Sprint(b)), nil }

// ContractError says that a table does not meet its contract. Nothing has been
// debited when it is found. It names the first breach in reading order, and
// never a value, a row or a count.
type ContractError struct {
	Table, Column, Kind string
	// breaches is a function because package fmt, under verbs that are not for
	// errors, prints every field of a wrapped error but sees only an address here.
	breaches func() []breach
}

// newContractError tells breaches, of which there is at least one.
func newContractError(breaches []breach) *ContractError {
	first := breaches[0]
	return &ContractError{Table: first.Table, Column: first.Column, Kind: first.Kind, breaches: func() []breach { return breaches }}
}

// Error is a sentence with what to do.
func (e *ContractError) Error() string {
	what, remedy := "a value is "+e.Kind, "correct the data, add the value to the domain, or set unknown: drop or unknown: {as: CATEGORY}"
	switch e.Kind {
	case kindNull:
		remedy = "correct the data, or set null: drop or null: {as: CATEGORY}"
	case kindNullID:
		what, remedy = "the id of a unit is null", "correct the data; every row must say which unit it belongs to"
	case spec.WrongType.String():
		remedy = "correct the type of the column in the data or in the spec"
	}
	return fmt.Sprintf("%s.%s: %s; %s", e.Table, e.Column, what, remedy)
}

// Format keeps every verb of package fmt to what Error says.
func (e *ContractError) Format(s fmt.State, _ rune) { io.WriteString(s, e.Error()) }

// WriteDiagnostics writes the breaches found, at most the first 100 in reading
// order: table, column, kind, file, row from 1 and value, tab-separated with
// Go-quoted texts. The text is confidential.
func (e *ContractError) WriteDiagnostics(w io.Writer) error {
	var b strings.Builder
	b.WriteString("table\tcolumn\tkind\tfile\trow\tvalue\n")
	for _, x := range e.breaches() {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%q\t%d\t%q\n", x.Table, x.Column, x.Kind, x.File, x.Row, x.Value)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
