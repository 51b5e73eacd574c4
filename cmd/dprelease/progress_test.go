package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/histogram"
)

// What is shown is a line that is replaced, after half a second, and that is gone when
// anything else is written.
func TestProgressLine(t *testing.T) {
	var seen bytes.Buffer
	l := &progressLine{to: &seen, terminal: true}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	after := func(d time.Duration, rows, all int64) string {
		seen.Reset()
		l.show(histogram.Progress{Table: "persons", Rows: rows, All: all}, start.Add(d))
		return seen.String()
	}
	if s := after(0, 1e6, 101e6); s != "" {
		t.Errorf("at once: %q", s)
	}
	if s := after(400*time.Millisecond, 5e6, 101e6); s != "" {
		t.Errorf("after 0.4 s: %q", s)
	}
	if s, want := after(2*time.Second, 21e6, 101e6), clearLine+"counting persons: 20 %, 10.0 million rows a second, 8s left"; s != want {
		t.Errorf("got %q, want %q", s, want)
	}
	if s, want := after(4*time.Second, 41e6, -1), clearLine+"counting persons: 41.0 million rows, 10.0 million a second"; s != want {
		t.Errorf("got %q, want %q", s, want)
	}
	seen.Reset()
	fmt.Fprint(l, "a warning\n")
	fmt.Fprint(l, "another\n")
	l.end()
	if s, want := seen.String(), clearLine+"a warning\nanother\n"; s != want {
		t.Errorf("got %q, want %q", s, want)
	}
	if s := after(5*time.Second, 1, -1); s != "" {
		t.Errorf("at once after beginning again: %q", s)
	}
	if s, want := after(7*time.Second, 2_000_001, -1), clearLine+"counting persons: 2.0 million rows, 1.0 million a second"; s != want {
		t.Errorf("got %q, want %q", s, want)
	}
	seen.Reset()
	if l.end(); seen.String() != clearLine {
		t.Errorf("the end leaves %q", seen.String())
	}
}

// The line says when a release is written, which has a speed of its own.
func TestProgressOfWriting(t *testing.T) {
	var seen bytes.Buffer
	l := &progressLine{to: &seen, terminal: true}
	l.show(histogram.Progress{Table: "trips", Rows: 1e6, All: 9e6}, time.Unix(0, 0))
	for second, rows := range []int64{1e6, 3e6} {
		seen.Reset()
		l.show(histogram.Progress{Table: "trips", Writing: true, Rows: rows, All: 11e6}, time.Unix(int64(10+second), 0))
	}
	if s, want := seen.String(), clearLine+"writing trips: 27 %, 2.0 million rows a second, 4s left"; s != want {
		t.Errorf("got %q, want %q", s, want)
	}
}

// Of two readings each has a speed and an end of its own, and neither shows more rows than there are.
func TestProgressOfTwoReadings(t *testing.T) {
	var seen bytes.Buffer
	l := &progressLine{to: &seen, terminal: true}
	for _, c := range []struct {
		second    int64
		reading   int
		rows, all int64
		want      string
	}{
		{0, 1, 1e6, -1, ""},
		{10, 1, 101e6, -1, "counting persons, reading 1 of 2: 101.0 million rows, 10.0 million a second"},
		{11, 2, 1e6, 110e6, ""},
		{16, 2, 11e6, 110e6, "counting persons, reading 2 of 2: 10 %, 2.0 million rows a second, 50s left"},
		{66, 2, 111e6, 110e6, "counting persons, reading 2 of 2: 100 %, 2.0 million rows a second, 0s left"},
	} {
		seen.Reset()
		l.show(histogram.Progress{Table: "persons", Reading: c.reading, Readings: 2, Rows: c.rows, All: c.all}, time.Unix(c.second, 0))
		if got := strings.TrimPrefix(seen.String(), clearLine); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A file is no terminal, and nothing of the progress gets there.
func TestProgressStaysOnTheTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := newProgressLine(f)
	for second := range 5 {
		l.show(histogram.Progress{Table: "persons", Rows: int64(second) * 7319, All: 7319000}, time.Unix(int64(second), 0))
	}
	l.end()
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%v bytes are in the file, %v", info.Size(), err)
	}
	if isTerminal(&bytes.Buffer{}) {
		t.Error("a buffer is taken for a terminal")
	}
}

func TestMemorySize(t *testing.T) {
	for text, want := range map[string]int64{"4000000": 4e6, "500MB": 500e6, "8GiB": 8 << 30, "1.5KiB": 1536, "2TB": 2e12, "7B": 7} {
		var m memorySize
		if err := m.Set(text); err != nil || int64(m) != want {
			t.Errorf("%s: %d, %v", text, m, err)
		}
	}
	for _, text := range []string{"", "0", "-1GB", "many", "1e9", "8 GiB", "8G", "1/2GB", "9999999999TB", "0.1B", "MB"} {
		var m memorySize
		if err := m.Set(text); err == nil {
			t.Errorf("%q is taken for %d bytes", text, m)
		}
	}
}
