package source

// This file holds Column and Coder: what is wanted of a table's columns.

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow"
)

// Column is a column to read: as codes where Coder is set, else as its values
// are. One source column may be wanted several times, as codes and as values.
type Column struct {
	Name  string
	Coder Coder
	Most  int // bytes of a text; 0: MostText
	// Type, where set, is the type of the values, and not text: a column of texts is refused where the format has types.
	// A value that is the name of a folder is parsed as this type.
	Type domain.Type
}

// checkType returns an error where a file has texts in a column of another type.
func (c Column) checkType(file string, has arrow.DataType) error {
	if c.Type == "" || c.Type == domain.Text || !isText(has) {
		return nil
	}
	return &Error{Kind: WrongType, File: file, Column: c.Name, Message: fmt.Sprintf(
		"holds texts, and the spec says type: %s; write the column as what it is, or have its texts read, by from: \"= %s\"",
		c.Type, c.reading())}
}

// plainName is a name that an expression takes without backticks.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reading is the expression that reads the texts of the column as its type.
func (c Column) reading() string {
	name := c.Name
	if !plainName.MatchString(name) {
		name = "`" + name + "`"
	}
	if c.Type == domain.Decimal {
		name += ", 2"
	}
	return string(c.Type) + "(" + name + ")"
}

// Coder says which code each value of a column has. It is used by several
// goroutines at once.
type Coder interface {
	// Width is the bytes of a code: 1, 2 or 4.
	Width() int
	// Codes writes the code of each entry of values, which fits into Width bytes,
	// to codes of the same length. values is a String, LargeString (a UUID as its
	// canonical text), Int64, Float64, Decimal128, Boolean, Date32 or Timestamp
	// array in microseconds; a null has the code of null. Neither argument, nor text of values, may be
	// held. The entries need not be rows: an entry of a dictionary that no row
	// refers to is coded as well, and equal rows may be coded once.
	Codes(values arrow.Array, codes []uint32)
}

// valuesOf is columns without their coders.
func valuesOf(columns []Column) []Column {
	out := slices.Clone(columns)
	for i := range out {
		out[i].Coder = nil
	}
	return out
}
