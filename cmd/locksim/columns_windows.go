package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// terminalColumns returns the width of a console's window; 0 if the file is none.
func terminalColumns(f *os.File) int {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info); err != nil {
		return 0
	}
	return int(info.Window.Right) - int(info.Window.Left) + 1
}
