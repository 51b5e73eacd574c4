package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/screen"
)

// clockedLine is a progress line with a clock that a test turns, and what it wrote.
type clockedLine struct {
	*progressLine
	now  time.Time
	seen bytes.Buffer
}

// newClockedLine returns a line on a terminal of so many columns, or elsewhere if there are none.
func newClockedLine(columns int) *clockedLine {
	l := &clockedLine{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	l.progressLine = &progressLine{to: &l.seen, columns: columns, start: l.now,
		clock: func() time.Time { return l.now }}
	return l
}

// after turns the clock, ticks, and returns what was written meanwhile.
func (l *clockedLine) after(d time.Duration) string {
	l.now = l.now.Add(d)
	l.tick()
	return l.written()
}

// written returns what was written since it was called last.
func (l *clockedLine) written() string {
	defer l.seen.Reset()
	return l.seen.String()
}

// On a terminal the line is rewritten: the step and its duration where the share is not known; else a bar, and the
// remaining time once there is a basis for it, which is neither the first seconds nor the first parts.
func TestProgressLine(t *testing.T) {
	l := newClockedLine(80)
	l.show(progress.Progress{Number: 1, Step: "planning"})
	if s := l.written(); s != "" {
		t.Errorf("at once: %q", s)
	}
	if s, want := l.after(2*time.Second), clearLine+"planning … 2 s"; s != want {
		t.Errorf("got %q, want %q", s, want)
	}
	l.now = l.now.Add(10 * time.Second)
	counting := progress.Progress{Number: 2, Step: "counting persons", Known: true, Confidential: true}
	for _, c := range []struct {
		after time.Duration
		share int
		want  string
	}{
		{0, 0, "░░░░░░░░░░░░░░░░░░░░░░░░ 0%"},
		{2 * time.Second, 400, "█████████▋░░░░░░░░░░░░░░ 40%"}, // too early
		{2 * time.Second, 500, "████████████░░░░░░░░░░░░ 50%, about 4 s left"},
		{2 * time.Second, 500, "████████████░░░░░░░░░░░░ 50%, about 6 s left"}, // slower
		{4 * time.Second, 1000, "████████████████████████ 100%"},
	} {
		counting.Share = c.share
		l.now = l.now.Add(c.after)
		l.show(counting)
		if s, want := l.written(), clearLine+"counting persons "+c.want; s != want {
			t.Errorf("got %q, want %q", s, want)
		}
	}
	writing := progress.Progress{Number: 3, Step: "writing 16 tables", Known: true, Share: 10}
	l.show(writing)
	if s, want := l.after(time.Minute), clearLine+"writing 16 tables ▎░░░░░░░░░░░░░░░░░░░░░░░ 1%"; s != want {
		t.Errorf("of too small a share: got %q, want %q", s, want)
	}
}

// The line is drawn four times a second at most.
func TestProgressIsDrawnSeldom(t *testing.T) {
	l := newClockedLine(80)
	l.now = l.now.Add(time.Second)
	for share := range progress.Whole {
		l.show(progress.Progress{Number: 1, Step: "counting persons", Known: true, Share: share})
		l.now = l.now.Add(time.Millisecond)
	}
	if n := strings.Count(l.written(), clearLine); n != 4 {
		t.Errorf("drawn %d times in a second", n)
	}
}

// Whatever else is written to the terminal stands on a line of its own, and nothing of the progress line is left
// behind: of a warning, of a page on standard output, and of the error that an interrupted or broken run ends with.
func TestProgressGivesWay(t *testing.T) {
	const line = clearLine + "planning … 2 s"
	for name, c := range map[string]struct {
		write func(a *app)
		want  string
	}{
		"a warning": {func(a *app) { fmt.Fprint(a.progress, "a warning\n") }, "a warning\n"},
		"a line":    {func(a *app) { a.say("a line") }, "a line\n"},
		"a page":    {func(a *app) { io.WriteString(a.page(), "a page\n") }, "a page\n"},
		"an error": {func(a *app) { a.printOutcome(context.Background(), fmt.Errorf("broken")) },
			"dprelease: broken\n"},
		"a panic": {func(a *app) { a.reportPanic("a place") },
			"dprelease: internal error at a place: this is a bug"},
		"interrupted": {interrupt, "dprelease: interrupted; run again and it resumes\n"},
	} {
		l := newClockedLine(80)
		a := &app{stdout: &l.seen, stderr: &l.seen, progress: l.progressLine}
		l.show(progress.Progress{Number: 1, Step: "planning"})
		if s := l.after(2 * time.Second); s != line {
			t.Fatalf("%s: got %q before it, want %q", name, s, line)
		}
		c.write(a)
		if s, want := l.written(), clearLine+c.want; !strings.HasPrefix(s, want) || strings.Count(s, clearLine) != 1 {
			t.Errorf("%s: got %q, want %q", name, s, want)
		}
	}
}

// interrupt ends a command as a signal does.
func interrupt(a *app) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a.printOutcome(ctx, ctx.Err())
}

// After the end of a step nothing is drawn until the next begins, however late its last parts are reported.
func TestProgressStaysAway(t *testing.T) {
	l := newClockedLine(80)
	step := progress.Progress{Number: 1, Step: "writing 1 table", Known: true}
	l.show(step)
	l.after(2 * time.Second)
	l.end()
	if s := l.written(); s != clearLine {
		t.Errorf("the end writes %q", s)
	}
	step.Share = 500
	l.show(step)
	if s := l.after(2 * time.Second); s != "" {
		t.Errorf("after the end: %q", s)
	}
	l.show(progress.Progress{Number: 2, Step: "writing the report"})
	if s := l.after(2 * time.Second); !strings.HasSuffix(s, "writing the report … 2 s") {
		t.Errorf("of the next step: %q", s)
	}
}

// A narrow terminal has a shorter bar, then none, and never two lines.
func TestProgressFitsTheTerminal(t *testing.T) {
	for columns, want := range map[int]string{
		80:  "counting persons ████████████░░░░░░░░░░░░ 50%, about 10 s left",
		60:  "counting persons ██████████▌░░░░░░░░░░ 50%, about 10 s left",
		45:  "counting persons, 50%, about 10 s left",
		400: "counting persons ████████████░░░░░░░░░░░░ 50%, about 10 s left",
		20:  "counting …10 s left",
	} {
		l := newClockedLine(columns)
		l.show(progress.Progress{Number: 1, Step: "counting persons", Known: true, Share: 500})
		got := strings.TrimPrefix(l.after(10*time.Second), clearLine)
		if got != want || screen.Width(got) >= columns {
			t.Errorf("%d columns: %q (%d wide), want %q", columns, got, screen.Width(got), want)
		}
	}
}

// Where there is no terminal, a line comes every minute, with the step, its share and the remaining time.
func TestAMinuteALine(t *testing.T) {
	l := newClockedLine(0)
	l.show(progress.Progress{Number: 1, Step: "planning"})
	writing := progress.Progress{Number: 2, Step: "writing 16 tables", Known: true}
	var got []string
	for second := range 3 * 60 {
		if second == 90 {
			l.show(writing)
		}
		if second > 90 {
			writing.Share = 4 * (second - 90)
			l.show(writing)
		}
		if s := l.after(time.Second); s != "" {
			got = append(got, s)
		}
	}
	want := "dprelease: still at work after 1 min: planning\n" +
		"dprelease: still at work after 2 min: writing 16 tables, 11%, about 4 min left\n" +
		"dprelease: still at work after 3 min: writing 16 tables, 35%, about 3 min left\n"
	if strings.Join(got, "") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if l.end(); l.written() != "" {
		t.Error("a line is cleared where there is none")
	}
	if _, terminal := columnsOf(&bytes.Buffer{}); terminal {
		t.Error("a buffer is taken for a terminal")
	}
}

// Where there is no terminal, whoever keeps the output of a job dates its lines. From the first step on that reads
// confidential data they are the same whatever is read, counted and written, and however long each takes. With verbose
// the names of steps come too, which follow from the plan: of several readings the first alone, and no share of them.
func TestLinesElsewhereAreOfThePlan(t *testing.T) {
	for verbose, want := range map[bool]string{
		false: "dprelease: still at work after 1 min: planning\n" +
			"dprelease: still at work after 2 min\ndprelease: still at work after 3 min\n" +
			"dprelease: still at work after 4 min\n",
		true: "planning\ndprelease: still at work after 1 min: planning\ncounting persons\n" +
			"dprelease: still at work after 2 min\ndprelease: still at work after 3 min\nwriting 16 tables\n" +
			"dprelease: still at work after 4 min: writing 16 tables, 50%, about 60 s left\n",
	} {
		for _, files := range []int{1, 7} {
			l := newClockedLine(0)
			l.setVerbose(verbose)
			l.show(progress.Progress{Number: 1, Step: "planning"})
			l.now = l.now.Add(time.Minute)
			l.tick()
			reading := progress.Progress{Number: 2, Step: "counting persons", Confidential: true}
			l.show(reading)
			for range 2 {
				for share := range files {
					reading.Number, reading.Known, reading.Share = reading.Number+1, true, share
					reading.Step = fmt.Sprintf("counting persons, reading %d of 2", share)
					l.show(reading)
				}
				l.now = l.now.Add(time.Minute)
				l.tick()
			}
			l.show(progress.Progress{Number: 20, Step: "writing 16 tables", Known: true})
			l.now = l.now.Add(time.Minute)
			l.show(progress.Progress{Number: 20, Step: "writing 16 tables", Known: true, Share: 500})
			l.tick()
			if got := l.written(); got != want {
				t.Errorf("verbose %t, %d readings: got %q, want %q", verbose, files, got, want)
			}
		}
	}
}

func TestMemorySize(t *testing.T) {
	for text, want := range map[string]int64{"4000000": 4e6, "500MB": 500e6, "8GiB": 8 << 30, "1.5KiB": 1536,
		"2TB": 2e12,
		"7B":  7} {
		var m memorySize
		if err := m.Set(text); err != nil || int64(m) != want {
			t.Errorf("%s: %d, %v", text, m, err)
		}
	}
	for _, text := range []string{"", "0", "-1GB", "many", "1e9", "8 GiB", "8G", "1/2GB", "9999999999TB", "0.1B",
		"MB"} {
		var m memorySize
		if err := m.Set(text); err == nil {
			t.Errorf("%q is taken for %d bytes", text, m)
		}
	}
}
