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

// progressLine says how far a command is. On a terminal that is one line at its foot: the step and how long it has
// lasted, or a bar and the time that is left. It goes nowhere but there, as how many rows there are is confidential,
// and so is how long counting takes. Elsewhere it is a line now and then with nothing in it but how long the command
// has run, which whoever keeps a job's output and dates its lines knows in any case. Where somebody asks for more it is
// a plain line for each step, whose text and order follow from the plan alone, and a line now and then on the writing
// of what is public already; lines before and after the counting tell how long it lasts. What else is written there is
// written through it.
type progressLine struct {
	to      io.Writer
	columns int  // of the terminal; 0 where there is none
	verbose bool // plain lines are asked for

	mu    sync.Mutex
	start time.Time         // of the command
	beats int               // lines that said how long it has run
	text  string            // of the step, on a terminal
	since time.Time         // when that began
	drawn time.Time         // when the line was drawn last
	last  progress.Progress // of the reading that goes on
	began time.Time
	from  int64     // rows that were read by then
	said  time.Time // when a plain line was written last
	shown bool
}

// newProgressLine shows progress on a terminal and, where it is made verbose, in plain lines elsewhere.
func newProgressLine(to io.Writer) *progressLine {
	l := &progressLine{to: to, start: time.Now()}
	if columns, terminal := columnsOf(to); terminal {
		if l.columns = columns; columns == 0 {
			l.columns = defaultColumns
		}
	}
	return l
}

// The line goes back to its start and clears itself to its end.
const clearLine = "\r\x1b[K"

const (
	// progressAfter is for how long reading lasts before anything is said of it.
	progressAfter = time.Second / 2
	// plainEvery is how long at least two plain lines on the writing of files are apart.
	plainEvery = 10 * time.Second
	// beatEvery is how often a command that is seen on no terminal says that it is still at work.
	beatEvery = 30 * time.Second
)

// keep has the line kept up while nothing else is said, until stop is called.
func (l *progressLine) keep() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(time.Second)
	go func() {
		defer close(ended)
		for {
			select {
			case now := <-ticker.C:
				l.beat(now)
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

// beat says how long the step has lasted, and where there is no terminal how long the command has.
func (l *progressLine) beat(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.columns > 0 {
		if l.text != "" && now.Sub(l.drawn) >= time.Second {
			l.draw(fmt.Sprintf("%s … %s", l.text, now.Sub(l.since).Round(time.Second)), now)
		}
		return
	}
	if passed := now.Sub(l.start); passed >= time.Duration(l.beats+1)*beatEvery {
		l.beats = int(passed / beatEvery)
		fmt.Fprintf(l.to, "dprelease: still at work after %s\n", time.Duration(l.beats)*beatEvery)
	}
}

// step says that a step begins.
func (l *progressLine) step(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.columns == 0 {
		if !l.verbose {
			return
		}
		l.said = time.Now()
		fmt.Fprintln(l.to, screen.Visible(text, ""))
		return
	}
	l.text, l.since = text, time.Now()
	l.draw(text+" …", l.since)
}

// draw puts a text in the place of the line.
func (l *progressLine) draw(text string, now time.Time) {
	l.drawn = now
	fmt.Fprint(l.to, clearLine, screen.Fold(screen.Visible(text, ""), l.columns-1))
	l.shown = true
}

// show says how far a table is, as of a moment.
func (l *progressLine) show(p progress.Progress, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.columns == 0 {
		l.plain(p, now)
		return
	}
	if l.last.Table != p.Table || l.last.Writing != p.Writing || l.last.Reading != p.Reading || l.last.Rows > p.Rows ||
		(l.last.Round > 0) != (p.Round > 0) || l.began.IsZero() {
		l.began, l.from = now, p.Rows
	}
	l.last = p
	if passed := now.Sub(l.began); passed >= progressAfter || p.Round > 0 {
		text := progressText(p, float64(p.Rows-l.from)/max(passed, time.Millisecond).Seconds(), l.columns)
		if l.text = ""; p.Round > 0 { // a round may last for minutes
			l.text, l.since = text, now
		}
		l.draw(text, now)
	}
}

// plain says now and then how far the writing of files is, which is of what is public already. Of the reading it says
// nothing: that a line is there would tell how long it lasts.
func (l *progressLine) plain(p progress.Progress, now time.Time) {
	if !l.verbose || !p.Writing || p.All <= 0 || now.Sub(l.said) < plainEvery {
		return
	}
	l.said = now
	fmt.Fprintf(l.to, "%s: %d %%\n", stepText(p), percentOf(p))
}

// percentOf is how much of its rows a step has taken up, in whole percent.
func percentOf(p progress.Progress) int64 {
	return 100 * min(p.Rows, p.All) / p.All // more where a file grew, which is refused at its end
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

// mostBar and leastBar bound the columns of a bar: on a narrow terminal it makes way for words.
const mostBar, leastBar = 24, 8

// progressText says how far the reading of a table, or the writing of a release, is where so many rows are taken up a
// second.
func progressText(p progress.Progress, speed float64, columns int) string {
	const million = 1e6
	text := stepText(p)
	if p.All <= 0 {
		return text + fmt.Sprintf(": %.1f million rows, %.1f million a second", float64(p.Rows)/million, speed/million)
	}
	end := fmt.Sprintf(" %d %%, %.1f million rows a second", percentOf(p), speed/million)
	if p.Round > 0 {
		end = fmt.Sprintf(" %d %% of their budget", percentOf(p))
	}
	if speed > 0 {
		left := time.Duration(float64(p.All-min(p.Rows, p.All)) / speed * float64(time.Second))
		end += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	room := min(mostBar, columns-2-screen.Width(text)-screen.Width(end))
	if room < leastBar {
		return text + ":" + end
	}
	bar := screen.Bar(float64(min(p.Rows, p.All))/float64(p.All), room)
	return text + " " + bar + strings.Repeat("░", room-screen.Width(bar)) + end
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
	l.text = ""
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
