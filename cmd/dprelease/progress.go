package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/screen"
)

// progressLine shows how far a command is. On a terminal it is one line at the bottom: the step and its duration, or a
// bar and the remaining time. It is shown nowhere else, because the number of rows is confidential, and so is how long
// counting takes. Without a terminal it is an occasional line with nothing in it but how long the command has run,
// which whoever keeps the dated output of a job knows anyway. With verbose it is also a plain line for each step,
// whose text and order follow from the plan alone, and an occasional line on the writing of what is public already;
// the lines before and after counting show how long that took. Other output to the same place is written through it.
type progressLine struct {
	to      io.Writer
	columns int  // of the terminal; 0: there is none
	verbose bool // print plain lines

	mu        sync.Mutex
	start     time.Time         // of the command
	ticks     int               // lines that said how long it has run
	text      string            // of the step, on a terminal
	since     time.Time         // when that began
	drawn     time.Time         // when the line was drawn last
	last      progress.Progress // of the reading that goes on
	began     time.Time
	beganRows int64     // rows that were read by then
	lastPlain time.Time // when a plain line was written last
	shown     bool
}

// newProgressLine returns a progress line that writes to a terminal, or plain lines elsewhere.
func newProgressLine(to io.Writer) *progressLine {
	l := &progressLine{to: to, start: time.Now()}
	if columns, terminal := columnsOf(to); terminal {
		if l.columns = columns; columns == 0 {
			l.columns = defaultColumns
		}
	}
	return l
}

// clearLine moves to the start of the line and clears it to its end.
const clearLine = "\r\x1b[K"

const (
	// progressAfter is how long reading lasts before it is shown.
	progressAfter = time.Second / 2
	// plainEvery is the least time between two plain lines on the writing of files.
	plainEvery = 10 * time.Second
	// beatEvery is how often a command without a terminal prints that it is still at work.
	beatEvery = 30 * time.Second
)

// startTicking updates the line every second until stop is called.
func (l *progressLine) startTicking() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(time.Second)
	go func() {
		defer close(ended)
		for {
			select {
			case now := <-ticker.C:
				l.tick(now)
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-ended
	}
}

// tick shows how long the step has lasted or, without a terminal, how long the command has run.
func (l *progressLine) tick(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.columns > 0 {
		if l.text != "" && now.Sub(l.drawn) >= time.Second {
			l.drawLine(fmt.Sprintf("%s … %s", l.text, now.Sub(l.since).Round(time.Second)), now)
		}
		return
	}
	if passed := now.Sub(l.start); passed >= time.Duration(l.ticks+1)*beatEvery {
		l.ticks = int(passed / beatEvery)
		fmt.Fprintf(l.to, "dprelease: still at work after %s\n", time.Duration(l.ticks)*beatEvery)
	}
}

// startStep shows that a step begins.
func (l *progressLine) startStep(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.columns == 0 {
		if !l.verbose {
			return
		}
		l.lastPlain = time.Now()
		fmt.Fprintln(l.to, screen.Visible(text, ""))
		return
	}
	l.text, l.since = text, time.Now()
	l.drawLine(text+" …", l.since)
}

// drawLine replaces the text of the line.
func (l *progressLine) drawLine(text string, now time.Time) {
	l.drawn = now
	fmt.Fprint(l.to, clearLine, screen.Fold(screen.Visible(text, ""), l.columns-1))
	l.shown = true
}

// show shows how far the reading of a table, or the writing of files, is at a moment.
func (l *progressLine) show(p progress.Progress, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.columns == 0 {
		l.showPlain(p, now)
		return
	}
	if l.last.Table != p.Table || l.last.Writing != p.Writing || l.last.Reading != p.Reading || l.last.Rows > p.Rows ||
		(l.last.Round > 0) != (p.Round > 0) || l.began.IsZero() {
		l.began, l.beganRows = now, p.Rows
	}
	l.last = p
	if passed := now.Sub(l.began); passed >= progressAfter || p.Round > 0 {
		text := progressText(p, float64(p.Rows-l.beganRows)/max(passed, time.Millisecond).Seconds(), l.columns)
		if l.text = ""; p.Round > 0 { // a round may last for minutes
			l.text, l.since = text, now
		}
		l.drawLine(text, now)
	}
}

// showPlain prints at times how far the writing of files is, which concerns public data only. It prints nothing about
// reading: the existence of a line would reveal how long reading takes.
func (l *progressLine) showPlain(p progress.Progress, now time.Time) {
	if !l.verbose || !p.Writing || p.Total <= 0 || now.Sub(l.lastPlain) < plainEvery {
		return
	}
	l.lastPlain = now
	fmt.Fprintf(l.to, "%s: %d %%\n", stepText(p), percentOf(p))
}

// percentOf returns the share of its rows that a step has processed, in whole percent.
func percentOf(p progress.Progress) int64 {
	return 100 * min(p.Rows, p.Total) / p.Total // a file that grew has more rows, and is refused at its end
}

// stepText names what is read or written.
func stepText(p progress.Progress) string {
	text := "counting " + p.Table
	switch {
	case p.Round > 0:
		return fmt.Sprintf("microdata of %s, round %d of at most %d", p.Table, p.Round, p.Rounds)
	case p.Writing && p.Parts > 0:
		text = fmt.Sprintf("writing %d of %d %s", p.Part, p.Parts, p.Table)
	case p.Writing:
		text = "writing " + p.Table
	}
	if p.Readings > 1 {
		text += fmt.Sprintf(", reading %d of %d", p.Reading, p.Readings)
	}
	return text
}

// mostBar and leastBar bound the columns of a bar: on a narrow terminal it is left out in favour of words.
const mostBar, leastBar = 24, 8

// progressText returns how far the reading of a table, or the writing of a release, is, given the speed in rows per
// second.
func progressText(p progress.Progress, speed float64, columns int) string {
	const million = 1e6
	text := stepText(p)
	if p.Total <= 0 {
		return text + fmt.Sprintf(": %.1f million rows, %.1f million a second", float64(p.Rows)/million, speed/million)
	}
	end := fmt.Sprintf(" %d %%, %.1f million rows a second", percentOf(p), speed/million)
	if p.Round > 0 {
		end = fmt.Sprintf(" %d %% of their budget", percentOf(p))
	}
	if speed > 0 {
		left := time.Duration(float64(p.Total-min(p.Rows, p.Total)) / speed * float64(time.Second))
		end += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	room := min(mostBar, columns-2-screen.Width(text)-screen.Width(end))
	if room < leastBar {
		return text + ":" + end
	}
	bar := screen.Bar(float64(min(p.Rows, p.Total))/float64(p.Total), room)
	return text + " " + bar + strings.Repeat("░", room-screen.Width(bar)) + end
}

// Write clears the line and writes below the earlier output.
func (l *progressLine) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.clear(); err != nil {
		return 0, err
	}
	return l.to.Write(b)
}

// end clears the line.
func (l *progressLine) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = ""
	l.clear() // a closed terminal has no line to clear
}

func (l *progressLine) clear() error {
	if !l.shown {
		return nil
	}
	l.shown = false
	_, err := io.WriteString(l.to, clearLine)
	return err
}
