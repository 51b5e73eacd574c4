// Package progress says how far a release is, for a terminal and nothing else.
package progress

import (
	"sync"
	"time"
)

// Progress is how far the reading of a table is. It is a function of the confidential
// files: it may be shown to who runs the release while it runs, and must not be written
// anywhere. A table whose units have ids is read twice: first the ids. Or it is how far
// the writing of a file or more is, which Table says in words.
type Progress struct {
	Table             string
	Writing           bool
	Part, Parts       int // which of how many files is being written, where they are several
	Reading, Readings int // which reading of the table, of how many
	// which round of adaptive microdata, of at most how many; Rows of Total are then parts of their budget
	Round, Rounds int
	Rows          int64 // taken up in this reading so far
	Total         int64 // that there are in it, −1 where only the first reading tells
}

// Reporter reports how far a table is, a few times a second.
type Reporter struct {
	report func(Progress)
	Every  time.Duration // the least time between two reports

	mu   sync.Mutex
	now  Progress
	last time.Time
}

// often is a few times a second.
const often = 250 * time.Millisecond

// NewReporter is nil where nobody asks.
func NewReporter(report func(Progress)) *Reporter {
	if report == nil {
		return nil
	}
	return &Reporter{report: report, Every: often}
}

// Reading begins a reading of a table of so many rows, −1 where that is not known. The
// second of two has the rows that the first had.
func (p *Reporter) Reading(table string, reading, of int, rows int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.now; rows < 0 && reading > 1 && before.Table == table && before.Reading == reading-1 {
		rows = before.Rows
	}
	p.now = Progress{Table: table, Reading: reading, Readings: of, Total: rows}
}

// Writing tells report, a few times a second, how far the writing of what has so many rows
// is. The function that it returns is told of rows that are written. report may be nil.
func Writing(what string, rows int64, report func(Progress)) (wrote func(rows int)) {
	p := NewReporter(report)
	if p != nil {
		p.now = Progress{Table: what, Writing: true, Total: rows}
	}
	return p.Add
}

// Add counts rows.
func (p *Reporter) Add(rows int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Rows += int64(rows)
	if now := time.Now(); now.Sub(p.last) >= p.Every {
		p.last = now
		p.report(p.now)
	}
}
