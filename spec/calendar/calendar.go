// Package calendar holds dates as days and timestamps as microseconds since 1970-01-01, without zones, of the years
// 0000 to 9999.
//
// It owns how texts are read as them, and which day is which: what the domains of columns and the expressions over
// them share.
//
// It never asks what day it is, and knows neither domains nor expressions.
package calendar

import "time"

// Lengths in microseconds, which timestamps are counted in.
const (
	MicrosPerSecond = int64(time.Second / time.Microsecond)
	MicrosPerDay    = 24 * 3600 * MicrosPerSecond
)

// FirstDay and LastDay are 0000-01-01 and 9999-12-31: dates and timestamps lie within.
const (
	FirstDay = -719_528
	LastDay  = 2_932_896
)

// Day returns midnight of a day.
func Day(days int64) time.Time { return time.Unix(days*24*3600, 0).UTC() }

// DayOf returns the day of a timestamp.
func DayOf(micros int64) int64 { return FloorDiv(micros, MicrosPerDay) }

// ParseDate reads 2024-01-31.
func ParseDate(s string) (days int64, ok bool) {
	t, err := time.Parse(time.DateOnly, s)
	return FloorDiv(t.Unix(), 24*3600), err == nil
}

// minutes and seconds are the layouts of timestamps.
const (
	minutes = "2006-01-02T15:04"
	seconds = minutes + ":05"
)

// ParseTimestamp reads 2024-01-31T12:30, with optional seconds and up to six places. A blank may stand for the T; a
// zone may not follow.
func ParseTimestamp(s string) (micros int64, ok bool) {
	switch n := len(s); {
	case n != len(minutes) && n < len(seconds), s[10] != 'T' && s[10] != ' ', s[13] != ':':
		return 0, false
	case n > len(seconds) && (s[len(seconds)] != '.' || n > len(seconds)+len(".123456")):
		return 0, false
	}
	// In a layout a blank would stand for any number of them, and places of seconds are read that it does not have.
	t, err := time.Parse(seconds[:min(len(s), len(seconds))], s[:10]+"T"+s[11:])
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

// FloorMod returns what FloorDiv leaves of a.
func FloorMod(a, b int64) int64 { return a - FloorDiv(a, b)*b }
