//go:build race

package histogram

import "testing"

// skipUnderRace skips a test that asks tens of thousands of oracles, one after the
// other, where there is no race to find.
func skipUnderRace(t *testing.T) { t.Skip("for the run without the race detector") }
