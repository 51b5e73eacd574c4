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

// progressLine shows how far a command is. On a terminal it is one line at the bottom that is rewritten: the step, its
// share and the remaining time or, where the share is not known, how long the step has lasted. Other output to the same
// place is written through it.
//
// Elsewhere it is a plain line every minute, as whoever keeps the output of a job dates its lines. Once a step has read
// confidential data, which takes as long as there are data, such a line says nothing but how long the command has run:
// that is known anyway. With verbose, a plain line for each step too, whose text and order follow from the plan alone,
// and the share of steps that read nothing confidential; these lines show how long counting took.
type progressLine struct {
	to      io.Writer
	columns int  // of the terminal; 0: there is none
	verbose bool // print a plain line for each step
	clock   func() time.Time

	mu      sync.Mutex
	start   time.Time         // of the command
	minutes int               // that plain lines have reported
	now     progress.Progress // zero before the first step
	since   time.Time         // when the step began
	ended   int               // number of a step of which no more is shown
	secret  bool              // a step has read confidential data
	drawn   time.Time         // when the line was drawn last
	shown   bool
}

// newProgressLine returns a progress line that writes to a terminal, or plain lines elsewhere.
func newProgressLine(to io.Writer) *progressLine {
	l := &progressLine{to: to, clock: time.Now, start: time.Now()}
	if columns, terminal := columnsOf(to); terminal {
		if l.columns = columns; columns == 0 {
			l.columns = defaultColumns
		}
	}
	return l
}

// setVerbose sets whether steps are printed as plain lines.
func (l *progressLine) setVerbose(verbose bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.verbose = verbose
}

// clearLine moves to the start of the line and clears it to its end.
const clearLine = "\r\x1b[K"

const (
	// progressAfter is how long a command runs before a terminal shows anything.
	progressAfter = time.Second / 2
	// drawEvery is the least time between two drawings of the line.
	drawEvery = time.Second / 4
	// estimateAfter is how long a step lasts, and estimateShare which share of it is done, before a remaining time is
	// shown: what is known earlier is too little.
	estimateAfter, estimateShare = 3 * time.Second, progress.Whole / 50
)

// startTicking updates the line every second until stop is called.
func (l *progressLine) startTicking() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(time.Second)
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticker.C:
				l.tick()
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

// tick draws the line again or, without a terminal, prints a plain line every minute.
func (l *progressLine) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	if l.columns > 0 {
		l.draw(now)
		return
	}
	if passed := int(now.Sub(l.start) / time.Minute); passed > l.minutes {
		l.minutes = passed
		text := ""
		if l.now.Number > l.ended && !l.now.Confidential && (l.verbose || !l.secret) {
			text = ": " + screen.Visible(l.now.Step, "") + l.shareText(now)
		}
		fmt.Fprintf(l.to, "dprelease: still at work after %d min%s\n", passed, text)
	}
}

// show takes a report.
func (l *progressLine) show(p progress.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, before := l.clock(), l.now
	l.now = p
	if p.Number != before.Number {
		l.since = now
		// When each of several readings begins is not printed: the lines would date them.
		if l.columns == 0 && l.verbose && !(p.Confidential && before.Confidential) {
			fmt.Fprintln(l.to, screen.Visible(p.Step, ""))
		}
	}
	l.secret = l.secret || p.Confidential
	if l.columns > 0 && now.Sub(l.drawn) >= drawEvery {
		l.draw(now)
	}
}

// draw replaces the text of the line.
func (l *progressLine) draw(now time.Time) {
	if l.now.Number == l.ended || now.Sub(l.start) < progressAfter {
		return
	}
	l.drawn, l.shown = now, true
	fmt.Fprint(l.to, clearLine, screen.Fold(l.lineText(now), l.columns-1))
}

// mostBar and leastBar bound the columns of a bar: on a narrow terminal it is left out in favour of words.
const mostBar, leastBar = 24, 8

// lineText returns the line for a terminal.
func (l *progressLine) lineText(now time.Time) string {
	text, end := screen.Visible(l.now.Step, ""), l.shareText(now)
	if !l.now.Known {
		return fmt.Sprintf("%s … %s", text, durationText(now.Sub(l.since)))
	}
	room := min(mostBar, l.columns-1-screen.Width(text)-screen.Width(end))
	if room < leastBar {
		return text + end
	}
	bar := screen.Bar(float64(l.now.Share)/progress.Whole, room)
	return text + " " + bar + strings.Repeat("░", room-screen.Width(bar)) + strings.TrimPrefix(end, ",")
}

// shareText returns the share of the step that is done, and the remaining time once there is a basis for it.
func (l *progressLine) shareText(now time.Time) string {
	if !l.now.Known {
		return ""
	}
	text := fmt.Sprintf(", %d%%", 100*l.now.Share/progress.Whole)
	passed := now.Sub(l.since)
	if passed < estimateAfter || l.now.Share < estimateShare || l.now.Share == progress.Whole {
		return text
	}
	left := passed * time.Duration(progress.Whole-l.now.Share) / time.Duration(l.now.Share)
	return text + ", about " + durationText(left) + " left"
}

// durationText returns a duration for a person, in one unit.
func durationText(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int64(d.Round(time.Second).Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int64(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%d h", int64(d.Round(time.Hour).Hours()))
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

// end clears the line until the next step begins.
func (l *progressLine) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = l.now.Number
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
