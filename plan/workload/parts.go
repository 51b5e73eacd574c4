package workload

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the parts: separate measurements that figures of a table are computed from, in addition to its
// count.

// PartsOf returns the parts of the tables, in their order. It returns an error if a part could not be counted.
func PartsOf(r *spec.Release, tables []*Table) ([]*Table, error) {
	var all []*Table
	for _, t := range tables {
		parts, err := partsOf(r, t)
		if err != nil {
			return nil, LocateFault(r, "marginals."+t.Marginal.Name, err)
		}
		all = append(all, parts...)
	}
	return all, nil
}

// partsOf returns the parts of one table.
func partsOf(r *spec.Release, t *Table) ([]*Table, error) {
	var all []*Table
	shows := t.forStatistics(r)
	for _, s := range t.Marginal.Stats {
		parts, err := statistic.Of(s.Kind).Parts(shows, s)
		if fault := (*statistic.Fault)(nil); errors.As(err, &fault) {
			return nil, &Fault{"stats", fault.Message, fault.Expected}
		}
		for _, p := range parts {
			part := newPart(r, t, p)
			if i := slices.IndexFunc(all, func(other *Table) bool { return other.Path == part.Path }); i >= 0 {
				if !reflect.DeepEqual(all[i].Query(), part.Query()) {
					return nil, &Fault{"stats", fmt.Sprintf(
						"two statistics of table %s would be measured under one name, %s",
						t.Path, part.Path), "another name for one of them (as: …)"}
				}
				continue
			}
			if part.Cells, err = Cells(r, part); err != nil {
				return nil, err
			}
			part.Cells *= answersPerCell(part.Counted)
			all = append(all, part)
		}
	}
	return all, nil
}

// forStatistics returns the table as statistics see it.
func (t *Table) forStatistics(r *spec.Release) statistic.Table {
	return statistic.Table{Release: r, Path: t.Path, Marginal: t.Marginal, By: t.By, CountedBy: t.CountedBy,
		PerUnit: t.PerUnit, Units: spec.CountsUnits(t.statistic())}
}

// newPart returns a part of a table, without its number of cells.
func newPart(r *spec.Release, t *Table, p statistic.Part) *Table {
	part := &Table{
		Index: t.Index, Path: statistic.ID(t.Path, p.Name, p.MoreAttributes), Marginal: t.Marginal, PartOf: t,
		Leaf:   t.Leaf,
		Weight: t.VarianceWeight(), By: slices.Concat(t.By, p.MoreAttributes), PerUnit: t.Marginal.PerUnit,
		Counted: p.Counted, Selection: selection.All{},
	}
	confidential := r.Table(t.Marginal.Table)
	part.CountedBy = attributes.CountedBy(confidential, part.By)
	part.Sums = SumsOf(t.Marginal, part.By)
	if p.CountsUnitsOnce {
		part.PerUnit = onceEach(part.PerUnit)
	}
	if p.Counted.Kind().Traits().OwnBound {
		part.PerUnit = spec.PerUnit{}
	}
	part.scaleWeight(confidential)
	return part
}

// onceEach bounds the rows of a unit in a cell to one.
func onceEach(bound spec.PerUnit) spec.PerUnit {
	bound.RowsPerGroup = 1
	return bound
}

// scaleWeight scales the weight of a table of values, so that its error is in rows of the largest value, like the
// error of tables that count rows.
func (t *Table) scaleWeight(confidential *spec.Table) {
	largest, _ := t.Counted.Extent(confidential).Largest().Float64()
	t.Weight = float64(t.Weight / float64(largest*largest))
}
