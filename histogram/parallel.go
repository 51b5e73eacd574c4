package histogram

// This file holds the one place that starts goroutines.

import (
	"context"
	"sync"
	"sync/atomic"
)

// parallel calls do(0) … do(n-1) on at most workers goroutines and waits for all
// of them. Of several errors the one with the least index is returned, so that
// the outcome does not depend on the schedule where do itself does not.
func parallel(ctx context.Context, workers, n int, do func(i int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, n)
	for range min(workers, n) {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = do(i)
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
