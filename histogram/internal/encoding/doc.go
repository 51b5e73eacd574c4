// Package encoding turns the raw values of columns into codes, over a column's declared domain or over the indexes of
// its lattice.
//
// It owns what follows from a row's own values: the values of computed columns (expressions, public tables that are
// joined, grids), the policies for unknown values and for nulls, and the marks of rows that are left out or break
// their column's contract. The code of a row is a function of its own values and of what is public. It looks at no
// other row, counts nothing, and reads and writes no file.
package encoding
