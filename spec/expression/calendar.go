package expression

// This file computes calendar fields of days.

import (
	"time"

	"github.com/dprelease/dprelease/spec/calendar"
)

// quarterOfYear returns the quarter of the year, from 1.
func quarterOfYear(t time.Time) int { return (int(t.Month()) + 2) / 3 }

// isoWeekday returns the day of the week: Monday is 1, Sunday 7.
func isoWeekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// isoWeek returns the week of a day by ISO 8601: weeks begin on Monday, and week 1 holds the first Thursday of the
// year.
func isoWeek(t time.Time) int {
	_, week := t.ISOWeek()
	return week
}

// wholeMonths returns the largest number of months m for which the day m months after from is not later than to. Where
// a month has no such day, the first of the next month stands for it.
func wholeMonths(from, to int64) int64 {
	y0, m0, d0 := calendar.Day(from).Date()
	y1, m1, d1 := calendar.Day(to).Date()
	months := 12*(y1-y0) + int(m1-m0)
	if d1 < d0 {
		months--
	}
	return int64(months)
}
