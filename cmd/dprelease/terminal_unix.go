//go:build !windows

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// windowColumns is how wide the terminal is that a file is.
func windowColumns(f *os.File) (int, bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
