//go:build !unix

package source

import (
	"testing"
	"time"
)

var started = time.Now()

// cpu is the time that has gone by, where the system's own account is not read.
func cpu(testing.TB) time.Duration { return time.Since(started) }
