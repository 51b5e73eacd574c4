package corpus

// This file draws the confidential tables of drawn specs: small ones that keep their contract, with all that a spec
// says what to do with. A table is drawn from the number of its spec alone.

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/dprelease/dprelease/spec"
)

// maxRows is the number of expected rows from which no table is drawn.
const maxRows = 10_000

// tables draws the confidential tables of a generated spec: their files by name. It returns false for a spec that
// expects too many rows.
func tables(number uint64, r *spec.Release) (files map[string]string, ok bool) {
	d := &drawing{Rand: rand.New(rand.NewPCG(number, 2027))}
	if r.Table("homes") != nil {
		return d.households(r), true
	}
	t := r.Table("persons")
	if number >= first {
		return map[string]string{"persons.csv": d.placedRows(t, 1500+d.IntN(1000))}, true
	}
	rows := 1500 + d.IntN(1000)
	if t.Expect != nil && t.Expect.Rows != nil {
		if t.Expect.Rows.Most > maxRows {
			return nil, false
		}
		rows = int(float64(t.Expect.Rows.Least+t.Expect.Rows.Most) / 2 / d.countedShare(t))
	}
	return map[string]string{"persons.csv": d.persons(r, t, rows)}, true
}

// oddShare is how often a value has no category in its column, or is null, if the spec says what to do then.
const oddShare = .02

// countedShare is about the share of rows of a table that count.
func (d *drawing) countedShare(t *spec.Table) float64 {
	share := 1.
	if t.Where != nil {
		share *= 2. / 3 // of hours from 8 on, and of women
	}
	for _, c := range t.Columns {
		if c.Unknown.Action == spec.Drop {
			share *= 1 - oddShare
		}
		if c.Null.Action == spec.Drop {
			share *= 1 - oddShare
		}
	}
	if t.Unit.Null == spec.Drop {
		share *= 1 - oddShare
	}
	return share
}

// drawValue returns a value of a column, now and then an unknown or null one if the spec says what to do with it.
func (d *drawing) drawValue(t *spec.Table, column, usual, unknown string) string {
	c := t.Column(column)
	switch {
	case c == nil:
		return usual
	case c.Null.Action != spec.Refuse && d.chance(oddShare):
		return ""
	case c.Unknown.Action != spec.Refuse && d.chance(oddShare):
		return unknown
	}
	return usual
}

// hasCategories reports whether numbers are asked for as categories too, which those beyond their range are none of.
func hasCategories(r *spec.Release) bool {
	return r.Synthetic != nil || strings.Contains(r.Source.Text, "distinct: hours")
}

// hours draws the hours of a person, some beyond the range.
func (d *drawing) hours(r *spec.Release) int {
	if hasCategories(r) {
		return d.IntN(61)
	}
	return d.IntN(70)
}

// persons draws the one table of a spec without links.
func (d *drawing) persons(r *spec.Release, t *spec.Table, rows int) string {
	var text strings.Builder
	text.WriteString("who,sex,state,hour,age,region,day,word,pay,hours,w\n")
	children := len(r.Impossible) > 0 && !r.Impossible[0].Drop // who are 15 or less do not work
	for range rows {
		age := d.IntN(100)
		state := d.oneOf("work", "work", "study", "home", "other")
		if children && age < 16 {
			state = "study"
		}
		who := fmt.Sprint("p", d.IntN(rows*2/3))
		if t.Unit.ID != "" && t.Unit.Null == spec.Drop && d.chance(oddShare) {
			who = ""
		}
		pay := 2000 + 1500*d.NormFloat64() // none a multiple of the step, and some beyond the range
		if hasCategories(r) {
			pay = min(max(pay, 0), 8000)
		}
		fmt.Fprintf(&text, "%s,%s,%s,%d,%s,r%d,2026-01-%02d,word%d,%.2f,%d,%.1f\n", who,
			d.drawValue(t, "sex", d.oneOf("f", "f", "m"), "x"),
			d.drawValue(t, "state", state, "none"), d.IntN(24), d.drawValue(t, "age", fmt.Sprint(age), "140"),
			1+d.IntN(4)*d.IntN(4)/3,
			1+d.IntN(31), d.IntN(6)*d.IntN(6), pay, d.hours(r), 4*d.Float64())
	}
	return text.String()
}

// households draws homes, one row each, and the persons in them, of whom some have no home and some homes have too
// many.
func (d *drawing) households(r *spec.Release) map[string]string {
	var homes, persons strings.Builder
	homes.WriteString("home,tenure,rooms\n")
	persons.WriteString("home,sex,age,work,pay,hours\n")
	for home := range 1000 {
		if home > 0 {
			fmt.Fprintf(&homes, "%d,%s,%d\n", home, d.oneOf("owned", "owned", "rented"), 1+d.IntN(6))
		}
		for range d.IntN(4) * d.IntN(4) {
			age := d.IntN(100)
			work := d.oneOf("yes_", "no_")
			if age < 16 {
				work = "child"
			}
			fmt.Fprintf(&persons, "%d,%s,%d,%s,%d,%d\n", home, d.oneOf("f", "m"), age, work,
				d.IntN(map[bool]int{false: 130, true: 101}[hasCategories(r)]), d.hours(r))
		}
	}
	return map[string]string{"homes.csv": homes.String(), "persons.csv": persons.String()}
}
