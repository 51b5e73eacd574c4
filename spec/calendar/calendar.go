// Package calendar represents dates as days and timestamps as microseconds since 1970-01-01, without time zones, for
// the years 0000 to 9999.
//
// It owns how texts are read as dates and timestamps, and how days and calendar dates are converted, for both the
// domains of columns and the expressions over them.
//
// It never asks what day it is, and knows neither domains nor expressions.
package calendar

import "time"

// Lengths in microseconds, the unit of timestamps.
const (
	MicrosPerSecond = int64(time.Second / time.Microsecond)
	MicrosPerDay    = 24 * 3600 * MicrosPerSecond
)

// FirstDay and LastDay are 0000-01-01 and 9999-12-31, the bounds of dates and timestamps.
const (
	FirstDay = -719_528
	LastDay  = 2_932_896
)

// Day returns midnight of a day.
func Day(days int64) time.Time { return time.Unix(days*24*3600, 0).UTC() }

// DayOf returns the day of a timestamp.
func DayOf(micros int64) int64 { return FloorDiv(micros, MicrosPerDay) }

// ParseDate reads a date in the form 2024-01-31.
func ParseDate(s string) (days int64, ok bool) {
	t, err := time.Parse(time.DateOnly, s)
	return FloorDiv(t.Unix(), 24*3600), err == nil
}

// The layouts of timestamps.
const (
	minuteLayout = "2006-01-02T15:04"
	secondLayout = minuteLayout + ":05"
)

// ParseTimestamp reads a timestamp in the form 2024-01-31T12:30, with optional seconds and up to six decimal places. A
// blank may replace the T. A time zone is not allowed.
func ParseTimestamp(s string) (micros int64, ok bool) {
	switch n := len(s); {
	case n != len(minuteLayout) && n < len(secondLayout), s[10] != 'T' && s[10] != ' ', s[13] != ':':
		return 0, false
	case n > len(secondLayout) && (s[len(secondLayout)] != '.' || n > len(secondLayout)+len(".123456")):
		return 0, false
	}
	// In a layout a blank would match any number of blanks, and time.Parse reads decimal places of seconds that the
	// layout does not have.
	t, err := time.Parse(secondLayout[:min(len(s), len(secondLayout))], s[:10]+"T"+s[11:])
	return t.UnixMicro(), err == nil
}

// FloorDiv returns ⌊a / b⌋ for b ≠ 0.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// FloorMod returns a − ⌊a / b⌋·b for b ≠ 0.
func FloorMod(a, b int64) int64 { return a - FloorDiv(a, b)*b }
