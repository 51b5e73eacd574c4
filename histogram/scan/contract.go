package scan

// This file holds the breach of a table's contract: a value that its column may not hold, or a rule of completeness
// that its files do not meet. A breach is reported without the value, the code or the number.

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/spec/domain"
)

const (
	// breachLimit is how many breaches are collected before reading stops.
	breachLimit = 100
	// columnLimit is how many breaches of one column and kind are collected, so that one bad column does not hide
	// another.
	columnLimit = 20
)

// Kinds of breach in addition to those of misfits.
const (
	kindNullID = "null id"
	kindRows   = "expect rows"
	kindEvery  = "expect every"
	// kindNone is the breach of a table all of whose rows are left out.
	kindNone = "no row counts"
	// kindImpossible is the breach of a row that `impossible` rules out.
	kindImpossible = "impossible"
)

// breach is one value that breaks its table's contract, or one that is missing from the table. File, Row (from 1; 0
// if the breach is of no row) and Value are only for the operator's own file of mode 0600. Column is an attribute if
// Kind is kindEvery, several attributes if it is kindImpossible, and "" if it is kindRows or kindNone.
type breach struct {
	Table, Column, Kind, File string
	Row                       int64
	Value                     string
	ofWhere                   bool // Column stands for the condition of the table
	leavesOut                 bool // a rule of the spec can leave rows of the table out
	everywhere                bool // Kind holds for every value of the column
}

// Format shows table, column and kind under every verb.
func (b breach) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "%s: %s", b.tableAndColumn(), b.Kind)
}

// tableAndColumn returns the table, and the column if the breach is of one.
func (b breach) tableAndColumn() string {
	if b.Column == "" {
		return b.Table
	}
	return b.Table + "." + b.Column
}

// MarshalJSON shows what Format shows.
func (b breach) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%q", fmt.Sprint(b)), nil }

// ContractError reports that a table does not meet its contract. Nothing has been debited when it is found. Table,
// Column and Kind describe the first breach in reading order, values before rules of completeness. It never shows a
// value, a row or a count.
type ContractError struct {
	Table, Column, Kind string
	// breaches is a function because package fmt, under verbs that are not for
	// errors, prints every field of a wrapped error but sees only an address here.
	breaches func() []breach
}

// newContractError returns the error for one or more breaches.
func newContractError(breaches []breach) *ContractError {
	first := breaches[0]
	return &ContractError{Table: first.Table, Column: first.Column, Kind: first.Kind,
		breaches: func() []breach { return breaches }}
}

// Error returns a sentence with what to do for each column and kind of breach found, in reading order.
func (e *ContractError) Error() string {
	var lines []string
	seen := map[[2]string]bool{}
	for _, b := range e.breaches() {
		if what := [2]string{b.Column, b.Kind}; !seen[what] {
			seen[what] = true
			lines = append(lines, b.sentence())
		}
	}
	return strings.Join(lines, "\n")
}

// Incomplete reports whether only rules of completeness are breached, as in files that are still being delivered.
func (e *ContractError) Incomplete() bool {
	return !slices.ContainsFunc(e.breaches(), func(b breach) bool { return b.Kind != kindRows && b.Kind != kindEvery })
}

// writtenAs says, by kind of breach, how to write values that a column of the spec reads from texts.
var writtenAs = map[string]string{
	domain.NotANumber.String(): "numbers are written with a decimal point, such as 1234.5, and dates with " +
		"the year first, such as 2026-01-31",
	"not a " + string(domain.Date):      "dates are written as 2026-01-31, year first",
	"not a " + string(domain.Timestamp): "timestamps are written as 2026-01-31T23:59:59",
}

// sentence returns what the breach is and what to do, without the value.
func (b breach) sentence() string {
	what, remedy := "a value is "+b.Kind,
		"correct the data, add the value to the domain, or set unknown: drop or unknown: {as: CATEGORY}"
	if b.everywhere {
		what, remedy = "no value is "+strings.TrimPrefix(b.Kind, "not "),
			"correct the data, or the type of the column in the spec"
		if written := writtenAs[b.Kind]; written != "" {
			remedy = written + ": " + remedy
		}
		return fmt.Sprintf("%s: %s; %s", b.tableAndColumn(), what, remedy)
	}
	switch b.Kind {
	case encoding.KindNull:
		remedy = "correct the data, or set null: drop or null: {as: CATEGORY}"
	case kindNullID:
		what = "the id of a unit is null"
		remedy = "correct the data: every row says which unit it belongs to; or leave such rows out, in the spec by " +
			"unit: {id: " + b.Column + ", null: drop, …}"
	case kindRows:
		what, remedy = "the number of rows is outside `expect: {rows: …}`", "complete the files or, if they are "+
			"complete, write a wide range in round numbers from what is publicly known (docs/errors.md)"
		if b.leavesOut {
			what = "after rows were left out, " + what
		}
	case kindNone:
		what, remedy = "every row is left out, by a policy (unknown: drop, null: drop), `impossible`, a null id or a "+
			"missing parent row: nothing would be counted", "correct the data or the spec"
	case kindEvery:
		what, remedy = "not every declared code occurs, as `expect: {every: …}` asks",
			"complete the files, or correct the rule"
	case kindImpossible:
		what, remedy = "a row has categories that `impossible` rules out",
			"correct the data or the entry, or set rows: drop"
	case domain.WrongType.String():
		remedy = "correct the type of the column in the data or in the spec"
	default:
		if b.ofWhere {
			remedy = "correct the data, or leave such rows out by where: {is: …, unknown: drop}"
		} else if written := writtenAs[b.Kind]; written != "" {
			remedy = written + ": correct the data, or set unknown: drop or unknown: {as: CATEGORY}"
		}
	}
	return fmt.Sprintf("%s: %s; %s", b.tableAndColumn(), what, remedy)
}

// appendBreaches appends the breaches of a record to those found before, up to the limit for each column and kind. A
// value that breaks the contract at several levels of its column is appended once.
func appendBreaches(found, more []breach) []breach {
	kept := map[[2]string]int{}
	for _, b := range found {
		kept[[2]string{b.Column, b.Kind}]++
	}
	for _, b := range more {
		if what := [2]string{b.Column, b.Kind}; kept[what] < columnLimit && !slices.Contains(found, b) {
			kept[what]++
			found = append(found, b)
		}
	}
	return found
}

// Format makes every verb of package fmt print the sentences of Error and nothing else.
func (e *ContractError) Format(s fmt.State, _ rune) { io.WriteString(s, e.Error()) }

// WriteDiagnostics writes the breaches found: at most the first 100 values in reading order and then, if all rows
// were read and `expect` is not met, the number of rows and the first codes that are missing. A line has table,
// column, kind, file, row from 1 and value, tab-separated, with file and value as quoted Go strings. The text is
// confidential.
func (e *ContractError) WriteDiagnostics(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# at most the first %d of each column and kind; row 1 is the first after the header, row 0 "+
		"stands for no row\n", columnLimit)
	b.WriteString("table\tcolumn\tkind\tfile\trow\tvalue\n")
	for _, x := range e.breaches() {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%q\t%d\t%q\n", x.Table, x.Column, x.Kind, x.File, x.Row, x.Value)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
