package durable

import (
	"context"
	"errors"
	"os"
	"time"
)

// LockWaiting locks a folder, waiting for another process that has locked it. It returns nil if the system has no such
// locks.
func LockWaiting(ctx context.Context, dir string) (*os.File, error) {
	for {
		held, err := Lock(dir)
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
