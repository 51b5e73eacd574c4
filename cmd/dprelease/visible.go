package main

import (
	"io"
	"strconv"
	"strings"
	"unicode"
)

// visible writes text that comes from somebody else's folder: what a terminal would
// obey instead of showing is written as an escape.
type visible struct{ to io.Writer }

func (v visible) Write(p []byte) (int, error) {
	var b strings.Builder
	for _, c := range string(p) {
		if c == '\n' || c == '\t' || unicode.IsGraphic(c) {
			b.WriteRune(c)
			continue
		}
		quoted := strconv.QuoteRune(c)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	if _, err := io.WriteString(v.to, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
