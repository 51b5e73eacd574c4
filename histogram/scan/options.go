package scan

// This file holds what the machine decides.

import (
	"runtime"

	"github.com/dprelease/dprelease/internal/progress"
)

// Options are what a machine decides; none of them changes a count.
type Options struct {
	MemoryLimit int64 // bytes; 0: half of what the machine has, or what of that is free
	Workers     int   // goroutines; 0, and the most: GOMAXPROCS
	// Progress, where not nil, is told a few times a second how far the reading is.
	Progress func(progress.Progress)
}

func (o Options) workers() int {
	most := runtime.GOMAXPROCS(0)
	if o.Workers <= 0 {
		return most
	}
	return min(o.Workers, most)
}
