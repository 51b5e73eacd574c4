package expression

// This file holds the calendar: days and microseconds since 1970-01-01, without zones, of the years 0000 to 9999.

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 24 * 3600 * microsPerSecond
)

// FirstDay and LastDay are 0000-01-01 and 9999-12-31 in days since 1970-01-01: dates and timestamps lie within.
const (
	FirstDay = -719_528
	LastDay  = 2_932_896
)

// civil is the year, month and day of the month of a day, in the calendar of Gregory throughout. Eras are of 400 years,
// from March on, so that leap days come last.
func civil(days int64) (year, month, day int64) {
	z := days + 719_468
	era := floorDiv(z, 146_097)
	inEra := z - era*146_097
	yearOfEra := (inEra - inEra/1460 + inEra/36_524 - inEra/146_096) / 365
	ofYear := inEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*ofYear + 2) / 153
	day = ofYear - (153*shifted+2)/5 + 1
	month = shifted + 3
	if month > 12 {
		month -= 12
	}
	year = yearOfEra + era*400
	if month <= 2 {
		year++
	}
	return year, month, day
}

// dayOf is the day of a date of the calendar.
func dayOf(year, month, day int64) int64 {
	if month <= 2 {
		year--
	}
	era := floorDiv(year, 400)
	yearOfEra := year - era*400
	shifted := month - 3
	if shifted < 0 {
		shifted += 12
	}
	ofYear := (153*shifted+2)/5 + day - 1
	return era*146_097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + ofYear - 719_468
}

// weekday is the day of the week: Monday is 1, Sunday 7.
func weekday(days int64) int64 { return floorMod(days+3, 7) + 1 }

// isoWeek is the week of a day by ISO 8601: weeks begin on Monday, and week 1 holds the first Thursday of the year.
func isoWeek(days int64) int64 {
	thursday := days - weekday(days) + 4
	year, _, _ := civil(thursday)
	return (thursday-dayOf(year, 1, 1))/7 + 1
}

// wholeMonths is the largest number of months m for which the day m months after from is not behind to; where a month
// has no such day it is the first of the next.
func wholeMonths(from, to int64) int64 {
	y0, m0, d0 := civil(from)
	y1, m1, d1 := civil(to)
	months := 12*(y1-y0) + m1 - m0
	if d1 < d0 {
		months--
	}
	return months
}

// parseDate reads 2024-01-31.
func parseDate(s string) (days int64, ok bool) {
	year, month, day := digits(s[0:4]), digits(s[5:7]), digits(s[8:10])
	if month < 1 || month > 12 || day < 1 {
		return 0, false
	}
	days = dayOf(year, month, day)
	_, m, d := civil(days)
	return days, m == month && d == day
}

// parseTimestamp reads 2024-01-31T12:30, with seconds and their places or without.
func parseTimestamp(s string) (micros int64, ok bool) {
	days, ok := parseDate(s[:10])
	hour, minute := digits(s[11:13]), digits(s[14:16])
	if !ok || hour > 23 || minute > 59 {
		return 0, false
	}
	micros = days*microsPerDay + (hour*3600+minute*60)*microsPerSecond
	if len(s) > 16 {
		second := digits(s[17:19])
		if second > 59 {
			return 0, false
		}
		micros += second * microsPerSecond
	}
	if len(s) > 19 {
		fraction := s[20:]
		micros += digits((fraction + "000000")[:6])
	}
	return micros, true
}

// digits is the number that digits write.
func digits(s string) (n int64) {
	for _, c := range []byte(s) {
		n = n*10 + int64(c-'0')
	}
	return n
}

// floorDiv is ⌊a / b⌋ for b ≠ 0, floorMod what is left.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }
