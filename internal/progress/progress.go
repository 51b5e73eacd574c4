// Package progress reports how far a command has come, from wherever the work is done to whoever shows it. The context
// carries the reports, so that no function has to hand them on.
//
// It owns the step that is under way and its share. It has no clock, and never reports how much there is: a report is
// the step in words and a share in thousandths. Nothing that is computed or written depends on it.
//
//	ctx = progress.Watch(ctx, func(p progress.Progress) { … })
//	…
//	ctx = progress.Begin(ctx, int64(len(tables)), "writing the tables")
//	for _, t := range tables {
//		…
//		progress.Add(ctx, 1)
//	}
package progress

import (
	"context"
	"fmt"
	"sync"
)

// Whole is the share of a step that is done.
const Whole = 1000

// Progress is how far the step has come that began last.
type Progress struct {
	Number int    // of the step, from 1
	Step   string // in words, which follow from the plan and from names on the command line alone
	Known  bool   // whether the share is known
	Share  int    // of the step that is done, from 0 to [Whole]; it never falls within a step
	// Confidential reports that the step reads confidential data. Its share, how long it takes and when it ends depend
	// on them: these may be shown to the person who runs the command, and must not be written anywhere.
	Confidential bool
}

// watcher passes reports on, one at a time.
type watcher struct {
	show func(Progress)

	mu          sync.Mutex
	now         Progress
	done, total int64 // parts of the step
}

// place is what a context carries: who watches, where the work belongs, and for which step it is.
type place struct {
	watcher *watcher // nil: nobody
	prefix  string
	step    int // its number; 0 before any
}

type placeKey struct{}

func placeOf(ctx context.Context) place {
	p, _ := ctx.Value(placeKey{}).(place)
	return p
}

// Watch returns a context in which every step is reported to show: when it begins, when it is renamed, and at most
// [Whole] times in between. Calls of show do not overlap. It must return quickly.
func Watch(ctx context.Context, show func(Progress)) context.Context {
	return context.WithValue(ctx, placeKey{}, place{watcher: &watcher{show: show}})
}

// Silent returns a context in which nothing is reported, for work that is a part of a step and counts by itself.
func Silent(ctx context.Context) context.Context { return context.WithValue(ctx, placeKey{}, place{}) }

// Within returns a context in which the name of every step begins with a text, such as "folder 2 of 5".
func Within(ctx context.Context, format string, args ...any) context.Context {
	p := placeOf(ctx)
	p.prefix += fmt.Sprintf(format, args...) + ": "
	return context.WithValue(ctx, placeKey{}, p)
}

// Begin reports that a step begins, which consists of so many parts, 0 if that is not known, and returns its context.
// It ends the step before it. Its name follows from the plan and from names on the command line alone.
func Begin(ctx context.Context, parts int64, format string, args ...any) context.Context {
	return begin(ctx, false, parts, fmt.Sprintf(format, args...))
}

// BeginConfidential is [Begin] for a step that reads confidential data.
func BeginConfidential(ctx context.Context, parts int64, format string, args ...any) context.Context {
	return begin(ctx, true, parts, fmt.Sprintf(format, args...))
}

func begin(ctx context.Context, confidential bool, parts int64, name string) context.Context {
	p := placeOf(ctx)
	w := p.watcher
	if w == nil {
		return ctx
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done, w.total = 0, parts
	w.now = Progress{Number: w.now.Number + 1, Step: p.prefix + name, Known: parts > 0, Confidential: confidential}
	w.show(w.now)
	p.step = w.now.Number
	return context.WithValue(ctx, placeKey{}, p)
}

// update changes what is reported of the context's step, unless another has begun since, and shows it if change
// reports that there is something new.
func update(ctx context.Context, change func(p place) bool) {
	p := placeOf(ctx)
	if p.watcher == nil {
		return
	}
	w := p.watcher
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.step == w.now.Number && p.step > 0 && change(p) {
		w.show(w.now)
	}
}

// SetParts sets of how many parts the context's step consists, once that is known and before any of them is done.
func SetParts(ctx context.Context, parts int64) {
	update(ctx, func(p place) bool {
		if p.watcher.now.Known || parts <= 0 {
			return false
		}
		p.watcher.total, p.watcher.now.Known = parts, true
		return true
	})
}

// Add reports that parts of the context's step are done. Several goroutines may call it at once.
func Add(ctx context.Context, parts int64) {
	update(ctx, func(p place) bool {
		w := p.watcher
		if !w.now.Known || parts <= 0 {
			return false
		}
		w.done += min(parts, w.total-w.done) // a file that grew has more, and is refused at its end
		share := int(float64(w.done) / float64(w.total) * Whole)
		if share <= w.now.Share {
			return false
		}
		w.now.Share = share
		return true
	})
}

// Rename reports which part of the context's step is under way, in words. The step goes on.
func Rename(ctx context.Context, format string, args ...any) {
	update(ctx, func(p place) bool {
		p.watcher.now.Step = p.prefix + fmt.Sprintf(format, args...)
		return true
	})
}
