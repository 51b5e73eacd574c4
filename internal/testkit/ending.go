package testkit

import (
	"context"
	"math"
	"sync/atomic"
)

// This file holds a context that ends where a test says.

// Ending is a context that ends after it was asked for its error so many times: work that nobody interrupts at a
// moment, but at each place where it asks. Nothing is sent on its channel.
type Ending struct {
	context.Context
	left atomic.Int64
	asks int64
}

// EndingAfter is a context that ends after so many asks.
func EndingAfter(parent context.Context, asks int64) *Ending {
	c := &Ending{Context: parent, asks: asks}
	c.left.Store(asks)
	return c
}

// NeverEnding is a context that counts how often it is asked.
func NeverEnding(parent context.Context) *Ending { return EndingAfter(parent, math.MaxInt64) }

// Err is [context.Canceled] where all asks are used up.
func (c *Ending) Err() error {
	if c.left.Add(-1) >= 0 {
		return nil
	}
	return context.Canceled
}

// Asked is how often the context was asked, and Late how often of that when it had ended.
func (c *Ending) Asked() int64 { return c.asks - c.left.Load() }
func (c *Ending) Late() int64  { return max(0, -c.left.Load()) }

// Closing is a context that ends when it is looked at for the nth time, be it for its channel or its error, and closes
// its channel then: as a database driver waits for it.
type Closing struct {
	context.Context
	left atomic.Int64
	end  context.CancelFunc
	why  error
	at   int64
}

// ClosingAt is a context that ends at look n, for a reason: [context.Canceled] or [context.DeadlineExceeded].
func ClosingAt(parent context.Context, n int64, why error) *Closing {
	ctx, end := context.WithCancel(parent)
	c := &Closing{Context: ctx, end: end, why: why, at: n}
	c.left.Store(n)
	return c
}

func (c *Closing) look() {
	if c.left.Add(-1) == 0 {
		c.end()
	}
}

// Looks is how often it was looked at.
func (c *Closing) Looks() int64 { return c.at - c.left.Load() }

// Done is the channel, closed from look n on.
func (c *Closing) Done() <-chan struct{} {
	c.look()
	return c.Context.Done()
}

// Err is the reason, from look n on.
func (c *Closing) Err() error {
	c.look()
	if c.Context.Err() == nil {
		return nil
	}
	return c.why
}

// Ended says whether the context came to its end, and ends it.
func (c *Closing) Ended() bool {
	ended := c.Context.Err() != nil
	c.end()
	return ended
}
