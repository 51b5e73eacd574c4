package domain

// This file holds dates as days and timestamps as microseconds since 1970-01-01, without time zones, and the calendar
// units that divide a range of them.

import (
	"regexp"
	"strconv"
	"time"

	"github.com/dprelease/dprelease/spec/calendar"
)

// Regular expressions for dates, timestamps and durations.
const (
	DateSyntax     = `[0-9]{4}-[0-9]{2}-[0-9]{2}`
	TimeSyntax     = DateSyntax + `[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?`
	DurationSyntax = `(([1-9][0-9]*) +)?(second|minute|hour|day|week|month|quarter|year)s?`
)

// parseMoment reads a date in days, or a timestamp in microseconds.
func parseMoment(of Type, s string) (int64, bool) {
	if of == Date {
		return calendar.ParseDate(s)
	}
	return calendar.ParseTimestamp(s)
}

// IsDate reports whether a text is a date such as 2024-01-31.
func IsDate(s string) bool {
	_, ok := calendar.ParseDate(s)
	return ok
}

func microsTime(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// AppendDate appends a date, given in days since 1970-01-01, as 2024-01-31.
func AppendDate(b []byte, days int64) []byte {
	return calendar.Day(days).AppendFormat(b, time.DateOnly)
}

// appendTimestamp appends microseconds as 2024-01-31T12:30, with seconds and fractions only where they are not zero.
func appendTimestamp(b []byte, micros int64) []byte {
	t := microsTime(micros)
	switch {
	case t.Nanosecond() != 0:
		return t.AppendFormat(b, "2006-01-02T15:04:05.999999")
	case t.Second() != 0:
		return t.AppendFormat(b, "2006-01-02T15:04:05")
	}
	return t.AppendFormat(b, "2006-01-02T15:04")
}

// duration is a unit of the calendar, or a number of them.
type duration struct {
	count int64
	unit  string // second, minute, hour, day, week, month, quarter or year
}

var durationPattern = regexp.MustCompile(`^` + DurationSyntax + `$`)

// parseDuration reads a duration such as week or 15 minutes.
func parseDuration(s string) (duration, bool) {
	m := durationPattern.FindStringSubmatch(s)
	if m == nil {
		return duration{}, false
	}
	d := duration{count: 1, unit: m[3]}
	if m[2] != "" {
		n, err := strconv.ParseInt(m[2], 10, 32)
		if err != nil {
			return duration{}, false
		}
		d.count = n
	}
	return d, true
}

// unitMonths returns the length of the unit in months, 0 for a unit of fixed length.
func (d duration) unitMonths() int {
	return map[string]int{"month": 1, "quarter": 3, "year": 12}[d.unit]
}

// unitMicros returns the length in microseconds of a unit of fixed length.
func (d duration) unitMicros() int64 {
	return map[string]int64{
		"second": calendar.MicrosPerSecond, "minute": 60 * calendar.MicrosPerSecond,
		"hour": 3600 * calendar.MicrosPerSecond,
		"day":  calendar.MicrosPerDay, "week": 7 * calendar.MicrosPerDay,
	}[d.unit]
}

// mondayOffset is the time from 1970-01-01, a Thursday, to the first Monday, in microseconds: weeks start on Mondays.
const mondayOffset = 4 * calendar.MicrosPerDay

// nextBoundary returns the first boundary after at, in microseconds. Single units follow the calendar; multiples are
// counted from the start.
func (d duration) nextBoundary(start, at int64) int64 {
	if months := d.unitMonths(); months > 0 {
		t := microsTime(at)
		first := (int(t.Month())-1)/months*months + 1
		return time.Date(t.Year(), time.Month(first+months), 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	}
	width, origin := d.count*d.unitMicros(), start
	if d.count == 1 {
		origin = 0
		if d.unit == "week" {
			origin = mondayOffset
		}
	}
	return origin + (calendar.FloorDiv(at-origin, width)+1)*width
}
