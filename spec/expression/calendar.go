package expression

// This file holds the parts of the calendar that functions give of days and moments.

import (
	"time"

	"github.com/dprelease/dprelease/spec/calendar"
)

// quarter is the quarter of the year, from 1.
func quarter(t time.Time) int { return (int(t.Month()) + 2) / 3 }

// weekday is the day of the week: Monday is 1, Sunday 7.
func weekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// isoWeek is the week of a day by ISO 8601: weeks begin on Monday, and week 1 holds the first Thursday of the year.
func isoWeek(t time.Time) int {
	_, week := t.ISOWeek()
	return week
}

// wholeMonths is the largest number of months m for which the day m months after from is not behind to; where a month
// has no such day it is the first of the next.
func wholeMonths(from, to int64) int64 {
	y0, m0, d0 := calendar.Day(from).Date()
	y1, m1, d1 := calendar.Day(to).Date()
	months := 12*(y1-y0) + int(m1-m0)
	if d1 < d0 {
		months--
	}
	return int64(months)
}
