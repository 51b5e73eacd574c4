package durable

import (
	"context"
	"errors"
	"os"
	"time"
)

// HoldWaiting locks a folder, waiting for another process that has locked it. It returns nil if the system has no such
// locks.
func HoldWaiting(ctx context.Context, dir string) (*os.File, error) {
	for {
		held, err := Hold(dir)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return nil, nil
		case !errors.Is(err, ErrHeld):
			return held, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
