package main

import (
	"io"

	"github.com/dprelease/dprelease/internal/screen"
)

// visibleWriter escapes what a terminal would obey or hide in texts that somebody else wrote.
type visibleWriter struct{ to io.Writer }

func (v visibleWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(v.to, screen.Visible(string(p), "\n\t")); err != nil {
		return 0, err
	}
	return len(p), nil
}
