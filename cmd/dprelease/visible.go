package main

import (
	"io"

	"github.com/dprelease/dprelease/internal/screen"
)

// visible writes text that comes from somebody else's folder.
type visible struct{ to io.Writer }

func (v visible) Write(p []byte) (int, error) {
	if _, err := io.WriteString(v.to, screen.Visible(string(p), "\n\t")); err != nil {
		return 0, err
	}
	return len(p), nil
}
