package main

import (
	"io"
	"os"
	"strconv"

	"github.com/dprelease/dprelease/internal/screen"
)

// This file holds what is known of where the output goes: whether that is a terminal, how wide it is, and what it
// shows.

// defaultColumns is how wide a page is where nothing says it.
const defaultColumns = 80

// columnsOf is how wide a terminal is, and false of what is none; 0 where it does not say.
func columnsOf(w io.Writer) (columns int, terminal bool) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	return windowColumns(f)
}

// look is how a page is set on an output: as wide as COLUMNS says, else as the terminal is; in colour on a terminal
// alone, and never where NO_COLOR is set or the terminal is dumb. In a pipe or a file no table is cut, unless COLUMNS
// asks for that.
func look(w io.Writer) screen.Look {
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
