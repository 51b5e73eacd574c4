// Package expression is the small language in which a spec computes a column from other columns, row by row: age >= 18,
// days(discharged - admitted), recode(sex, {'1': 'male', '2': 'female'}).
//
// It owns the way from text to values: it turns a text into a checked [Expression], and that into a [Program] that
// evaluates many rows at once. The language is total: types, ranges and nulls are checked when the text is read, so
// that no expression can fail on a row. Numbers are exact: every number is a multiple of a power of ten within 62 bits,
// and an expression that could leave this range is refused. null means not known: it spreads through everything but
// and, or, if, case, coalesce and is_null.
//
// It never reads a file and never sees a column: package histogram reads the values as [Input] describes.
//
//	e, err := expression.Parse("age >= 18", nil)
//	e.Inputs() // age, any number
//	e.Type()   // boolean
package expression
