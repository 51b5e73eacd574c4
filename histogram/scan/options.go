package scan

// This file holds Options, which depend on the machine.

import "runtime"

// Options depend on the machine; none of them changes a count.
type Options struct {
	MemoryLimit int64 // bytes; 0: half of the machine's memory, or less if less is free
	Workers     int   // goroutines, at most GOMAXPROCS; 0: GOMAXPROCS
}

func (o Options) workerCount() int {
	most := runtime.GOMAXPROCS(0)
	if o.Workers <= 0 {
		return most
	}
	return min(o.Workers, most)
}
