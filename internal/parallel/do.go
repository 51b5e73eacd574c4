package parallel

import (
	"context"
	"errors"
)

// Do calls do(0) … do(n-1) on at most workers goroutines and waits for all of them. Of several errors it returns the
// one with the least index, so that the outcome does not depend on the schedule if do itself does not.
func Do(ctx context.Context, workers, n int, do func(i int) error) error {
	errs := make([]error, n)
	Each(workers, n, func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = Guarded(do, i)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// ErrBug stands for a panic, whose value and trace could be confidential.
var ErrBug = errors.New("internal error: this is a bug, please report it")

// Guarded calls do(i) and turns a panic into an error, so that the caller can still give back what it reserved.
func Guarded(do func(i int) error, i int) (err error) {
	defer func() {
		if recover() != nil {
			err = ErrBug
		}
	}()
	return do(i)
}
