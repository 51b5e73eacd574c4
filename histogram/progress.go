package histogram

// This file holds the progress of a count, for a terminal and nothing else.

import (
	"sync"
	"time"

	"github.com/dprelease/dprelease/spec"
)

// Progress is how far a table is read. It is a function of the confidential files: it
// may be shown to who runs the release while it runs, and must not be written anywhere.
type Progress struct {
	Table string
	Rows  int64 // read so far, several times over where units are bounded first
	All   int64 // that there are to read, −1 where only reading tells
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

// pass begins the reading of a table of so many rows, or a later one of several.
func (p *progress) pass(t *spec.Table, rows, times int64, again bool) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if again && p.now.Table == t.Name {
		return
	}
	p.now = Progress{Table: t.Name, All: rows}
	if rows >= 0 {
		p.now.All = times * rows
	}
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
