//go:build race

package testkit

import "testing"

// SkipUnderRace skips a test that does the same thing many thousands of times, one after the other, where there is no
// race to find, or that measures memory, as garbage is collected later under the race detector.
func SkipUnderRace(t testing.TB) { t.Skip("for the run without the race detector") }
