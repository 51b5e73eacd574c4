package expression

// This file holds the table of functions: their usage, and the kinds of their arguments and value.

import (
	"maps"
	"slices"
	"time"

	"github.com/dprelease/dprelease/spec/calendar"
)

// function describes how a function is called.
type function struct {
	usage       string
	least, most int  // number of arguments; most 0 means any
	odd         bool // the number of arguments is odd
	takesMap    bool // the second argument is a map
	// takes is the kind of every argument and gives the kind of the value, where they do not depend on each other;
	// Unknown stands for Number.
	takes, gives Kind
}

var functions = map[string]function{
	"if":       {usage: "if(condition, then, else)", least: 3, most: 3},
	"case":     {usage: "case(condition, then, condition, then, …, else)", least: 3, odd: true},
	"coalesce": {usage: "coalesce(a, b, …): the first that is not null", least: 2},
	"is_null":  {usage: "is_null(x)", least: 1, most: 1},
	"recode":   {usage: "recode(x, {'m': 'male', 'f': 'female'}, 'other')", least: 2, most: 3, takesMap: true},

	"abs":   {usage: "abs(x)", least: 1, most: 1},
	"min":   {usage: "min(a, b, …)", least: 2},
	"max":   {usage: "max(a, b, …)", least: 2},
	"clamp": {usage: "clamp(x, 0, 100)", least: 3, most: 3},
	"floor": {usage: "floor(x)", least: 1, most: 1},
	"round": {usage: "round(x)", least: 1, most: 1},

	"lower":       {usage: "lower(x)", least: 1, most: 1, takes: Text, gives: Text},
	"upper":       {usage: "upper(x)", least: 1, most: 1, takes: Text, gives: Text},
	"trim":        {usage: "trim(x)", least: 1, most: 1, takes: Text, gives: Text},
	"length":      {usage: "length(x)", least: 1, most: 1, takes: Text},
	"prefix":      {usage: "prefix(x, 3): the first 3 characters", least: 2, most: 2},
	"slice":       {usage: "slice(x, 2, 3): 3 characters from the 2nd on", least: 3, most: 3},
	"starts_with": {usage: "starts_with(x, 'a')", least: 2, most: 2, takes: Text, gives: Boolean},

	"days":    {usage: "days(later - earlier)", least: 1, most: 1},
	"months":  {usage: "months(later - earlier)", least: 1, most: 1},
	"years":   {usage: "years(later - earlier)", least: 1, most: 1},
	"hours":   {usage: "hours(later - earlier)", least: 1, most: 1},
	"minutes": {usage: "minutes(later - earlier)", least: 1, most: 1},
	"seconds": {usage: "seconds(later - earlier)", least: 1, most: 1},

	"year":    {usage: "year(x)", least: 1, most: 1, takes: Moment},
	"quarter": {usage: "quarter(x)", least: 1, most: 1, takes: Moment},
	"month":   {usage: "month(x)", least: 1, most: 1, takes: Moment},
	"week":    {usage: "week(x)", least: 1, most: 1, takes: Moment},
	"day":     {usage: "day(x)", least: 1, most: 1, takes: Moment},
	"weekday": {usage: "weekday(x)", least: 1, most: 1, takes: Moment},
	"hour":    {usage: "hour(x)", least: 1, most: 1, takes: Timestamp},
	"minute":  {usage: "minute(x)", least: 1, most: 1, takes: Timestamp},

	"integer":   {usage: "integer(x)", least: 1, most: 1},
	"decimal":   {usage: "decimal(x, 2): of 2 places", least: 2, most: 2},
	"text":      {usage: "text(x)", least: 1, most: 1},
	"boolean":   {usage: "boolean(x)", least: 1, most: 1},
	"date":      {usage: "date(x)", least: 1, most: 1},
	"timestamp": {usage: "timestamp(x)", least: 1, most: 1},
}

var functionNames = slices.Sorted(maps.Keys(functions))

// spans are the functions of the time between two days or timestamps, with the greatest magnitude of each. Functions of
// timestamps have their unit in microseconds; the others, with micros 0, count days of the calendar.
var spans = map[string]struct{ micros, maxMagnitude int64 }{
	"days":    {0, calendar.LastDay - calendar.FirstDay},
	"months":  {0, 12 * 10_000},
	"years":   {0, 10_000},
	"hours":   {3600 * calendar.MicrosPerSecond, (calendar.LastDay - calendar.FirstDay + 1) * 24},
	"minutes": {60 * calendar.MicrosPerSecond, (calendar.LastDay - calendar.FirstDay + 1) * 24 * 60},
	"seconds": {calendar.MicrosPerSecond, (calendar.LastDay - calendar.FirstDay + 1) * 24 * 3600},
}

// dateParts are the functions of a day, with the least and the greatest value of each.
var dateParts = map[string]struct {
	compute     func(day time.Time) int
	least, most int64
}{
	"year":    {time.Time.Year, 0, 9999},
	"quarter": {quarterOfYear, 1, 4},
	"month":   {func(t time.Time) int { return int(t.Month()) }, 1, 12},
	"week":    {isoWeek, 1, 53},
	"day":     {time.Time.Day, 1, 31},
	"weekday": {isoWeekday, 1, 7},
}

// timeParts are the functions of a timestamp.
var timeParts = map[string]struct {
	compute func(micros int64) int64
	most    int64
}{
	"hour": {func(t int64) int64 {
		return calendar.FloorMod(t, calendar.MicrosPerDay) / (3600 * calendar.MicrosPerSecond)
	}, 23},
	"minute": {func(t int64) int64 {
		return calendar.FloorMod(t, 3600*calendar.MicrosPerSecond) / (60 * calendar.MicrosPerSecond)
	}, 59},
}
