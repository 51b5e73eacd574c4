package source

// This file holds Column and Coder, which describe the wanted columns of a table.

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow"
)

// Column is a column to read: as codes if Coder is set, and as values if not. One source column may be wanted several
// times, as codes and as values.
type Column struct {
	Name      string
	Coder     Coder
	MaxLength int // largest length of a text in bytes; 0 means MostText
	// Type, if set, is the type of the values. If it is not text, a column of texts is refused in a format that has
	// types. A value given by the name of a folder is parsed as this type.
	Type domain.Type
}

// checkType returns an error if a file has texts in a column for which the spec gives another type.
func (c Column) checkType(file string, has arrow.DataType) error {
	if c.Type == "" || c.Type == domain.Text || !isText(has) {
		return nil
	}
	return &Error{Kind: WrongType, File: file, Column: c.Name, Message: fmt.Sprintf(
		"holds texts, and the spec says type: %s; write the column as what it is, or have its texts read, by from: \"= %s\"",
		c.Type, c.castExpression())}
}

// plainName matches a name that an expression takes without backticks.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// castExpression returns the expression that reads the texts of the column as its type.
func (c Column) castExpression() string {
	name := c.Name
	if !plainName.MatchString(name) {
		name = "`" + name + "`"
	}
	if c.Type == domain.Decimal {
		name += ", 2"
	}
	return string(c.Type) + "(" + name + ")"
}

// Coder assigns a code to each value of a column. Several goroutines use it at once.
type Coder interface {
	// Width returns the number of bytes of a code: 1, 2 or 4.
	Width() int
	// Codes writes the code of each entry of values, which fits into Width bytes, to codes of the same length. values
	// is a String, LargeString (a UUID as its canonical text), Int64, Float64, Decimal128, Boolean, Date32 or Timestamp
	// array in microseconds. A null has the code of null. A Coder must not retain either argument, nor a text of
	// values. The entries need not be rows: a dictionary entry that no row refers to is coded as well, and equal rows
	// may be coded once.
	Codes(values arrow.Array, codes []uint32)
}

// valuesOf returns the columns without their coders.
func valuesOf(columns []Column) []Column {
	out := slices.Clone(columns)
	for i := range out {
		out[i].Coder = nil
	}
	return out
}
