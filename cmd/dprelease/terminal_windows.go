package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// windowColumns is how wide the console is that a file is.
func windowColumns(f *os.File) (int, bool) {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info); err != nil {
		return 0, false
	}
	return int(info.Window.Right-info.Window.Left) + 1, true
}
