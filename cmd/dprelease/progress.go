package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/dprelease/dprelease/histogram"
)

// progressLine is one line at the foot of a terminal that says how far counting is. How
// many rows there are is confidential: the line is for who runs the release, and goes
// nowhere but to a terminal. What else is written there is written through it.
type progressLine struct {
	to       io.Writer
	terminal bool // else nothing is shown

	mu    sync.Mutex
	last  histogram.Progress // of the reading that goes on
	began time.Time
	from  int64 // rows that were read by then
	shown bool
}

// newProgressLine shows progress where to is a terminal.
func newProgressLine(to io.Writer) *progressLine {
	return &progressLine{to: to, terminal: isTerminal(to)}
}

// The line goes back to its start and clears itself to its end.
const clearLine = "\r\x1b[K"

// progressAfter is for how long reading lasts before anything is said of it.
const progressAfter = time.Second / 2

// show says how far a table is, as of a moment.
func (l *progressLine) show(p histogram.Progress, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.terminal {
		return
	}
	if l.last.Table != p.Table || l.last.Writing != p.Writing || l.last.Reading != p.Reading || l.last.Rows > p.Rows || l.began.IsZero() {
		l.began, l.from = now, p.Rows
	}
	l.last = p
	if passed := now.Sub(l.began); passed >= progressAfter {
		fmt.Fprint(l.to, clearLine, progressText(p, float64(p.Rows-l.from)/passed.Seconds()))
		l.shown = true
	}
}

// progressText says how far the reading of a table, or the writing of a release, is where so many rows are taken up a second.
func progressText(p histogram.Progress, speed float64) string {
	const million = 1e6
	text := "counting " + p.Table
	if p.Writing {
		text = "writing " + p.Table
	}
	if p.Readings > 1 {
		text += fmt.Sprintf(", reading %d of %d", p.Reading, p.Readings)
	}
	if p.All <= 0 {
		return text + fmt.Sprintf(": %.1f million rows, %.1f million a second", float64(p.Rows)/million, speed/million)
	}
	rows := min(p.Rows, p.All) // more where a file grew, which is refused at its end
	text += fmt.Sprintf(": %d %%, %.1f million rows a second", 100*rows/p.All, speed/million)
	if speed > 0 {
		left := time.Duration(float64(p.All-rows) / speed * float64(time.Second))
		text += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return text
}

// Write clears the line and writes below what was written before.
func (l *progressLine) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.clear(); err != nil {
		return 0, err
	}
	return l.to.Write(b)
}

// end clears the line: nothing of it stays.
func (l *progressLine) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear() // a terminal that is gone has no line
}

func (l *progressLine) clear() error {
	if !l.shown {
		return nil
	}
	l.shown = false
	_, err := io.WriteString(l.to, clearLine)
	return err
}
