// Package domain is what the values of a column can be: their type, and a public, ordered set of base cells with its
// levels, or a lattice on which numbers lie.
//
// It owns how a spec declares that (categories, code books with the maps of their places, ranges, grids, categories that
// nobody lists) and how every raw value meets it, exactly: as the code of a cell, as a place on the lattice, as a cell of
// an axis, or as a number that an expression takes. A value that does not fit is a Fit, and never an error that holds it.
//
// It knows no tables, no rules between columns, and not what happens to values that do not fit: those are package
// spec's. It reads no confidential file; code books and maps come from the set of public files that it is handed.
//
// A Reader reads the columns of one release, one after another, and bounds what they take together:
//
//	declared := domain.NewReader(findings, files, params).Read(column)
//	band, _ := declared.Domain.Level("band")
//	code, fit := declared.Domain.CodeOfText("64")
//	fmt.Println(code, fit, band.Categories[band.Category(code)].Code)
package domain
