//go:build unix

package source

import (
	"syscall"
	"testing"
	"time"
)

// cpu is the time that this process has computed, of all its cores.
func cpu(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
