//go:build race

package noise

import "testing"

// skipUnderRace skips a test that draws tens of millions on one goroutine, where
// there is no race to find.
func skipUnderRace(t *testing.T) { t.Skip("for the run without the race detector") }
