package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/screen"
)

// What is shown is a line that is replaced, after half a second, and that is gone when
// anything else is written.
func TestProgressLine(t *testing.T) {
	var seen bytes.Buffer
	l := &progressLine{to: &seen, columns: 100}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	after := func(d time.Duration, rows, all int64) string {
		seen.Reset()
		l.show(progress.Progress{Table: "persons", Rows: rows, Total: all}, start.Add(d))
		return seen.String()
	}
	if s := after(0, 1e6, 101e6); s != "" {
		t.Errorf("at once: %q", s)
	}
	if s := after(400*time.Millisecond, 5e6, 101e6); s != "" {
		t.Errorf("after 0.4 s: %q", s)
	}
	if s, want := after(2*time.Second, 21e6, 101e6),
		clearLine+"counting persons █████░░░░░░░░░░░░░░░░░░░ 20 %, 10.0 million rows a second, 8s left"; s != want {
		t.Errorf("got %q, want %q", s, want)
	}
	if s, want := after(4*time.Second, 41e6, -1),
		clearLine+"counting persons: 41.0 million rows, 10.0 million a second"; s != want {
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
	if s, want := after(7*time.Second, 2_000_001, -1),
		clearLine+"counting persons: 2.0 million rows, 1.0 million a second"; s != want {
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
	l := &progressLine{to: &seen, columns: 100}
	l.show(progress.Progress{Table: "trips", Rows: 1e6, Total: 9e6}, time.Unix(0, 0))
	for second, rows := range []int64{1e6, 3e6} {
		seen.Reset()
		l.show(progress.Progress{Table: "tables", Part: 3, Parts: 16, Writing: true, Rows: rows, Total: 11e6},
			time.Unix(int64(10+second), 0))
	}
	if s, want := seen.String(),
		clearLine+"writing 3 of 16 tables ██████▌░░░░░░░░░░░░░░░░░ 27 %, 2.0 million rows a second, 4s left"; s != want {
		t.Errorf("got %q, want %q", s, want)
	}
}

// Of two readings each has a speed and an end of its own, and neither shows more rows than there are.
func TestProgressOfTwoReadings(t *testing.T) {
	var seen bytes.Buffer
	l := &progressLine{to: &seen, columns: 100}
	for _, c := range []struct {
		second    int64
		reading   int
		rows, all int64
		want      string
	}{
		{0, 1, 1e6, -1, ""},
		{10, 1, 101e6, -1, "counting persons, reading 1 of 2: 101.0 million rows, 10.0 million a second"},
		{11, 2, 1e6, 110e6, ""},
		{16, 2, 11e6, 110e6,
			"counting persons, reading 2 of 2 ██▍░░░░░░░░░░░░░░░░░░░░░ 10 %, 2.0 million rows a second, 50s left"},
		{66, 2, 111e6, 110e6,
			"counting persons, reading 2 of 2 ████████████████████████ 100 %, 2.0 million rows a second, 0s left"},
	} {
		seen.Reset()
		l.show(progress.Progress{Table: "persons", Reading: c.reading, Readings: 2, Rows: c.rows, Total: c.all},
			time.Unix(c.second, 0))
		if got := strings.TrimPrefix(seen.String(), clearLine); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A narrow terminal has a shorter bar, then none, and never two lines.
func TestProgressFitsTheTerminal(t *testing.T) {
	p := progress.Progress{Table: "persons", Rows: 50e6, Total: 100e6}
	for columns, want := range map[int]string{
		80:  "counting persons ██████████░░░░░░░░░░ 50 %, 10.0 million rows a second, 5s left",
		70:  "counting persons █████░░░░░ 50 %, 10.0 million rows a second, 5s left",
		60:  "counting persons: 50 %, 10.0 million rows a second, 5s left",
		400: "counting persons ████████████░░░░░░░░░░░░ 50 %, 10.0 million rows a second, 5s left",
	} {
		if got := progressText(p, 10e6, columns); got != want {
			t.Errorf("%d columns: %q (%d wide), want %q", columns, got, screen.Width(got), want)
		}
	}
	var seen bytes.Buffer
	l := &progressLine{to: &seen, columns: 20}
	l.show(p, time.Unix(0, 0))
	l.show(p, time.Unix(9, 0))
	if got := strings.TrimPrefix(seen.String(), clearLine); screen.Width(got) >= 20 {
		t.Errorf("a line of %d columns on a terminal of 20: %q", screen.Width(got), got)
	}
}

// A file is no terminal: nothing gets there, as whoever keeps it dates its lines. Who asks gets steps, which the plan
// alone decides, and nothing of how far the reading is, however long it lasts; and now and then how far the writing is,
// which is of what is public.
func TestProgressElsewhereIsOfThePlan(t *testing.T) {
	var seen [2]bytes.Buffer
	for i, rows := range []int64{7319, 50_000_000} {
		l := newProgressLine(&seen[i])
		for _, verbose := range []bool{false, true} {
			if l.verbose = verbose; seen[i].Len() > 0 {
				t.Errorf("unasked: %q", &seen[i])
			}
			l.startStep("counting persons")
			for second := range rows / 7319 {
				l.show(progress.Progress{Table: "persons", Reading: 1, Readings: 2, Rows: second * 7319, Total: rows},
					time.Now().Add(time.Duration(second)*time.Second))
			}
			l.startStep("writing 16 tables")
			l.show(progress.Progress{Table: "tables", Part: 1, Parts: 16, Writing: true, Rows: 1, Total: 80}, time.Now())
			l.end()
		}
	}
	if want := "counting persons\nwriting 16 tables\n"; seen[0].String() != want || seen[1].String() != want {
		t.Errorf("of few rows %q, of many %q, want %q", &seen[0], &seen[1], want)
	}
	l := newProgressLine(&seen[0])
	l.verbose = true
	l.startStep("writing 16 tables")
	seen[0].Reset()
	for i := range 8 { // a table every four seconds
		l.show(progress.Progress{Table: "tables", Part: 1 + 2*i, Parts: 16, Writing: true, Rows: int64(i) * 10, Total: 80},
			l.lastPlain.Add(time.Duration(4*(1+i%3))*time.Second))
	}
	if want := "writing 5 of 16 tables: 25 %\nwriting 11 of 16 tables: 62 %\n"; seen[0].String() != want {
		t.Errorf("got %q, want %q", &seen[0], want)
	}
	if _, terminal := columnsOf(&bytes.Buffer{}); terminal {
		t.Error("a buffer is taken for a terminal")
	}
}

// Where nobody sees a line, one is written every half minute, and it holds nothing but how long the command has run: it
// is the same whatever is read, counted and written meanwhile.
func TestStillAtWork(t *testing.T) {
	var want = "dprelease: still at work after 30s\ndprelease: still at work after 1m0s\ndprelease: still at work after 1m30s\n"
	for _, rows := range []int64{0, 50_000_000} {
		var seen bytes.Buffer
		l := newProgressLine(&seen)
		for second := range 100 {
			l.startStep("counting persons")
			l.show(progress.Progress{Table: "persons", Reading: 1, Readings: 1, Rows: rows / 100 * int64(second), Total: rows},
				l.start.Add(time.Duration(second)*time.Second))
			l.show(progress.Progress{Table: "persons", Round: 1 + second, Rounds: 100, Total: 1000},
				l.start.Add(time.Duration(second)*time.Second))
			l.tick(l.start.Add(time.Duration(second) * time.Second))
		}
		if l.end(); seen.String() != want {
			t.Errorf("of %d rows: %q, want %q", rows, &seen, want)
		}
	}
}

// On a terminal a step shows how long it has lasted, and a round of adaptive microdata which it is, how much of the
// budget is used, how long the rest will take and how long it has lasted itself.
func TestProgressOfRounds(t *testing.T) {
	var seen bytes.Buffer
	l := &progressLine{to: &seen, columns: 120}
	l.startStep("budget debited")
	start := l.since
	seen.Reset()
	l.tick(start.Add(12 * time.Second))
	if got, want := seen.String(), clearLine+"budget debited … 12s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, c := range []struct {
		second, used int64
		round        int
		want         string
	}{
		{20, 0, 1, "microdata of persons, round 1 of at most 56 ░░░░░░░░░░░░░░░░░░░░░░░░ 0 % of their budget"},
		{30, 100, 2, "microdata of persons, round 2 of at most 56 ██▍░░░░░░░░░░░░░░░░░░░░░ 10 % of their budget, 1m30s left"},
	} {
		seen.Reset()
		l.show(progress.Progress{Table: "persons", Round: c.round, Rounds: 56, Rows: c.used, Total: 1000},
			start.Add(time.Duration(c.second)*time.Second))
		if got := strings.TrimPrefix(seen.String(), clearLine); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	seen.Reset()
	l.tick(start.Add(37 * time.Second))
	if got := seen.String(); !strings.HasSuffix(got, "1m30s left … 7s") {
		t.Errorf("got %q", got)
	}
}

func TestMemorySize(t *testing.T) {
	for text, want := range map[string]int64{"4000000": 4e6, "500MB": 500e6, "8GiB": 8 << 30, "1.5KiB": 1536, "2TB": 2e12,
		"7B": 7} {
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
