package domain

// This file holds the calendar: dates as days and timestamps as microseconds since
// 1970-01-01, without zones, and the units that part them.

import (
	"regexp"
	"strconv"
	"time"
)

// Syntaxes of dates, of timestamps and of durations, as regular expressions.
const (
	DateSyntax     = `[0-9]{4}-[0-9]{2}-[0-9]{2}`
	TimeSyntax     = DateSyntax + `[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?`
	DurationSyntax = `(([1-9][0-9]*) +)?(second|minute|hour|day|week|month|quarter|year)s?`
)

const (
	microsPerSecond = int64(time.Second / time.Microsecond)
	microsPerDay    = 24 * 3600 * microsPerSecond
)

// parseDate reads 2024-01-31 as days since 1970-01-01.
func parseDate(s string) (days int64, ok bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	year, okYear := digits(s[0:4])
	month, okMonth := digits(s[5:7])
	day, okDay := digits(s[8:10])
	if !okYear || !okMonth || !okDay || month < 1 || month > 12 || day < 1 {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return floorDiv(t.Unix(), 24*3600), t.Day() == day
}

// IsDate reports whether a text is a date as 2024-01-31.
func IsDate(s string) bool {
	_, ok := parseDate(s)
	return ok
}

// parseTimestamp reads 2024-01-31T12:30, with optional seconds and up to six places, as
// microseconds since 1970-01-01T00:00:00. A blank may stand for the T; a zone may not follow.
func parseTimestamp(s string) (micros int64, ok bool) {
	if len(s) < 16 || s[10] != 'T' && s[10] != ' ' || s[13] != ':' {
		return 0, false
	}
	days, okDate := parseDate(s[:10])
	hour, okHour := digits(s[11:13])
	minute, okMinute := digits(s[14:16])
	if !okDate || !okHour || !okMinute || hour > 23 || minute > 59 {
		return 0, false
	}
	micros = days*microsPerDay + int64(hour*3600+minute*60)*microsPerSecond
	if len(s) == 16 {
		return micros, true
	}
	if len(s) < 19 || s[16] != ':' {
		return 0, false
	}
	second, okSecond := digits(s[17:19])
	if !okSecond || second > 59 {
		return 0, false
	}
	micros += int64(second) * microsPerSecond
	if len(s) == 19 {
		return micros, true
	}
	places := len(s) - 20
	if s[19] != '.' || places < 1 || places > 6 {
		return 0, false
	}
	fraction, okFraction := digits(s[20:])
	return micros + int64(fraction)*int64(powersOfTen[6-places]), okFraction
}

// digits is the number that a text of digits writes.
func digits(s string) (n int, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, len(s) > 0
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func microsTime(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// AppendDate appends a date in days since 1970-01-01 as 2024-01-31.
func AppendDate(b []byte, days int64) []byte {
	return time.Unix(days*24*3600, 0).UTC().AppendFormat(b, "2006-01-02")
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
		"second": microsPerSecond, "minute": 60 * microsPerSecond, "hour": 3600 * microsPerSecond,
		"day": microsPerDay, "week": 7 * microsPerDay,
	}[d.unit]
}

// mondays is the offset of a Monday from the start of the era, in microseconds: weeks start
// on Mondays, and 1970-01-01 was a Thursday.
const mondays = 4 * microsPerDay

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
	return origin + (floorDiv(at-origin, width)+1)*width
}
