package domain

// This file holds the calendar: dates as days and timestamps as microseconds since
// 1970-01-01, without zones, and the units that part them.

import (
	"regexp"
	"strconv"
	"time"

	"github.com/dprelease/dprelease/spec/calendar"
)

// Syntaxes of dates, of timestamps and of durations, as regular expressions.
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

// IsDate reports whether a text is a date as 2024-01-31.
func IsDate(s string) bool {
	_, ok := calendar.ParseDate(s)
	return ok
}

func microsTime(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// AppendDate appends a date in days since 1970-01-01 as 2024-01-31.
func AppendDate(b []byte, days int64) []byte {
	return calendar.Day(days).AppendFormat(b, time.DateOnly)
}

// appendTimestamp appends microseconds as 2024-01-31T12:30, with seconds and their places
// where they are not zero.
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

// parseDuration reads week or 15 minutes. It is false for what is no duration.
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

// months is the length of the unit in months, 0 where its length is fixed.
func (d duration) months() int {
	return map[string]int{"month": 1, "quarter": 3, "year": 12}[d.unit]
}

// micros is the length of a unit of fixed length in microseconds.
func (d duration) micros() int64 {
	return map[string]int64{
		"second": calendar.MicrosPerSecond, "minute": 60 * calendar.MicrosPerSecond, "hour": 3600 * calendar.MicrosPerSecond,
		"day": calendar.MicrosPerDay, "week": 7 * calendar.MicrosPerDay,
	}[d.unit]
}

// mondays is the offset of a Monday from the start of the era, in microseconds: weeks start
// on Mondays, and 1970-01-01 was a Thursday.
const mondays = 4 * calendar.MicrosPerDay

// next is the first boundary after at, in microseconds. Single units lie on the calendar;
// several are counted from the start.
func (d duration) next(start, at int64) int64 {
	if months := d.months(); months > 0 {
		t := microsTime(at)
		first := (int(t.Month())-1)/months*months + 1
		return time.Date(t.Year(), time.Month(first+months), 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	}
	width, origin := d.count*d.micros(), start
	if d.count == 1 {
		origin = 0
		if d.unit == "week" {
			origin = mondays
		}
	}
	return origin + (calendar.FloorDiv(at-origin, width)+1)*width
}
