package main

import (
	"io"
	"os"
	"strconv"

	"github.com/dprelease/dprelease/internal/screen"
)

// This file finds out about the output: whether it is a terminal, how wide it is, and what it can show.

// defaultColumns is the width of a page if nothing specifies it.
const defaultColumns = 80

// columnsOf returns the width of a terminal, 0 if it does not say, and whether w is a terminal.
func columnsOf(w io.Writer) (columns int, terminal bool) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	return windowColumns(f)
}

// lookOf returns how a page is set on an output: as wide as COLUMNS says, else as the terminal is; in colour on a
// terminal only, and never if NO_COLOR is set or the terminal is dumb. In a pipe or a file no table is cut, unless
// COLUMNS asks for it.
func lookOf(w io.Writer) screen.Look {
	columns, terminal := columnsOf(w)
	whole := !terminal
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		columns, whole = n, false
	}
	if columns == 0 {
		columns = defaultColumns
	}
	return screen.Look{Columns: columns, Whole: whole, Color: terminal && os.Getenv("NO_COLOR") == "" &&
		os.Getenv("TERM") != "dumb"}
}
