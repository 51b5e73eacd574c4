package release

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
)

// cancelledAt is a context that is cancelled when it is looked at for the nth time.
type cancelledAt struct {
	context.Context
	left   atomic.Int64
	cancel context.CancelFunc
}

func newCancelledAt(parent context.Context, n int) *cancelledAt {
	ctx, cancel := context.WithCancel(parent)
	c := &cancelledAt{Context: ctx, cancel: cancel}
	c.left.Store(int64(n))
	return c
}

func (c *cancelledAt) look() {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
}

func (c *cancelledAt) Done() <-chan struct{} {
	c.look()
	return c.Context.Done()
}

func (c *cancelledAt) Err() error {
	c.look()
	return c.Context.Err()
}

// Wherever a step is interrupted, it is done or says that it was interrupted, and
// nothing else: above all not that the ledger did not pay, and no reservation is left.
func TestInterruptedAnywhere(t *testing.T) {
	for _, step := range []struct {
		name string
		do   func(ctx context.Context, o office) error
		made bool // it is done to a release that is there, and stays as it is
	}{
		{"run", func(ctx context.Context, o office) error {
			_, err := Run(ctx, o.plan, o.options("out"))
			return err
		}, false},
		{"run again", func(ctx context.Context, o office) error {
			_, err := Run(ctx, o.plan, o.options("out"))
			return err
		}, true},
		{"publish", func(ctx context.Context, o office) error {
			opt := o.options("out")
			_, err := Publish(ctx, MeasuredFolder(opt.Out, "trips"), opt)
			return err
		}, true},
		{"verify-ledger", func(ctx context.Context, o office) error {
			opt := o.options("out")
			_, err := opt.VerifyLedger(ctx, []string{opt.Out})
			return err
		}, true},
		{"evaluate", func(ctx context.Context, o office) error {
			opt := o.options("private")
			return evaluateTo(ctx, o.plan, filepath.Join(o.dir, "out", "trips"), opt)
		}, true},
	} {
		t.Run(step.name, func(t *testing.T) {
			var o office
			if step.made {
				o = newOffice(t)
				o.run(t)
			}
			interrupted := 0
			for n := 1; ; n++ {
				if !step.made {
					o = newOffice(t)
				}
				ctx := newCancelledAt(t.Context(), n)
				err := step.do(ctx, o)
				reached := ctx.Context.Err() != nil
				ctx.cancel()
				if code := ExitCode(err); code != ExitDone && code != ExitInterrupted {
					t.Fatalf("interrupted at look %d: exit %d: %v", n, code, err)
				} else if code == ExitInterrupted {
					interrupted++
				}
				statements, err := o.options("out").Statements(t.Context(), []string{"trips"})
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range statements[0].Releases {
					if r.State == ledger.Reserved {
						t.Fatalf("interrupted at look %d: a reservation is left", n)
					}
				}
				if !reached {
					break
				}
			}
			if interrupted == 0 {
				t.Error("it was never interrupted")
			}
			t.Logf("interrupted at %d looks", interrupted)
		})
	}
}
