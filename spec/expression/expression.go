package expression

// This file holds Expression: a parsed and checked text, and the columns of the source that it reads.

import (
	"math/big"
)

// Type describes the values of an expression. Low and High bound numbers (multiples of 10^-DecimalPlaces, counted in
// this unit), dates (in days) and timestamps (in microseconds since 1970-01-01).
type Type struct {
	Kind          Kind
	DecimalPlaces int
	Low, High     int64
	// areRanks reports that the values are ranks: 2⌊x·10^DecimalPlaces⌋, or 1 more where x·10^DecimalPlaces is no
	// integer. Ranks compare with each other and with multiples of 10^-DecimalPlaces as the numbers x do; nothing else
	// is known of x.
	areRanks bool
}

// Reading is the way in which the values of a column are read.
type Reading int

// The readings. AnyNumber is a number that is compared with constants alone, and read as a rank: 2⌊x·10^DecimalPlaces⌋,
// or 1 more where x·10^DecimalPlaces is no integer. FixedNumber is a multiple of 10^-DecimalPlaces, read as so many.
// AsDay is the day of a date or timestamp.
const (
	AnyNumber Reading = iota
	FixedNumber
	AsText
	AsBoolean
	AsDate
	AsDay
	AsTimestamp
	AsAnything // only whether it is null matters
)

// MaxUnits bounds the magnitude of a number that is read, counted in 10^-DecimalPlaces. A number beyond it is refused
// as a FixedNumber and as a Bounded AnyNumber; any other AnyNumber beyond it is read as the bound.
const MaxUnits = 1 << 61

// Input is a column that an expression reads: a column of the source or, where Table is not "", of a public table that
// the source is joined to.
type Input struct {
	Table, Name   string
	Reading       Reading
	DecimalPlaces int
	Bounded       bool
}

// Column is what a spec declares about a column of the source, for columns whose kind the expression leaves open. Kind
// Unknown means that nothing is declared. DecimalPlaces counts the decimal places of numbers; it is −1 where it is not
// known.
type Column struct {
	Kind          Kind
	DecimalPlaces int
}

// Expression is a checked expression. It is immutable and safe for concurrent use.
type Expression struct {
	text   string
	root   *node
	inputs []Input
}

// Text returns the expression as it was written.
func (e *Expression) Text() string { return e.text }

// Inputs returns the columns that the expression reads, each once, in the order of the text.
func (e *Expression) Inputs() []Input { return e.inputs }

// Type returns the type of the expression's values.
func (e *Expression) Type() Type { return e.root.typ }

// Equal reports whether two expressions have the same text.
func (e *Expression) Equal(other *Expression) bool {
	return e == other || e != nil && other != nil && e.text == other.text
}

// Parse reads and checks an expression. declared returns what the spec declares about a column of the source; it may be
// nil. The error is an *[Error].
func Parse(text string, declared func(table, name string) Column) (*Expression, error) {
	e, err := parseAndCheck(text, declared)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func parseAndCheck(text string, declared func(table, name string) Column) (*Expression, *Error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	if declared == nil {
		declared = func(string, string) Column { return Column{} }
	}
	f := &kindFinder{text: text, columns: map[[2]string]*kindVariable{}}
	if err := f.inferKinds(root); err != nil {
		return nil, err
	}
	c := &typeChecker{kindFinder: f, declared: declared, inputIndex: map[[2]string]int{}}
	if err := c.decideReadings(root); err != nil {
		return nil, err
	}
	if len(c.inputs) == 0 {
		return nil, &Error{At: root.at, End: root.end, Message: f.quoteSource(root) + " is the same in every row",
			Expected: "an expression of at least one column; a text stands in quotes, a column does not"}
	}
	if err := c.checkNode(root); err != nil {
		return nil, err
	}
	if root.typ.areRanks {
		return nil, c.ambiguousPlaces(root)
	}
	if root.typ.Kind == Unknown {
		return nil, &Error{At: root.at, End: root.end, Message: f.quoteSource(root) + " is null in every row",
			Expected: "an expression with a value"}
	}
	return &Expression{text: text, root: root, inputs: c.inputs}, nil
}

// maxNumber is the largest magnitude that a number may have, counted in its places.
const maxNumber = 1 << 62

// isWithinRange reports whether x is within ±maxNumber.
func isWithinRange(x *big.Int) bool { return x.CmpAbs(big.NewInt(maxNumber)) <= 0 }
