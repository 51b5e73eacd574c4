//go:build !race

package testkit

import "testing"

// SkipUnderRace does nothing: there is no race detector.
func SkipUnderRace(testing.TB) {}
