package report

// This file holds what is read off the tables of a report for sentences and for pages.

import (
	"cmp"
	"slices"

	"github.com/dprelease/dprelease/report/internal/words"
)

// Rounded tells that the published figure is rounded where the unbiased one is a multiple of a unit that is not whole.
func (s Statistic) Rounded() bool {
	unit := words.Exact(s.Unit)
	return unit != nil && !unit.IsInt()
}

// Those are the tables for which something holds.
func Those(tables []Table, is func(Table) bool) []Table {
	var out []Table
	for _, t := range tables {
		if is(t) {
			out = append(out, t)
		}
	}
	return out
}

// Paths are the paths of the tables for which something holds.
func Paths(tables []Table, is func(Table) bool) []string {
	var paths []string
	for _, t := range Those(tables, is) {
		paths = append(paths, t.Path)
	}
	return paths
}

// Total adds up what tables have of something.
func Total(tables []Table, of func(Table) int64) int64 {
	var n int64
	for _, t := range tables {
		n += of(t)
	}
	return n
}

// Reconstructed reports whether the statistic is put together from several measurements, or from one that is no table.
func (s Statistic) Reconstructed() bool { return s.Mechanism == nil && s.SumOf == "" }

// AnyStatistic reports whether a statistic of some table is so.
func (r *Report) AnyStatistic(is func(Statistic) bool) bool {
	return slices.ContainsFunc(r.Tables, func(t Table) bool { return slices.ContainsFunc(t.Statistics, is) })
}

// Distances are the least and the largest distance from which on two cells of a table differ beyond noise; 0 where none
// is known.
func (r *Report) Distances() (least, most int64) {
	for _, t := range r.Tables {
		for _, s := range t.Statistics {
			if t.Aside || s.Apart == 0 {
				continue
			}
			least, most = min(cmp.Or(least, s.Apart), s.Apart), max(most, s.Apart)
		}
	}
	return least, most
}

// Apart tells that it is known of some table from how far apart on two of its cells differ.
func (r *Report) Apart() bool {
	_, most := r.Distances()
	return most > 0
}

// Figured are the tables that have figures beside their count.
func (r *Report) Figured() []Table {
	return Those(r.Tables, func(t Table) bool { return len(t.Figures) > 0 })
}

// FittedSome reports whether counts of some table were made to add up.
func (r *Report) FittedSome() bool {
	return r.AnyStatistic(func(s Statistic) bool { return s.Fitted != nil })
}

// Together reports whether some table is not one measurement as it was drawn.
func (r *Report) Together() bool {
	return r.AnyStatistic(func(s Statistic) bool { return s.Mechanism == nil })
}

// Reconstructed reports whether some table is put together from several measurements.
func (r *Report) Reconstructed() bool { return r.AnyStatistic(Statistic.Reconstructed) }

// Uneven reports whether cells of some table have different errors.
func (r *Report) Uneven() bool {
	return r.AnyStatistic(func(s Statistic) bool { return s.Largest > 0 })
}

// Adapts tells that microdata were made by an adaptive method.
func (r *Report) Adapts() bool {
	return slices.ContainsFunc(r.Microdata, func(m Microdata) bool { return m.Block != nil })
}

// CountName is the name of the first figure that is no sum along a column, or else of the first.
func (r *Report) CountName() string {
	for _, t := range r.Tables {
		if t.Cumulative == nil {
			return t.Statistics[0].Name
		}
	}
	if len(r.Tables) == 0 {
		return "count" // of microdata alone
	}
	return r.Tables[0].Statistics[0].Name
}

// Ratio is n ÷ of, 0 where there is nothing.
func Ratio(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}
