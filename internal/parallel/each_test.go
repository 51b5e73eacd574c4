package parallel

import (
	"sync/atomic"
	"testing"
)

func TestEachIsDoneOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		for _, n := range []int{0, 1, 2, 100} {
			done := make([]atomic.Int64, n)
			Each(workers, n, func(i int) { done[i].Add(1) })
			for i := range done {
				if times := done[i].Load(); times != 1 {
					t.Errorf("%d of %d is done %d times by %d workers", i, n, times, workers)
				}
			}
		}
	}
}

// TestOfSeveralPanicsTheFirstIsTheCallers: all others are done nevertheless.
func TestOfSeveralPanicsTheFirstIsTheCallers(t *testing.T) {
	var done atomic.Int64
	defer func() {
		if got := recover(); got != 3 || done.Load() != 8 {
			t.Errorf("recovered %v, %d done", got, done.Load())
		}
	}()
	Each(2, 10, func(i int) {
		if i == 3 || i == 5 {
			panic(i)
		}
		done.Add(1)
	})
	t.Error("no panic")
}
