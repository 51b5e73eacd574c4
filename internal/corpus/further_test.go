package corpus

// This file draws further specs, of what the first ones have seldom or never: categories that are discovered, ranges by
// category, grids, times, households with their members, microdata of tables, other laws of noise, bounds of all rows
// of a unit in a table.

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/spec"
)

// first is how many specs are of the first kind.
const first = 440

// further draws a spec of the later kinds.
func (d *drawing) further(number uint64) spec.Source {
	d.line("version: 1\nrelease: drawn-%d", number)
	if d.chance(.5) {
		d.line("about: {title: \"Persons, drawn\", population: persons of no country, period: \"2026\", contact: nobody}")
	}
	if d.chance(.4) {
		d.line("fit: {precise: 5%%, usable: 20%%}")
	}
	linked := d.chance(.3)
	d.line("privacy: {protects: person, neighbours: %s%s%s}", d.oneOf("add-remove", "add-remove", "replace"),
		d.sometimes(.5, ", account: people"), d.sometimes(.15, ", resume: never"))
	microdata := linked || d.chance(.4)
	d.line("budget: {%s, split: {tables: 1/2, rest: 1/4%s}}",
		d.oneOf("epsilon: 3, delta: 1e-9", "epsilon: 1, delta: 1e-6, noise: gaussian",
			"epsilon: 2, delta: 1e-9, noise: laplace", "rho: 1/2"),
		map[bool]string{false: ", more: 1/4", true: ", homes: 1/8, microdata: 1/8"}[linked])
	if linked {
		d.members()
	} else {
		d.places(microdata)
	}
	if d.chance(.4) {
		d.line("diagnostics: {share: 2%%}")
	}
	return spec.Source{Name: "release.yaml", Text: d.text.String(), Files: d.files}
}

// members draws households and persons whose microdata belong together.
func (d *drawing) members() {
	d.line("tables:\n  homes:\n    source: {csv: homes.csv}\n    unit: {id: home, max_rows: 1}\n" +
		"    expect: {rows: [900, 1100]}")
	d.line("    columns:\n      tenure: {values: [owned, rented]}\n      rooms: {type: integer, range: [1, 6]}")
	d.line("  persons:\n    source: {csv: persons.csv}\n    unit: {id: home, max_rows: %s}\n    columns:",
		d.oneOf("4", "7"))
	d.line("      sex: {values: [f, m]}\n      age: {type: integer, range: [0, 99], levels: {ten: {width: 10}, band: " +
		"{edges: [0, 16, 65]}}}")
	d.line("      work: {values: [yes_, no_, child]}\n      pay: {type: integer, range: [0, 100]}\n" +
		"      hours: {type: integer, range: [0, 60]}")
	d.line("marginals:\n  homes: {table: homes, by: [tenure, rooms], budget: tables}")
	d.line("  people: {table: persons, by: [%s], budget: rest%s}", d.oneOf("age.ten, sex", "work, sex", "age.band"),
		d.sometimes(.6, d.oneOf(", stats: [count, units]", ", per_unit: {total: 2}", ", stats: [count, {mean: pay}]")))
	d.line("synthetic:\n  homes: {budget: homes%s}", d.sometimes(.3, ", method: mst"))
	d.line("  persons: {budget: microdata, parent: homes, size: members, by: [sex, %s, work]%s}",
		d.oneOf("age.ten", "age.band"), d.sometimes(.3, ", ways: 2"))
}

// places draws one table of persons with a place, a time and a size that decides what they can earn.
func (d *drawing) places(microdata bool) {
	d.line("tables:\n  persons:\n    source: {csv: persons.csv}")
	d.rows = d.chance(.3)
	if d.rows {
		d.line("    unit: row")
	} else {
		d.line("    unit: {id: who, max_rows: %s}", d.oneOf("3", "5", "5, null: drop"))
	}
	if d.rows && d.chance(.4) {
		d.line("    weight: {from: w, range: [0, 4], step: 0.5, kind: design}")
	}
	if d.chance(.6) {
		d.line("    expect: {rows: [1000, 4000], every: [sex, age.band]}")
	}
	d.line("    columns:\n      sex: {values: [f, m], unknown: {as: m}}\n      size: {values: [small, large]}")
	d.line("      age: {type: integer, range: [0, 99], unknown: drop, levels: {ten: {width: 10}, band: {edges: [0, 16, 65]}}}")
	d.line("      word: {values: {discover: {max_length: 20%s}}}", d.sometimes(.5, ", at_least: 5"))
	d.line("      place: {grid: {lon: x, lat: y, box: [0, 0, 8, 8], cells: [8, 8]}, levels: quadtree, unknown: {as: outside}}")
	d.line("      hour: {from: hour(started), values: {integers: [0, 23]}}")
	d.line("      day: {type: date, range: [2026-01-01, 2026-01-31], levels: {week: {width: 7}}}")
	d.line("      pay: {type: decimal, step: 10, range: %s}",
		d.oneOf("[0, 8000]", "{by: size, small: [0, 3000], large: [1000, 8000]}"))
	d.line("      hours: {type: integer, range: [0, 60]}")
	d.line("marginals:")
	tables := []string{
		"{by: [place.4x4, size], budget: tables}",
		"{by: [place.4x4, hour], budget: tables, cells: {above: 20}}", "{by: [place], budget: tables, top: 5}",
		"{by: [size, sex], budget: tables, stats: [count, {sum: pay}, {mean: pay}, {variance: pay}]}",
		"{by: [size], budget: tables, stats: [count, {median: pay}], show: {when_count_at_least: 10}}",
		"{by: [hour], budget: tables, cumulative: [hour]}", "{by: [age], budget: tables, ranges: [age]}",
		"{by: [day.week, sex], budget: tables, stats: [count, share, {deviation: hours}, {cv: hours}]}",
		"{by: [hour, sex, size], every: [1, 2], budget: tables}",
		"{by: [size], budget: tables, stats: [{ratio: {mean: pay, over: {mean: hours}}, as: hourly}]}",
		"{by: [age.ten, sex], budget: tables, stats: [count, units]}",
		"{by: [sex], budget: tables, stats: [count, {quantiles: pay, at: [25%, 75%]}]}",
	}
	if !d.rows {
		tables = append(tables, "{by: [age.band, sex], budget: tables, per_unit: {total: 2}}",
			"{by: [size], budget: tables, stats: [{distinct: hours, per_unit: 1}]}",
			"{by: [hour, sex], budget: tables, per_unit: {groups: 2, rows_per_group: 1, total: 2}}")
		if strings.Contains(d.text.String(), "delta") {
			word := "{by: [word], budget: tables, stats: [units], per_unit: {groups: 2}}"
			tables = append(tables, word, word, word, "{by: [word, sex], budget: tables, stats: [units], per_unit: "+
				"{groups: 1}}")
		}
	}
	for i, table := range d.someOf(1, 3, tables) {
		d.line("  t%d: %s", i, table)
	}
	d.line("  basis: {by: [sex, age.band, size], budget: rest}")
	d.line("  more: {by: [%s], budget: more}", d.oneOf("age.ten", "hour", "place.2x2", "day.week"))
	if microdata {
		d.line("synthetic: {persons: {method: tables, by: [sex, age.band, size]%s}}", d.sometimes(.5, ", files: 2"))
	}
	if d.chance(.3) {
		d.line("publish: {integers: consistent}")
	}
}

// placedRows draws the table of persons of a further spec.
func (d *drawing) placedRows(t *spec.Table, rows int) string {
	var text strings.Builder
	text.WriteString("who,sex,size,age,word,x,y,started,day,pay,hours,w\n")
	for range rows {
		who := fmt.Sprint("p", d.IntN(rows/2))
		if t.Unit.Null == spec.Drop && d.chance(oddShare) {
			who = ""
		}
		age := fmt.Sprint(d.IntN(100))
		fmt.Fprintf(&text, "%s,%s,%s,%s,word%d,%.3f,%.3f,2026-01-05T%02d:30:00,2026-01-%02d,%.2f,%d,%.1f\n", who,
			d.drawValue(t, "sex", d.oneOf("f", "m"), "x"),
			d.oneOf("small", "small", "large"), d.drawValue(t, "age", age, "140"), d.IntN(4)*d.IntN(8),
			4+3*d.NormFloat64(),
			4+d.NormFloat64(),
			d.IntN(24), 1+d.IntN(31), max(0, 2000+1500*d.NormFloat64()), d.IntN(61), 4*d.Float64())
	}
	return text.String()
}
