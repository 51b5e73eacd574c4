package expression

// This file holds Expression: a text that has been read and checked, and what it reads of the source.

import (
	"math/big"
)

// Type is what the values of an expression are. Low and High bound those of numbers (which are multiples of 10^-Places,
// and counted in these), dates (in days) and timestamps (in microseconds since 1970-01-01).
type Type struct {
	Kind      Kind
	Places    int
	Low, High int64
	// ranks: the values are 2⌊x·10^Places⌋, or 1 more where x·10^Places is no integer. They are ordered among themselves
	// and against multiples of 10^-Places as the numbers are, of which nothing else is known.
	ranks bool
}

// Reading says how the values of a column are read.
type Reading int

// The readings. AnyNumber is a number that is compared with constants alone, and read as a rank: 2⌊x·10^Places⌋, or 1
// more where x·10^Places is no integer. FixedNumber is a multiple of 10^-Places, read as so many. AsDay is the day of a
// date or timestamp.
const (
	AnyNumber Reading = iota
	FixedNumber
	AsText
	AsBoolean
	AsDate
	AsDay
	AsTimestamp
	AsAnything // of which only matters whether it is null
)

// MaxUnits bounds what is read as a number, counted in 10^-Places. Beyond it a FixedNumber does not fit, nor does an
// AnyNumber that is Bounded; any other stands for all that lie beyond.
const MaxUnits = 1 << 61

// Input is a column that an expression reads: of the source or, where Table is not "", of a public table that it is
// joined to.
type Input struct {
	Table, Name string
	Reading     Reading
	Places      int
	Bounded     bool
}

// Column is what a spec declares of a column of the source, for those whose kind an expression does not say: Kind
// Unknown for nothing. Places is that of numbers, −1 where it is not known.
type Column struct {
	Kind   Kind
	Places int
}

// Expression is a checked expression. It is immutable and safe for concurrent use.
type Expression struct {
	text   string
	root   *node
	inputs []Input
}

// Text is the expression as it was written.
func (e *Expression) Text() string { return e.text }

// Inputs are the columns that the expression reads, each once, in the order of the text.
func (e *Expression) Inputs() []Input { return e.inputs }

// Type is what its values are.
func (e *Expression) Type() Type { return e.root.of }

// Equal tells that two expressions are the same.
func (e *Expression) Equal(other *Expression) bool {
	return e == other || e != nil && other != nil && e.text == other.text
}

// Parse reads and checks an expression. declared is what the spec says of columns of the source; it may be nil. The
// error is *[Error].
func Parse(text string, declared func(table, name string) Column) (*Expression, error) {
	e, err := read(text, declared)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func read(text string, declared func(table, name string) Column) (*Expression, *Error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	if declared == nil {
		declared = func(string, string) Column { return Column{} }
	}
	f := &finder{text: text, columns: map[[2]string]*variable{}}
	if err := f.find(root); err != nil {
		return nil, err
	}
	c := &checker{finder: f, declared: declared, at: map[[2]string]int{}}
	if err := c.readings(root); err != nil {
		return nil, err
	}
	if len(c.inputs) == 0 {
		return nil, &Error{At: root.at, End: root.end, Message: f.source(root) + " is the same in every row",
			Expected: "an expression of at least one column; a text stands in quotes, a column does not"}
	}
	if err := c.check(root); err != nil {
		return nil, err
	}
	if root.of.ranks {
		return nil, c.ambiguous(root)
	}
	if root.of.Kind == Unknown {
		return nil, &Error{At: root.at, End: root.end, Message: f.source(root) + " is null in every row",
			Expected: "an expression with a value"}
	}
	return &Expression{text: text, root: root, inputs: c.inputs}, nil
}

// most is the most that a number may be, counted in its places.
const most = 1 << 62

// within tells that a number fits.
func within(x *big.Int) bool { return x.CmpAbs(big.NewInt(most)) <= 0 }
