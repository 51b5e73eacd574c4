//go:build !windows

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// windowColumns returns the width of a terminal, and false for any other file.
func windowColumns(f *os.File) (int, bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
