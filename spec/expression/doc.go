// Package expression is the small language in which a spec says how the values of a column are made of those of others,
// row by row: age >= 18, days(discharged - admitted), recode(sex, {'1': 'male', '2': 'female'}).
//
// It owns the way from text to a checked [Expression] and to a [Program] that evaluates it for many rows at once. The
// language is total: types, ranges and nulls are checked when the text is read, so that no expression can fail on a
// row. Numbers are exact: all are multiples of a power of ten within 62 bits, and what could leave them is refused.
// null is not known: it spreads through everything but and, or, if, case, coalesce and is_null.
//
// It never reads a file, and knows no value of a column: those are read by package histogram as [Input] says.
//
//	e, err := expression.Parse("age >= 18", nil)
//	e.Inputs() // age, any number
//	e.Type()   // boolean
package expression
