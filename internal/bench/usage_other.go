//go:build !linux

package main

// This file stands in where only the time of day is asked for.

import (
	"os"
	"time"
)

// usage is what this process has used so far.
type usage struct {
	wall time.Time
	cpu  float64 // 0: not measured
	peak int64   // 0: not measured
}

// usageNow is the time of day alone.
func usageNow() usage { return usage{wall: time.Now()} }

// peakOf is not measured.
func peakOf(*os.ProcessState) int64 { return 0 }
