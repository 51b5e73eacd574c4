package calendar

import (
	"testing"
	"time"
)

// Texts that are not timestamps in the syntax of a spec are refused, however similar they are.
func TestParseTimestamp(t *testing.T) {
	day := time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC).UnixMicro()
	for text, want := range map[string]int64{
		"2024-01-31T12:30":           12*3600 + 30*60,
		"2024-01-31 12:30":           12*3600 + 30*60,
		"2024-01-31T00:00:07":        7,
		"2024-01-31T23:59:59.000000": 86_399,
	} {
		if got, ok := ParseTimestamp(text); got != day+want*MicrosPerSecond || !ok {
			t.Errorf("%s: %d, %v", text, got-day, ok)
		}
	}
	for text, want := range map[string]int64{"2024-01-31T00:00:00.5": 500_000, "2024-01-31T00:00:00.000001": 1,
		"2024-01-31 00:00:00.25": 250_000} {
		if got, ok := ParseTimestamp(text); got != day+want || !ok {
			t.Errorf("%s: %d, %v", text, got-day, ok)
		}
	}
	for _, text := range []string{"", "2024-01-31", "2024-01-31T", "2024-01-31T1:30", "2024-01-31T1:305",
		"2024-01-31T12:3",
		"2024-01-31t12:30", "2024-01-31T12:30:", "2024-01-31T12:30:5", "2024-01-31T12:30:60", "2024-01-31T24:00",
		"2024-01-31T12:60", "2024-02-30T12:30", "2024-13-01T12:30", "2024-01-31T12:30:05.", "2024-01-31T12:30:05,5",
		"2024-01-31T12:30:05.1234567", "2024-01-31T12:30Z", "2024-01-31T12:30:05Z", "2024-01-31T12:30:05.5Z",
		"2024-01-31T1:30:45.5", "2024-01-31T1:30:45.55", "2024-01-31T12:30:05+1", "2024-01-31T12:30.5",
		"+024-01-31T12:30",
		" 2024-01-31T12:3", "2024-01-31  2:30:41",
		"2024-01-31T+2:30", "2024-01-31T12:+3", "2024-01-31T12:30:05.-1", "2024-01-31T12.30.05"} {
		if got, ok := ParseTimestamp(text); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
	for _, text := range []string{"", "2024-1-31", "2024-02-30", "2024-00-10", "2024-01-00", "+024-01-31", "20240131",
		"2024-01-31 ", "2024-01-3a", "2023-02-29", "-001-01-01"} {
		if got, ok := ParseDate(text); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
}
