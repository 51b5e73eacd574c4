package report

// This file holds the single rule by which every page says whether a table's cells may be used one by one, and which
// cells could be zero.

import (
	"cmp"
	"slices"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/usefulness"
)

const (
	NoiseShare = 0.5 // share of cells that could be zero from which on a table has many of them
)

// BadShare returns the share of a count's cells that could be zero or, if it is larger and the spec has classes of
// precision, that are in the last class.
func (s Statistic) BadShare() float64 {
	if s.Fit == nil {
		return s.NoiseShare
	}
	return max(s.NoiseShare, s.Fit[len(s.Fit)-1].Share)
}

// Verdict says whether the cells of a count may be used one by one. For a report of a version without verdicts, it uses
// the share of the cells that could be zero.
func (t Table) Verdict(s Statistic) usefulness.Verdict {
	switch {
	case s.Verdict != "":
		return s.Verdict
	case s.BadShare() >= NoiseShare:
		return usefulness.DoNotUse
	case s.BadShare() <= compiled.LittleShare:
		return usefulness.UseCells
	}
	return usefulness.AddUpFirst
}

// NotUsableSingly returns the paths of the tables no cell of which may be used by itself.
func NotUsableSingly(r *Report) []string {
	return PathsWhere(r.Tables, func(t Table) bool {
		return !t.Aside &&
			slices.ContainsFunc(t.Statistics, func(s Statistic) bool { return t.Verdict(s) == usefulness.DoNotUse })
	})
}

// CouldBeZero returns the tables with cells that could be zero, by descending share of such cells, their number, and
// the number of all possible cells.
func (r *Report) CouldBeZero() (in []Table, cells, of int64) {
	for _, t := range r.Tables {
		if t.Aside {
			continue
		}
		of += t.Possible()
		if n := t.NoiseCells(); n > 0 {
			in, cells = append(in, t), cells+n
		}
	}
	slices.SortStableFunc(in, func(a, b Table) int {
		return cmp.Compare(Ratio(b.NoiseCells(), b.Possible()), Ratio(a.NoiseCells(), a.Possible()))
	})
	return in, cells, of
}

// Possible returns the number of a table's counts that are not exact zeros.
func (t Table) Possible() int64 { return (t.Cells - t.Impossible) * int64(len(t.Statistics)) }

// ShownAsZero returns the number of its counts that are below zero and shown as 0.
func (t Table) ShownAsZero() int64 {
	var n int64
	for _, s := range t.Statistics {
		n += s.ShownAsZero
	}
	return n
}

// NoiseCells returns the number of its counts that could be zero.
func (t Table) NoiseCells() int64 {
	var n int64
	for _, s := range t.Statistics {
		n += s.NoiseCells
	}
	return n
}

// ZerosNamed reports whether the report names the cells that could be zero.
func (r *Report) ZerosNamed() bool {
	return r.AnyStatistic(func(s Statistic) bool { return s.NoiseLabels != nil })
}

// NoiseFigures returns the number of its figures other than counts that could be zero, or that have no possible value.
func (t Table) NoiseFigures() int64 {
	var n int64
	for _, f := range t.Figures {
		n += f.NoiseCells
	}
	return n
}

// FiguresCouldBeZero returns the tables with figures other than counts that could be zero, and the number of these
// figures.
func (r *Report) FiguresCouldBeZero() (in []Table, n int64) {
	in = TablesWhere(r.Tables, func(t Table) bool { return !t.Aside && t.NoiseFigures() > 0 })
	return in, Total(in, Table.NoiseFigures)
}

// FigureZerosNamed reports whether the report names the cells of figures other than counts that could be zero.
func (r *Report) FigureZerosNamed() bool {
	return slices.ContainsFunc(r.Tables, func(t Table) bool {
		return slices.ContainsFunc(t.Figures, func(f Figure) bool { return f.NoiseLabels != nil })
	})
}
