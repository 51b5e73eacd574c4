//go:build !race

package histogramtest

import "testing"

// SkipUnderRace does nothing: there is no race detector.
func SkipUnderRace(testing.TB) {}
