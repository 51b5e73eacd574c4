package workload

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the parts: measurements that figures of a table rest on beside its count, each of its own.

// parts are those of the tables, in their order. It fails where a part could not be counted.
func PartsOf(r *spec.Release, tables []*Table) ([]*Table, error) {
	var all []*Table
	for _, t := range tables {
		l := layout{release: r, table: t}
		for _, s := range t.Marginal.Stats {
			if err := l.figure(s); err != nil {
				return nil, At(r, "marginals."+t.Marginal.Name, err)
			}
		}
		all = append(all, l.parts...)
	}
	return all, nil
}

// layout finds what the figures of one table rest on.
type layout struct {
	release *spec.Release
	table   *Table
	parts   []*Table
}

// figure finds the parts of a statistic, and adds those that are not there yet.
func (l *layout) figure(s spec.Stat) error {
	var err error
	need := func(p *Table) {
		if err == nil {
			err = l.need(p)
		}
	}
	switch s.Kind {
	case spec.Sum, spec.Mean:
		need(l.sum(s.Column, 1, nil))
	case spec.Variance, spec.Deviation:
		need(l.sum(s.Column, 1, nil))
		need(l.sum(s.Column, 2, nil))
	case spec.Ratio:
		by := whereColumns(s)
		if i := slices.IndexFunc(by, func(a spec.Attribute) bool {
			return slices.ContainsFunc(l.table.By, func(b spec.Attribute) bool { return a.Column == b.Column })
		}); i >= 0 {
			return &Fault{"stats", fmt.Sprintf("%s tells rows apart by %s, and so does the table", s.Name, by[i].Column),
				"a column that the table is not by"}
		}
		if len(by) > 0 && l.table.PerUnit != nil && l.table.PerUnit.Groups+l.table.PerUnit.RowsPerGroup > 0 {
			return &Fault{"stats", fmt.Sprintf(
				"%s tells rows of a group apart, and per_unit bounds the rows of a unit by group: the two would have other groups",
				s.Name), "per_unit: {total: N}, or a marginal without per_unit for it"}
		}
		if len(by) > 0 {
			need(l.count(by))
		}
		for _, term := range []spec.Term{s.Of, s.Over} {
			if term.Kind != spec.Count {
				need(l.termSum(term.Column, by))
			}
		}
	case spec.Quantiles:
		need(l.quantiles(s))
	case spec.Units:
		if l.table.statistic() != spec.Units.String() {
			need(l.units())
		}
	case spec.Distinct:
		need(l.distinct(s))
	}
	return err
}

// need adds a part unless it is there.
func (l *layout) need(p *Table) error {
	if i := slices.IndexFunc(l.parts, func(other *Table) bool { return other.Path == p.Path }); i >= 0 {
		if !reflect.DeepEqual(l.parts[i].Query(), p.Query()) {
			return &Fault{"stats", fmt.Sprintf("two statistics of table %s would be measured under one name, %s", l.table.Path,
				p.Path), "another name for one of them (as: …)"}
		}
		return nil
	}
	var err error
	if p.Cells, err = Cells(l.release, p); err != nil {
		return err
	}
	if p.Quantile != nil {
		p.Cells *= drawsOfShare * int64(len(p.Quantile.At))
	}
	l.parts = append(l.parts, p)
	return nil
}

// part is a part of a name, of the table's rows by its attributes and some more.
func (l *layout) part(name string, more []spec.Attribute) *Table {
	t := l.table
	p := &Table{
		Place: t.Place, Path: partPath(t.Path, name, more), Marginal: t.Marginal, Of: t, Leaf: t.Leaf, Weight: t.Asked(),
		By: slices.Concat(t.By, more), PerUnit: boundOf(t.Marginal),
	}
	p.Counted = attributes.CountedBy(l.release.Table(t.Marginal.Table), p.By)
	p.Sums = SumsOf(t.Marginal, p.By)
	return p
}

// partPath is the ID of a part's measurement.
func partPath(table, name string, more []spec.Attribute) string {
	for _, a := range more {
		name += "_x_" + a.String()
	}
	return "values/" + table + "/" + name
}

// boundOf is the bound per unit of a marginal, nil for none.
func boundOf(m *spec.Marginal) *spec.PerUnit {
	if m.PerUnit == (spec.PerUnit{}) {
		return nil
	}
	bound := m.PerUnit
	return &bound
}

// count is the count of rows by more attributes than the table's.
func (l *layout) count(more []spec.Attribute) *Table {
	p := l.part("count", more)
	confidential := l.release.Table(p.Marginal.Table)
	p.Value = weightOf(confidential)
	p.weigh(confidential)
	return p
}

// weightOf is the value of rows that count by their weights, nil where each is one.
func weightOf(t *spec.Table) *plan.Value {
	if t.Weight == nil {
		return nil
	}
	return &plan.Value{Weight: true}
}

// sum is the sum of a power of a column's values about the middle of their range, in half ranges: the error of a sum
// counts beside that of a count as where each row were at an end of the range.
func (l *layout) sum(column string, power int, more []spec.Attribute) *Table {
	p := l.part(sumsName(column, power), more)
	confidential := l.release.Table(p.Marginal.Table)
	p.Value = centred(confidential, confidential.Column(column), p.Counted)
	p.Value.Power, p.Value.Weight = power, confidential.Weight != nil
	p.weigh(confidential)
	return p
}

// termSum is the sum that a term of a ratio rests on: as sum, about the middle of the whole range where the table tells
// strata apart as well, so that the numerator and the denominator of a cell add up in one unit.
func (l *layout) termSum(column string, more []spec.Attribute) *Table {
	name, apart := termSumsName(l.release, l.table, column, more)
	if !apart {
		return l.sum(column, 1, more)
	}
	p := l.part(name, more)
	confidential := l.release.Table(p.Marginal.Table)
	p.Value = centred(confidential, confidential.Column(column), nil)
	p.Value.Power, p.Value.Weight = 1, confidential.Weight != nil
	p.weigh(confidential)
	return p
}

// termSumsName names the part of a ratio's sums of a column, and tells whether it is another than that of other
// figures.
func termSumsName(r *spec.Release, t *Table, column string, more []spec.Attribute) (name string, apart bool) {
	l := r.Table(t.Marginal.Table).Column(column).Lattice
	if l.By != "" && slices.Contains(slices.Concat(t.Counted, more), spec.Attribute{Column: l.By}) {
		return column + "_whole_sums", true
	}
	return sumsName(column, 1), false
}

// weigh makes the error of a table of values count in rows of the largest value, beside those of others that count
// rows.
func (t *Table) weigh(confidential *spec.Table) {
	largest, _ := ExtentOf(t.Value, confidential).largest().Float64()
	t.Weight = float64(t.Weight / float64(largest*largest))
}

// sumsName names the part that holds sums of a power of a column.
func sumsName(column string, power int) string {
	if power == 2 {
		return column + "_squares"
	}
	return column + "_sums"
}

// centred is the value of a column's places about the middle of its range; of each stratum about its own, and
// multiplied so that all have nearly the same reach, where the query tells strata apart.
func centred(t *spec.Table, c *spec.Column, by []spec.Attribute) *plan.Value {
	l := c.Lattice
	v := &plan.Value{Column: c.Name, Power: 1, Times: 1}
	if l.By == "" || !slices.Contains(by, spec.Attribute{Column: l.By}) {
		if (l.First+l.Last)%2 != 0 {
			v.Times = 2
		}
		v.Minus = (l.First + l.Last) / 2 * v.Times
		if v.Times == 2 {
			v.Minus = l.First + l.Last
		}
		return v
	}
	v.Per, v.Times = l.By, 2
	var widest int64
	for _, s := range l.Strata {
		widest = max(widest, s.Last-s.First)
	}
	for _, s := range l.Strata {
		v.Off = append(v.Off, s.First+s.Last)
		v.By = append(v.By, max(1, widest/max(1, s.Last-s.First)))
	}
	return v
}

// quantilesOf are the name of the part that holds the quantiles of a column, and their shares: all statistics of a
// table that ask for some share it.
func quantilesOf(m *spec.Marginal, column string) (name string, at []*big.Rat) {
	for _, s := range m.Stats {
		if s.Kind != spec.Quantiles || s.Column != column {
			continue
		}
		if name == "" {
			name = s.Name + "_quantiles"
		}
		for _, share := range s.At {
			place, found := slices.BinarySearchFunc(at, share, (*big.Rat).Cmp)
			if !found {
				at = slices.Insert(at, place, share)
			}
		}
	}
	return name, at
}

// quantiles are those of a column.
func (l *layout) quantiles(s spec.Stat) *Table {
	name, at := quantilesOf(l.table.Marginal, s.Column)
	p := l.part(name, nil)
	p.Quantile = &plan.Quantile{Column: s.Column, Weight: l.release.Table(p.Marginal.Table).Weight != nil}
	for _, share := range at {
		p.Quantile.At = append(p.Quantile.At, share.RatString())
	}
	return p
}

// units counts units that have a row in a cell.
func (l *layout) units() *Table {
	p := l.part(spec.Units.String(), nil)
	p.PerUnit = onceEach(p.PerUnit)
	return p
}

// onceEach bounds the rows of a unit in a cell to one.
func onceEach(bound *spec.PerUnit) *spec.PerUnit {
	out := spec.PerUnit{}
	if bound != nil {
		out = *bound
	}
	out.RowsPerGroup = 1
	return &out
}

// distinct counts values of a column.
func (l *layout) distinct(s spec.Stat) *Table {
	p := l.part(s.Name, nil)
	p.PerUnit, p.Distinct = nil, &plan.Distinct{Column: s.Column, PerUnit: s.PerUnit}
	return p
}

// whereColumns are the attributes that the terms of a ratio tell rows apart by.
func whereColumns(s spec.Stat) []spec.Attribute {
	var out []spec.Attribute
	for _, term := range []spec.Term{s.Of, s.Over} {
		for _, c := range term.Where {
			if !slices.Contains(out, c.Attribute) {
				out = append(out, c.Attribute)
			}
		}
	}
	return out
}
