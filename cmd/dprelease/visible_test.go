package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	var b strings.Builder
	const text = "ε ≤ 1\tis\nfine\x1b[8m\r\u202e\u009b"
	if n, err := fmt.Fprint(visibleWriter{&b}, text); err != nil || n != len(text) {
		t.Errorf("%d, %v", n, err)
	}
	if want := "ε ≤ 1\tis\nfine" + `\x1b[8m\r\u202e\u009b`; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
