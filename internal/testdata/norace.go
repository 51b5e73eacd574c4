//go:build !race

package testdata

import "testing"

// SkipUnderRace does nothing: there is no race detector.
func SkipUnderRace(testing.TB) {}
