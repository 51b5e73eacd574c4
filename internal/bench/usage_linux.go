package main

// This file holds what this process has used of the machine, as Linux tells.

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// usage is what this process has used so far.
type usage struct {
	wall time.Time
	cpu  float64 // seconds, user and system, all threads
	peak int64   // bytes resident at the most
}

// usageNow is the usage up to now. The peak is VmHWM, which is of this program alone: what
// getrusage gives holds that of the process that started it as well.
func usageNow() usage {
	u := usage{wall: time.Now()}
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) == nil {
		u.cpu = float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return u
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kib, _ := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			u.peak = kib << 10
		}
	}
	return u
}

// peakOf returns the bytes that a process that has ended had resident at the most, or the one that started it if that
// is more.
func peakOf(p *os.ProcessState) int64 {
	if r, ok := p.SysUsage().(*syscall.Rusage); ok {
		return r.Maxrss << 10
	}
	return 0
}
