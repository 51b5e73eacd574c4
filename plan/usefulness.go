package plan

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what a table will be worth: its noise against the size of an average cell, known before any row is
// read, and which change to the spec would help.

// Usefulness sets the noise of a table against an average cell: the rows expected of the confidential table, a public
// number, spread evenly over the table's cells. Nothing of it comes from data.
type Usefulness struct {
	// Band is how good the table is; "" where the spec says nothing of the number of rows.
	Band Band `json:"band,omitempty"`
	// Verdict is whether the cells are to be used one by one, where all are as large as an average cell; "" without a band.
	Verdict Verdict `json:"verdict,omitempty"`
	// Rows is the middle of what the spec expects of the confidential table; 0 where it expects nothing.
	Rows int64 `json:"rows,omitempty"`
	// AverageCell is Rows over the cells; where the table counts up, the mean of what that gives.
	AverageCell float64 `json:"average_cell,omitempty"`
	// EnoughRows is with how many rows an average cell is as large as its standard error.
	EnoughRows int64 `json:"enough_rows"`
	// Help is what would take the table out of its band, the smallest change first; of weak tables and worse.
	Help []Help `json:"help,omitempty"`
}

// Band is how good a table is, by its noise and its average cell.
type Band string

// The bands, best first.
const (
	// Good: the 95 % margin is at most a tenth of an average cell.
	Good Band = "good"
	// Usable: the standard error is at most half of an average cell.
	Usable Band = "usable"
	// Weak: it is more.
	Weak Band = "weak"
	// MostlyNoise: more than half of the cells are expected to be off by more than an average cell.
	MostlyNoise Band = "mostly noise"
)

// bandOf judges a figure against an average cell of this size.
func bandOf(s Statistic, cell float64) Band {
	switch {
	case s.Margin <= cell/10:
		return Good
	case s.Median > cell:
		return MostlyNoise
	case s.StandardError > cell/2:
		return Weak
	}
	return Usable
}

// aim is the standard error, as a part of an average cell, that takes a table out of a band; 0 where nothing is amiss.
func (b Band) aim() float64 {
	switch b {
	case Weak:
		return 0.5
	case MostlyNoise:
		return 1
	}
	return 0
}

// Help is a change of the spec that takes a table out of its band, and what the standard error would then be.
type Help struct {
	// Change is what to do, such as "drop region" or "region.state for region".
	Change string `json:"change"`
	// Factor is the size of the change: how many times fewer cells, or how many times the ε or ρ.
	Factor float64 `json:"factor"`
	// Relative is the standard error that is left, as a part of an average cell.
	Relative float64 `json:"relative_error"`
	// Budget tells that the change is one of the budget, not of the table.
	Budget bool `json:"budget,omitempty"`
}

// assess says of every table what it will be worth.
func (p *Plan) assess() {
	known := map[string]Table{} // tables by what they show
	for _, t := range p.Tables {
		if _, ok := known[shown(t.From, t.By)]; !ok && !t.someCells() && t.OfRows() && t.Invariant == "" {
			known[shown(t.From, t.By)] = t
		}
	}
	leaves := p.leavesOfTables()
	for i := range p.Tables {
		t := &p.Tables[i]
		if t.someCells() || !t.OfRows() || t.Sampled() || t.Invariant != "" {
			continue // most of its cells have no rows, it counts something else, noise is a part of its error, or it has none: an average cell says nothing
		}
		s, cells := t.Statistics[0], p.evenCells(*t)
		u := &Usefulness{Rows: expectedRows(p.Release().Table(t.From)), EnoughRows: int64(math.Ceil(s.StandardError * cells))}
		if u.Rows > 0 {
			u.AverageCell = budget.RoundUp(float64(u.Rows)/cells, significant)
			u.Band, u.Verdict = bandOf(s, u.AverageCell), p.evenVerdict(*t, u.AverageCell)
			if u.Band.aim() > 0 {
				u.Help = p.help(*t, *u, known)
				u.Help = append(u.Help, p.moreBudget(s.StandardError/u.AverageCell, u.Band.aim(), leaves[t.Path]))
				slices.SortStableFunc(u.Help, func(a, b Help) int { return cmp.Compare(a.Factor, b.Factor) })
			}
		}
		t.Usefulness = u
		t.Expectation += " " + u.sentence(s, t.From)
	}
}

// expectedRows is the middle of the number of rows that a spec expects of a table; 0 where it expects none.
func expectedRows(t *spec.Table) int64 {
	if t.Expect == nil || t.Expect.Rows == nil {
		return 0
	}
	rows := t.Expect.Rows
	return rows.Least + (rows.Most-rows.Least)/2
}

// shown is what a table shows: of which confidential table, by which attributes.
func shown(from string, by []string) string {
	return fmt.Sprint(from, slices.Sorted(slices.Values(by)))
}

// evenCells is what the rows are divided by for an average cell, were they spread evenly over the cells that can have
// some: the number of those cells, and of n categories that are counted up 2n/(n+1), as the i-th of them has i/n.
func (p *Plan) evenCells(t Table) float64 {
	cells := float64(t.possible())
	for _, name := range t.By {
		if p.countsUp(t, name) {
			cells *= 2 / (p.sizeOf(t.From, attributeOf(name)) + 1)
		}
	}
	return cells
}

// countsUp tells that a table counts up along an attribute.
func (p *Plan) countsUp(t Table, name string) bool {
	return slices.ContainsFunc(p.Release().Marginals, func(m spec.Marginal) bool {
		return m.Name == t.Marginal && slices.Contains(m.Cumulative, attributeOf(name))
	})
}

// evenSize is by how much an attribute of a table divides the rows, at its own level or at another.
func (p *Plan) evenSize(t Table, name string, level spec.Attribute) float64 {
	n := p.sizeOf(t.From, level)
	if p.countsUp(t, name) {
		return 2 * n / (n + 1)
	}
	return n
}

// possible is how many cells of a table can have rows.
func (t Table) possible() int64 { return t.Cells - t.Impossible }

// sizeOf is the number of categories of an attribute.
func (p *Plan) sizeOf(table string, a spec.Attribute) float64 {
	level, ok := p.Release().Table(table).Column(a.Column).Domain.Level(a.Level)
	if !ok {
		return 1 // refused before
	}
	return float64(level.Size())
}

// help are the changes to a table, at most one for each of its attributes, that bring its relative error to the aim of
// its band: the finest declared level that does, or leaving the attribute out. Where none does by itself, the largest
// attributes are left out together. Of a table that the plan has the error is known; of another the noise is taken to
// stay as it is: tables are put together by least squares, so that it would have less than the sum of noisy cells.
func (p *Plan) help(t Table, u Usefulness, known map[string]Table) []Help {
	relative := t.Statistics[0].StandardError / u.AverageCell
	after := func(by []string, fewer float64) float64 {
		if other, ok := known[shown(t.From, by)]; ok {
			return other.Statistics[0].StandardError * p.evenCells(other) / float64(u.Rows)
		}
		return relative / fewer
	}
	var all []Help
	try := func(change string, by []string, fewer float64) bool {
		left := after(by, fewer)
		if left > u.Band.aim() {
			return false
		}
		all = append(all, Help{Change: change, Factor: budget.RoundUp(fewer, significant), Relative: budget.RoundUp(left, significant)})
		return true
	}
	for i, name := range t.By {
		size := p.evenSize(t, name, attributeOf(name))
		helped := false
		for _, coarser := range p.coarser(t.From, name) {
			by := slices.Clone(t.By)
			by[i] = coarser.String()
			if helped = try(fmt.Sprintf("%s for %s", coarser, name), by, size/p.evenSize(t, name, coarser)); helped {
				break
			}
		}
		if !helped && len(t.By) > 1 {
			try("drop "+name, slices.Delete(slices.Clone(t.By), i, i+1), size)
		}
	}
	if len(all) > 0 {
		return all
	}
	by, fewer := slices.Clone(t.By), 1.0
	var dropped []string
	for len(by) > 1 {
		most := 0
		for i := range by {
			if p.sizeOf(t.From, attributeOf(by[i])) > p.sizeOf(t.From, attributeOf(by[most])) {
				most = i
			}
		}
		fewer *= p.evenSize(t, by[most], attributeOf(by[most]))
		dropped, by = append(dropped, by[most]), slices.Delete(by, most, most+1)
		if len(dropped) > 1 && try("drop "+inWords(dropped), by, fewer) {
			break
		}
	}
	return all
}

// attributeOf reads an attribute as a spec writes it.
func attributeOf(name string) spec.Attribute {
	column, level, _ := strings.Cut(name, ".")
	return spec.Attribute{Column: column, Level: level}
}

// coarser are the declared levels of an attribute's column that its own lies within, the finest first.
func (p *Plan) coarser(table, name string) []spec.Attribute {
	a := attributeOf(name)
	domain := p.Release().Table(table).Column(a.Column).Domain
	own, ok := domain.Level(a.Level)
	if !ok {
		return nil // refused before
	}
	var all []spec.Attribute
	for _, other := range domain.LevelNames() {
		level, _ := domain.Level(other)
		if level.Size() >= own.Size() {
			continue
		}
		if _, nested := nesting(domain.Size(), own, level); nested {
			all = append(all, spec.Attribute{Column: a.Column, Level: other})
		}
	}
	slices.SortStableFunc(all, func(a, b spec.Attribute) int { return cmp.Compare(p.sizeOf(table, b), p.sizeOf(table, a)) })
	return all
}

// moreBudget is how much more of the budget brings a relative error down to an aim: errors go with 1/ε where the budget
// is pure, variances with 1/ρ else.
func (p *Plan) moreBudget(relative, aim float64, leaf string) Help {
	factor := relative / aim
	if p.Cost.Epsilon == nil {
		factor *= relative / aim
	}
	h := Help{Factor: budget.RoundUp(factor, significant), Relative: aim, Budget: true}
	times := timesText(factor)
	switch share := p.shareOf(leaf); {
	case leaf != "" && share != nil && share.Mul(share, new(big.Rat).SetFloat64(factor)).Cmp(big.NewRat(1, 1)) < 0:
		h.Change = fmt.Sprintf("give %s %s its share", leaf, times)
	case p.Cost.Epsilon != nil:
		h.Change = fmt.Sprintf("spend %s the ε", times)
	case p.Guarantee.Delta != "" || p.Release().Budget.Delta != nil:
		h.Change = fmt.Sprintf("spend %s the ρ (about %s the ε)", times, timesText(math.Sqrt(factor)))
	default:
		h.Change = fmt.Sprintf("spend %s the ρ", times)
	}
	return h
}

// shareOf is a leaf's share of the budget; nil where it has none of its own.
func (p *Plan) shareOf(leaf string) *big.Rat {
	for _, l := range p.Leaves {
		if l.Path == leaf {
			return amount(l.Share)
		}
	}
	return nil
}

// timesText is a factor in words.
func timesText(factor float64) string { return factorText(factor) + " times" }

// factorText is a factor in two digits, rounded up.
func factorText(factor float64) string {
	if r := new(big.Rat).SetFloat64(factor); r != nil {
		return budget.DecimalUp(r, 2)
	}
	return "∞"
}

// sentence is the band in words or, where no size is expected, from how many rows on the table is worth reading.
func (u Usefulness) sentence(s Statistic, from string) string {
	cell := fmt.Sprintf("an average cell (%s if %s has %s)", sizeText(u.AverageCell), from, budget.Plural(u.Rows, "row"))
	verdict := fmt.Sprintf(" Verdict on cells of that size: %s.", u.Verdict)
	switch u.Band {
	case Good:
		return fmt.Sprintf("Good: the margin is %s of %s.", budget.Percent(s.Margin/u.AverageCell), cell) + verdict
	case Usable:
		return fmt.Sprintf("Usable: the standard error is %s of %s.", budget.Percent(s.StandardError/u.AverageCell), cell) + verdict
	case Weak:
		return fmt.Sprintf("Weak: the standard error is %s of %s.", budget.Percent(s.StandardError/u.AverageCell), cell) + verdict
	case MostlyNoise:
		return fmt.Sprintf("Mostly noise: half its cells will be off by more than their size, by %s or more beside %s.", sizeText(s.Median), cell) + verdict
	}
	if u.EnoughRows < 2 {
		return ""
	}
	return fmt.Sprintf("With fewer than %s rows in %s an average cell is smaller than its own noise.", budget.Group(u.EnoughRows), from)
}

// advice is the first two changes that would help, "" where none is needed.
func (u *Usefulness) advice() string {
	if u == nil || len(u.Help) == 0 {
		return ""
	}
	if hopeless(u.Help) {
		return "Nothing but the budget would help (" + u.Help[0].Change + "): leave the table out."
	}
	var changes []string
	for _, h := range u.Help[:min(2, len(u.Help))] {
		changes = append(changes, h.Change)
	}
	return "What would help: " + strings.Join(changes, ", or ") + "."
}

// mostBudget is how many times what is spent somebody may still think of spending.
const mostBudget = 10

// hopeless tells that nothing helps but a budget that nobody will spend.
func hopeless(all []Help) bool { return len(all) == 1 && all[0].Budget && all[0].Factor > mostBudget }

// bandsText says how many of several tables are how good; or from how many rows on they are worth reading.
func bandsText(tables []Table) string {
	count := map[string]int64{} // by label
	least, most := int64(math.MaxInt64), int64(0)
	for _, t := range tables {
		if t.Usefulness == nil {
			return ""
		}
		count[t.Usefulness.Label()]++
		least, most = min(least, t.Usefulness.EnoughRows), max(most, t.Usefulness.EnoughRows)
	}
	if count[""] == int64(len(tables)) {
		return fmt.Sprintf(" With fewer than %s (the best) to %s (the worst) rows in %s an average cell is smaller than its own noise.", budget.Group(least), budget.Group(most), tables[0].From)
	}
	var parts []string
	for _, b := range []Band{Good, Usable, Weak, MostlyNoise} {
		for _, v := range []Verdict{UseCells, AddUpFirst, LargeCellsOnly, DoNotUse} {
			label := (&Usefulness{Band: b, Verdict: v}).Label()
			if count[label] > 0 {
				parts = append(parts, fmt.Sprintf("%s %s", budget.Group(count[label]), label))
			}
		}
	}
	return " Against their average cells: " + strings.Join(parts, ", ") + "."
}

// sizeText is a number of rows as people read it.
func sizeText(rows float64) string {
	if rows >= 100 {
		return budget.Group(int64(math.Round(rows)))
	}
	return budget.DecimalNearest(rows, 2)
}

// inWords lists names: "a", "a and b", "a, b and c".
func inWords(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
