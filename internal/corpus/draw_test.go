package corpus

// This file draws specs over the whole language. A spec is drawn from its number alone, so that the list of hashes says
// of each what it was.

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/dprelease/dprelease/spec"
)

// drawing draws the parts of one spec.
type drawing struct {
	*rand.Rand
	text    strings.Builder
	files   map[string]string
	columns []string // attributes that marginals may be by, with their levels
	leaves  []string
	pure    bool // the budget is of ε alone
	rows    bool // every row is a unit of its own
	sampled bool
}

// drawSpec returns the generated spec with a number. Most can be planned; the refusals of the others are compared too.
func drawSpec(number uint64) spec.Source {
	d := &drawing{Rand: rand.New(rand.NewPCG(number, 2026)), files: map[string]string{}}
	if number >= first {
		return d.further(number)
	}
	linked := d.chance(.15)
	d.line("version: 1\nrelease: drawn-%d", number)
	d.line("privacy: {protects: person, neighbours: %s%s}", d.oneOf("add-remove", "replace"),
		d.sometimes(.1, ", account: people"))
	leaves := d.IntN(3)
	microdata := d.budget(leaves, d.chance(.3))
	if linked {
		d.linkedTables()
	} else {
		d.flatTable()
	}
	d.marginals(linked)
	if microdata {
		d.microdata(linked)
	}
	if !linked {
		d.constraints()
	}
	if d.chance(.15) {
		d.line("diagnostics: {share: %s}", d.oneOf("1%", "1/50"))
	}
	return spec.Source{Name: "release.yaml", Text: d.text.String(), Files: d.files}
}

func (d *drawing) line(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }
func (d *drawing) chance(p float64) bool           { return d.Float64() < p }
func (d *drawing) oneOf(of ...string) string       { return of[d.IntN(len(of))] }

// sometimes returns the text with a probability, otherwise "".
func (d *drawing) sometimes(p float64, text string) string {
	if d.chance(p) {
		return text
	}
	return ""
}

// someOf returns some of the texts, at least least, in a random order.
func (d *drawing) someOf(least, most int, of []string) []string {
	all := append([]string(nil), of...)
	d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(len(all), least+d.IntN(most-least+1))]
}

// budget draws the amount, the split into leaves of marginals, and a leaf of microdata where there are any.
func (d *drawing) budget(leaves int, microdata bool) bool {
	form := d.oneOf("epsilon: 1", "epsilon: 1/2", "epsilon: 10", "rho: 1/8", "rho: 1/50", "epsilon: 1, delta: 1e-9",
		"epsilon: 3, delta: 1e-6")
	d.pure = !strings.Contains(form, "rho") && !strings.Contains(form, "delta")
	d.sampled = !strings.Contains(form, "rho") && strings.Contains(d.text.String(), "add-remove") && d.chance(.1)
	microdata = microdata && !d.pure
	for i := range leaves {
		d.leaves = append(d.leaves, fmt.Sprintf("l%d", i))
	}
	var parts []string
	switch {
	case leaves == 0 && microdata:
		d.leaves = []string{"counts"}
		parts = []string{"counts: 1/2", "microdata: 1/2"}
	case leaves == 1 && microdata:
		parts = []string{"l0: 60%", "microdata: 40%"}
	case leaves == 1:
		parts = []string{"l0: 1"}
	case leaves == 2 && microdata:
		parts = []string{"l0: 1/4", "l1: 1/4", "microdata: 1/2"}
	case leaves == 2 && d.chance(.2):
		parts = []string{"l0: needed", "l1: 1"}
	case leaves == 2 && d.chance(.3) && d.pure:
		parts = []string{"l0: {epsilon: 1/10}", "l1: 1"}
	case leaves == 2:
		parts = []string{"l0: 2/3", "l1: 1/3"}
	}
	split := ""
	if parts != nil {
		split = ", split: {" + strings.Join(parts, ", ") + "}"
	}
	d.line("budget: {%s%s%s}", form, d.sometimes(.3, ", minimise: "+d.oneOf("sum", "largest", "guarded")), split)
	return microdata
}

// flatTable draws one table of persons.
func (d *drawing) flatTable() {
	d.line("tables:\n  persons:\n    source: {csv: persons.csv}")
	unit := d.oneOf("row", "{id: who, max_rows: 1}", "{id: who, max_rows: 3}", "{id: who, max_rows: 2, null: drop}")
	d.rows = unit == "row"
	d.line("    unit: %s", unit)
	if d.chance(.12) {
		d.line("    weight: {from: w, range: [0, %s], step: %s, kind: %s}", d.oneOf("4", "20"), d.oneOf("1", "0.5"),
			d.oneOf("design", "calibrated"))
	}
	if d.chance(.5) {
		d.line("    expect: {rows: [%s]}", d.oneOf("100, 200", "4000, 5000", "900000, 1100000"))
	}
	if d.chance(.1) {
		d.line("    where: %s", d.oneOf("'hour >= 8'", "{is: 'sex == ''f''', unknown: drop}"))
	}
	if d.sampled {
		d.line("    sample: {poisson: 10%%}")
	}
	join := d.chance(.12)
	if join {
		d.line("    join: {areas: {csv: areas.csv, on: region, public: true}}")
		d.files["areas.csv"] = "region,kind\nr1,town\nr2,land\nr3,town\nr4,land\n"
	}
	d.line("    columns:")
	d.column("sex", "{values: [f, m]%s}", d.sometimes(.3, ", unknown: {as: m}"))
	d.column("state", "{values: [work, study, home, other]%s}", d.sometimes(.3, ", null: drop"))
	d.column("hour", "{values: {integers: [0, 23]}}")
	d.column("age", "{type: integer, range: [0, 99]%s, levels: {ten: {width: 10}, band: {edges: [0, 16, 65]}}}",
		d.sometimes(.3, ", unknown: drop"))
	d.columns = append(d.columns, "age.ten", "age.ten", "age.band", "age.band")
	d.files["regions.csv"] = "code,label,part\nr1,One,a\nr2,Two,a\nr3,Three,b\nr4,Four,b\n"
	d.column("region", "{codebook: regions.csv, levels: [part]}")
	d.columns = append(d.columns, "region.part")
	if join {
		d.column("kind", "{from: areas.kind, values: [town, land]}")
	}
	if d.chance(.2) {
		d.column("adult", "{from: 'age >= 18', values: [\"true\", \"false\"]}")
	}
	if d.chance(.15) {
		d.line("      day: {type: date, range: [2026-01-01, 2026-01-31]}")
	}
	if d.chance(.2) {
		d.line("      word: {values: {discover: {max_length: 20%s}}}", d.sometimes(.5, ", at_least: 5"))
	}
	d.line("      pay: {type: decimal, range: [0, 8000], step: 10%s}",
		d.sometimes(.1, map[bool]string{false: ", bounds: {suggest: 1%}"}[d.sampled]))
	d.line("      hours: {type: integer, range: [0, 60]}")
}

func (d *drawing) column(name, shape string, args ...any) {
	d.line("      %s: %s", name, fmt.Sprintf(shape, args...))
	d.columns = append(d.columns, name)
}

// linkedTables draws households and the persons in them.
func (d *drawing) linkedTables() {
	d.line("tables:\n  homes:\n    source: {csv: homes.csv}\n    unit: {id: home, max_rows: 1}%s",
		d.sometimes(.5, "\n    expect: {rows: [900, 1100]}"))
	d.line("    columns:\n      tenure: {values: [owned, rented]}\n      rooms: {type: integer, range: [1, 6]}")
	d.line("  persons:\n    source: {csv: persons.csv}\n    unit: {id: home, max_rows: %s}\n    columns:",
		d.oneOf("4", "7"))
	d.column("sex", "{values: [f, m]}")
	d.column("age", "{type: integer, range: [0, 99], levels: {ten: {width: 10}}}")
	d.columns = append(d.columns, "age.ten")
	d.column("work", "{values: [yes_, no_, child]}")
	d.line("      pay: {type: integer, range: [0, 100]}\n      hours: {type: integer, range: [0, 60]}")
}

// drawAttributes draws attributes, of a column at most one.
func (d *drawing) drawAttributes(least, most int) []string {
	var by []string
	seen := map[string]bool{}
	for _, a := range d.someOf(least, most, d.columns) {
		column, _, _ := strings.Cut(a, ".")
		if !seen[column] {
			by, seen[column] = append(by, a), true
		}
	}
	return by
}

// marginals draws one to five tables.
func (d *drawing) marginals(linked bool) {
	d.line("marginals:")
	for i := range max(1, len(d.leaves)) + d.IntN(4) {
		table, by := "", d.drawAttributes(d.IntN(5)/4^1, 3)
		if linked {
			table = "table: persons, "
			if d.chance(.3) {
				table, by = "table: homes, ", []string{d.oneOf("tenure", "rooms")}
			}
		}
		leaf := ""
		if len(d.leaves) > 0 {
			leaf = ", budget: " + d.leaves[i%len(d.leaves)]
		}
		needed := strings.Contains(d.text.String(), "l0: needed") && i%2 == 0
		d.line("  m%d: {%sby: [%s]%s%s%s}", i, table, strings.Join(by, ", "), leaf,
			d.sometimes(.2, ", weight: "+d.oneOf("4", "1/3", "100")),
			d.drawRequest(by, needed, linked && table == "table: homes, "))
	}
}

// drawRequest draws what a marginal is asked beyond its counts.
func (d *drawing) drawRequest(by []string, needed, homes bool) string {
	if needed {
		return fmt.Sprintf(", target: {margin: %s%s%s}", d.oneOf("20", "50", "500"),
			d.sometimes(.3, ", confidence: 99%"),
			d.sometimes(.3, ", of: all-cells"))
	}
	if homes {
		return ""
	}
	if d.Float64() < .3 {
		return ""
	}
	switch d.IntN(14) {
	case 0:
		return ", stats: [count, {mean: pay}]"
	case 1:
		return fmt.Sprintf(", stats: [count, {sum: pay}%s]", d.sometimes(.5, ", {deviation: pay}"))
	case 2:
		return fmt.Sprintf(", stats: [{median: pay}%s]%s", d.sometimes(.5, ", count"),
			d.sometimes(.5, ", show: {when_count_at_least: 30}"))
	case 3:
		return ", stats: [count, {quantiles: pay, at: [10%, 90%]}]"
	case 4:
		return ", stats: [count, {ratio: {of: {sex: f}, over: {sex: [f, m]}}, as: women}]"
	case 5:
		return ", stats: [units]" + d.sometimes(.5, map[bool]string{false: ", per_unit: {groups: 2}"}[d.rows])
	case 6:
		if !d.rows {
			return ", per_unit: {groups: 1, rows_per_group: 1}"
		}
	case 7:
		return ", cells: {above: " + d.oneOf("20", "40", "200") + "}"
	case 8:
		return ", top: " + d.oneOf("1", "3")
	case 9:
		if len(by) > 0 {
			return ", cumulative: [" + by[0] + "]"
		}
	case 10:
		if len(by) > 0 {
			return ", ranges: [" + by[len(by)-1] + "]"
		}
	case 11:
		if len(by) > 1 {
			return ", every: [1, 2]"
		}
	case 12:
		if d.rows {
			break
		}
		return ", stats: [{distinct: hours, per_unit: 2}, count]"
	case 13:
		return ", stats: [{ratio: {sum: pay, over: {sum: hours}}, as: hourly}]"
	}
	return ""
}

// microdata draws how rows are made up.
func (d *drawing) microdata(linked bool) {
	if linked {
		d.line("synthetic:\n  homes: {budget: homes}\n  persons: {budget: microdata, parent: homes, size: members, "+
			"by: [sex, age.ten, work]%s}", d.sometimes(.3, ", ways: 2"))
		return
	}
	d.line("synthetic: {persons: {budget: microdata%s%s%s%s}}",
		d.sometimes(.6, ", by: ["+strings.Join(d.drawAttributes(4, 7), ", ")+"]"),
		d.sometimes(.5, ", rows: 1000"),
		d.sometimes(.5, ", method: "+d.oneOf("mst", "aim", "tables")), d.sometimes(.2, ", files: 2"))
}

// constraints draws what is known of the table.
func (d *drawing) constraints() {
	if d.chance(.2) {
		d.line("impossible: [{where: {age.band: 0–15, state: work}%s}]", d.sometimes(.5, ", rows: drop"))
	}
	if d.chance(.15) {
		d.line("invariants: {sexes: {table: persons, by: [sex], values: {f: 2400, m: 2300}}}")
	}
	if d.chance(.15) {
		d.line("publish: {integers: consistent}")
	}
}
