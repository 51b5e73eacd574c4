package report

// This file derives facts from the tables of a report, for sentences and for pages.

import (
	"cmp"
	"slices"

	"github.com/dprelease/dprelease/report/internal/words"
)

// Rounded reports whether the published figure is rounded from an unbiased one that is a multiple of a fractional unit.
func (s Statistic) Rounded() bool {
	unit := words.Exact(s.Unit)
	return unit != nil && !unit.IsInt()
}

// TablesWhere returns the tables for which is is true.
func TablesWhere(tables []Table, is func(Table) bool) []Table {
	var out []Table
	for _, t := range tables {
		if is(t) {
			out = append(out, t)
		}
	}
	return out
}

// PathsWhere returns the paths of the tables for which is is true.
func PathsWhere(tables []Table, is func(Table) bool) []string {
	var paths []string
	for _, t := range TablesWhere(tables, is) {
		paths = append(paths, t.Path)
	}
	return paths
}

// Total returns the sum of of over the tables.
func Total(tables []Table, of func(Table) int64) int64 {
	var n int64
	for _, t := range tables {
		n += of(t)
	}
	return n
}

// Reconstructed reports whether the statistic is reconstructed from several measurements, or from one that is not a
// table.
func (s Statistic) Reconstructed() bool { return s.Mechanism == nil && s.SumOf == "" }

// AnyStatistic reports whether is is true for a statistic of some table.
func (r *Report) AnyStatistic(is func(Statistic) bool) bool {
	return slices.ContainsFunc(r.Tables, func(t Table) bool { return slices.ContainsFunc(t.Statistics, is) })
}

// DifferenceRange returns the smallest and the largest difference, over the tables, from which two cells of a table
// differ by more than noise; 0 if none is known.
func (r *Report) DifferenceRange() (least, most int64) {
	for _, t := range r.Tables {
		for _, s := range t.Statistics {
			if t.Aside || s.CellsDifferFrom == 0 {
				continue
			}
			least, most = min(cmp.Or(least, s.CellsDifferFrom), s.CellsDifferFrom), max(most, s.CellsDifferFrom)
		}
	}
	return least, most
}

// HasCellDifferences reports whether such a difference is known for some table.
func (r *Report) HasCellDifferences() bool {
	_, most := r.DifferenceRange()
	return most > 0
}

// Figured returns the tables that have figures in addition to their count.
func (r *Report) Figured() []Table {
	return TablesWhere(r.Tables, func(t Table) bool { return len(t.Figures) > 0 })
}

// FittedSome reports whether the counts of some table were adjusted to add up.
func (r *Report) FittedSome() bool {
	return r.AnyStatistic(func(s Statistic) bool { return s.Fitted != nil })
}

// Together reports whether some table is not a single measurement as it was drawn.
func (r *Report) Together() bool {
	return r.AnyStatistic(func(s Statistic) bool { return s.Mechanism == nil })
}

// Reconstructed reports whether some table is reconstructed from several measurements.
func (r *Report) Reconstructed() bool { return r.AnyStatistic(Statistic.Reconstructed) }

// Uneven reports whether cells of some table have different errors.
func (r *Report) Uneven() bool {
	return r.AnyStatistic(func(s Statistic) bool { return s.Largest > 0 })
}

// Adapts reports whether an adaptive method made microdata.
func (r *Report) Adapts() bool {
	return slices.ContainsFunc(r.Microdata, func(m Microdata) bool { return m.Block != nil })
}

// CountName returns the name of the first count that is not cumulative, or of the first count if all are.
func (r *Report) CountName() string {
	for _, t := range r.Tables {
		if t.Cumulative == nil {
			return t.Statistics[0].Name
		}
	}
	if len(r.Tables) == 0 {
		return "count" // for a release with only microdata
	}
	return r.Tables[0].Statistics[0].Name
}

// Ratio returns n ÷ of, 0 if of is 0.
func Ratio(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}
