package parallel

import (
	"sync"
	"sync/atomic"
)

// Each calls do(0) … do(n−1) on at most workers goroutines and waits for all of them. A panic of do becomes a panic of
// the caller, which can recover from it; of several panics it is the one with the least index.
func Each(workers, n int, do func(i int)) {
	if min(workers, n) == 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	panics := make([]any, n)
	for range min(workers, n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				func() {
					defer func() { panics[i] = recover() }()
					do(i)
				}()
			}
		})
	}
	all.Wait()
	for _, reason := range panics {
		if reason != nil {
			panic(reason)
		}
	}
}
