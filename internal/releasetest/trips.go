package releasetest

import "testing"

// TripSpec has two tables, each with a budget of its own and so each a measurement.
const TripSpec = `version: 1
release: trips
privacy: {protects: trip, neighbours: add-remove, account: trips}
budget: {epsilon: 1, split: {few: 1/2, many: 1/2}}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {mode: {values: [walk, ride]}, hour: {type: integer, range: [0, 23]}}}}
marginals: {modes: {by: [mode], budget: few}, hours: {by: [hour, mode], budget: many}}
`

// TripPolicy is of an account that pays for five such releases.
const TripPolicy = "account: trips\nprotects: trip\nneighbours: add-remove\ncap: {epsilon: 5}\n"

// TripRows are four trips.
const TripRows = "mode,hour\nwalk,7\nride,8\nride,8\nwalk,23\n"

// Trips returns an office that releases four trips.
func Trips(t *testing.T) Office {
	t.Helper()
	return With(t, TripSpec, TripPolicy, TripRows)
}
