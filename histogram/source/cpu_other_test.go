//go:build !unix

package source

import (
	"testing"
	"time"
)

var started = time.Now()

// cpuTime returns the elapsed time, because the system's own accounting is not read.
func cpuTime(testing.TB) time.Duration { return time.Since(started) }
