package main

// This file holds the cases, and the release that each of them requests from this program.

import (
	"fmt"
	"slices"
	"strings"
)

// benchCase is a case: tables to count, with a bound on the rows of a person, from one file.
type benchCase struct {
	name, title  string
	tables       [][]int // indices of columns
	maxRows      int     // counted rows of a person; 0: all
	format       string  // parquet or csv
	most         int     // greatest number of rows; 0: any number
	memory       int64   // bytes that this program may use; 0: as the command line says
	withoutPeers bool    // without peers
	model        bool    // a whole run of the command, which fits a model and counts nothing else
	bars         []bar
}

// bar is what a case should reach.
type bar struct {
	kind barKind
	at   float64
}

// barKind is the quantity that a bar limits.
type barKind int

const (
	cpuAtMost  barKind = iota // CPU seconds for every 10 million rows
	timesFast                 // wall time of DuckDB's best form ÷ that of this program
	peakAtMost                // bytes
	wallAtMost                // seconds
	perCore                   // bytes of the file for every CPU second, at least
)

const megabyte = 1_000_000

// barKinds holds for each kind of bar its text, its unit, and the measured value of a case, 0 if there is none.
var barKinds = [...]struct {
	words, reached string
	unit           float64
	most           bool // less is better
	measured       func(r result) float64
}{
	cpuAtMost: {"at most %.1f CPU seconds for ten million rows", "%.2f", 1, true,
		func(r result) float64 { return r.Entries[0].CPU / float64(r.Rows) * 1e7 }},
	timesFast: {"DuckDB in its best form takes at least %.0f times as long", "%.1f", 1, false,
		func(r result) float64 { return r.bestEntry("duckdb").Times }},
	peakAtMost: {"at most %.0f MB of memory", "%.0f", megabyte, true,
		func(r result) float64 { return float64(r.Entries[0].Peak) }},
	wallAtMost: {"at most %.0f seconds", "%.1f", 1, true, func(r result) float64 { return r.Entries[0].Wall }},
	perCore: {"at least %.0f MB for every CPU second", "%.0f", megabyte, false, func(r result) float64 {
		if ours := r.Entries[0]; ours.CPU > 0 {
			return float64(r.FileBytes) / ours.CPU
		}
		return 0
	}},
}

// allCases are the cases in the order in which they run.
var allCases = []benchCase{
	{name: "pairs", title: "all 66 pairs", tables: columnSets(2), format: "parquet",
		bars: []bar{{cpuAtMost, 0.6}, {timesFast, 12}, {peakAtMost, 128 * megabyte}}},
	{name: "triples", title: "all 220 triples", tables: columnSets(3), format: "parquet",
		bars: []bar{{timesFast, 7}, {peakAtMost, 400 * megabyte}}},
	{name: "four", title: "one 4-way of 514 080 cells", tables: [][]int{{6, 7, 8, 9}}, format: "parquet"},
	{name: "wide", title: "one 4-way of 18 207 000 cells", tables: [][]int{{8, 9, 10, 11}}, format: "parquet",
		bars: []bar{{timesFast, 8}}},
	{name: "bounded", title: "at most 2 rows of a person, all 66 pairs", tables: columnSets(2), maxRows: 2,
		format: "parquet",
		bars:   []bar{{timesFast, 12}}},
	{name: "spilled", title: "the same in 100 MB, by way of the disk", tables: columnSets(2), maxRows: 2,
		format: "parquet",
		memory: 100 * megabyte, withoutPeers: true, bars: []bar{{peakAtMost, 128 * megabyte}}},
	{name: "csv", title: "all 66 pairs from CSV", tables: columnSets(2), format: "csv", most: 2_000_000,
		bars: []bar{{perCore, 250 * megabyte}}},
	{name: "model", title: "a whole run that fits a model of 12 columns, ε = 1", format: "parquet", withoutPeers: true,
		model: true, bars: []bar{{wallAtMost, 60}, {peakAtMost, 400 * megabyte}}},
}

// caseNames returns the names of all cases.
func caseNames() []string {
	var names []string
	for _, c := range allCases {
		names = append(names, c.name)
	}
	return names
}

// defaultCases returns the cases that run if none are named: all but the one with a file of its own, and the model.
func defaultCases() string {
	own := func(name string) bool { return name == "csv" || name == "model" }
	return strings.Join(slices.DeleteFunc(caseNames(), own), ",")
}

// casesOf parses the names of cases, separated by commas; each runs once.
func casesOf(names string) ([]benchCase, error) {
	var cases []benchCase
	asked := strings.Split(names, ",")
	for _, name := range asked {
		if !slices.Contains(caseNames(), name) {
			return nil, fmt.Errorf("there is no case %q: choose of %s", name, strings.Join(caseNames(), ","))
		}
	}
	for _, c := range allCases {
		if slices.Contains(asked, c.name) {
			cases = append(cases, c)
		}
	}
	return cases, nil
}

// caseOf returns the case with a name.
func caseOf(name string) (benchCase, error) {
	cases, err := casesOf(name)
	if err != nil {
		return benchCase{}, err
	}
	return cases[0], nil
}

// tableOf returns the table that a case counts when the command line asks for so many rows.
func (c benchCase) tableOf(rows int) table {
	if c.most > 0 {
		rows = min(rows, c.most)
	}
	return table{rows: rows}
}

// columnSets returns all sets of n columns, in lexicographic order.
func columnSets(n int) [][]int {
	var sets [][]int
	var grow func(set []int, from int)
	grow = func(set []int, from int) {
		if len(set) == n {
			sets = append(sets, slices.Clone(set))
			return
		}
		for place := from; place < len(columns); place++ {
			grow(append(set, place), place+1)
		}
	}
	grow(nil, 0)
	return sets
}

// specText returns a release of the tables of a case from a file under pure ε, so that the measurements are the tables
// themselves, as the peers count them. If rows of a person are left out, the noise is small, so that it shows how many
// rows stay.
func (c benchCase) specText(file string) string {
	var s strings.Builder
	unit, epsilon := "row", 1
	if c.maxRows > 0 {
		unit = fmt.Sprintf("{id: person_id, max_rows: %d}", c.maxRows)
		epsilon = 3 * len(c.tables)
	}
	fmt.Fprintf(&s, `version: 1
release: bench
privacy: {protects: person, neighbours: add-remove}
budget: {epsilon: %d}
tables:
  rows:
    source: {%s: %q}
    unit: %s
    columns:
`, epsilon, c.format, file, unit)
	for i, column := range columns {
		if slices.ContainsFunc(c.tables, func(places []int) bool { return slices.Contains(places, i) }) {
			values := strings.Join(column.texts(), ", ")
			fmt.Fprintf(&s, "      %s: {values: [%s]}\n", column.Name, values)
		}
	}
	s.WriteString("marginals:\n")
	for _, places := range c.tables {
		name := nameOf(places)
		fmt.Fprintf(&s, "  %s: {by: [%s]}\n", strings.ReplaceAll(name, ",", "_"), name)
	}
	return s.String()
}

// cellsOf returns how many cells the table of some columns declares.
func cellsOf(places []int) int64 {
	cells := int64(1)
	for _, place := range places {
		cells *= int64(columns[place].Size)
	}
	return cells
}
