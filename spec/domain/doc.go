// Package domain describes what the values of a column can be: their type, and a public, ordered set of base cells with
// its levels, or a lattice to which numbers are rounded.
//
// It owns how a spec declares them (categories, code books with maps of their places, ranges, grids, categories that
// nobody lists) and how every raw value is mapped, exactly: to the code of a cell, to an index on the lattice, to a
// cell of an axis, or to a number that an expression takes. A value that does not fit yields a Fit, never an error that
// contains the value.
//
// It knows no tables and no rules between columns, and does not decide what happens to values that do not fit: package
// spec does. It reads no confidential file; code books and maps come from the set of public files that it is given.
//
// A Reader reads the columns of one release, one after another, and bounds the memory that they take together:
//
//	declared := domain.NewReader(findings, files, params).Read(column)
//	band, _ := declared.Domain.Level("band")
//	code, fit := declared.Domain.CodeOfText("64")
//	fmt.Println(code, fit, band.Categories[band.Category(code)].Code)
package domain
