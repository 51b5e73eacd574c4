package histogram

// This file holds the progress of a release, for a terminal and nothing else.

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
	Part, Parts       int   // which of how many files is being written, where they are several
	Reading, Readings int   // which reading of the table, of how many
	Round, Rounds     int   // which round of adaptive microdata, of at most how many; Rows of All are then parts of their budget
	Rows              int64 // taken up in this reading so far
	All               int64 // that there are in it, −1 where only the first reading tells
}

// progress reports how far a table is, a few times a second.
type progress struct {
	report func(Progress)

	mu   sync.Mutex
	now  Progress
	last time.Time
}

// progressEvery is how often is a few times a second.
const progressEvery = 250 * time.Millisecond

// newProgress is nil where nobody asks.
func newProgress(report func(Progress)) *progress {
	if report == nil {
		return nil
	}
	return &progress{report: report}
}

// reading begins a reading of a table of so many rows, −1 where that is not known. The
// second of two has the rows that the first had.
func (p *progress) reading(table string, reading, of int, rows int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.now; rows < 0 && reading > 1 && before.Table == table && before.Reading == reading-1 {
		rows = before.Rows
	}
	p.now = Progress{Table: table, Reading: reading, Readings: of, All: rows}
}

// Writing tells report, a few times a second, how far the writing of what has so many rows
// is. The function that it returns is told of rows that are written. report may be nil.
func Writing(what string, rows int64, report func(Progress)) (wrote func(rows int)) {
	p := newProgress(report)
	if p != nil {
		p.now = Progress{Table: what, Writing: true, All: rows}
	}
	return p.add
}

// add counts rows.
func (p *progress) add(rows int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Rows += int64(rows)
	if now := time.Now(); now.Sub(p.last) >= progressEvery {
		p.last = now
		p.report(p.now)
	}
}
