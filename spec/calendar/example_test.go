package calendar_test

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/calendar"
)

// Dates are days since 1970-01-01, so their distance is a difference.
func Example() {
	admitted, _ := calendar.ParseDate("2024-02-28")
	discharged, ok := calendar.ParseTimestamp("2024-03-01T12:30")
	fmt.Println(calendar.DayOf(discharged)-admitted, "days,", ok)
	fmt.Println(calendar.Day(admitted).Weekday())
	// Output:
	// 2 days, true
	// Wednesday
}
