package domain

// This file holds the types of columns.

// Type is the type of a column's values.
type Type string

// The types of a column.
const (
	Text      Type = "text"
	Integer   Type = "integer"
	Decimal   Type = "decimal"
	Date      Type = "date"
	Timestamp Type = "timestamp"
	Boolean   Type = "boolean"
)
