package report

// This file holds the one rule by which every page says of a table whether its cells are to be used one by one, and
// which cells could be zero.

import (
	"cmp"
	"slices"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/usefulness"
)

const (
	NoiseShare = 0.5 // from which part of the cells on a table has many that could be zero
)

// BadShare is the part of the cells of a count that could be zero or, where the spec has classes of fitness, are in the
// last one.
func (s Statistic) BadShare() float64 {
	if s.Fit == nil {
		return s.NoiseShare
	}
	return max(s.NoiseShare, s.Fit[len(s.Fit)-1].Share)
}

// Verdict says whether the cells of a count are to be used one by one. In a report that does not say it, from before
// reports did, it goes by the part of the cells that could be zero.
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

// NotSingly are the paths of the tables of which no cell is to be used by itself.
func NotSingly(r *Report) []string {
	return Paths(r.Tables, func(t Table) bool {
		return !t.Aside &&
			slices.ContainsFunc(t.Statistics, func(s Statistic) bool { return t.Verdict(s) == usefulness.DoNotUse })
	})
}

// CouldBeZero are the tables with cells that could be zero, the largest part of them first, how many these are, and of
// how many.
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

// Possible is how many counts a table has that are no exact zeros.
func (t Table) Possible() int64 { return (t.Cells - t.Impossible) * int64(len(t.Statistics)) }

// ShownAsZero is how many of its counts are below zero and shown as 0.
func (t Table) ShownAsZero() int64 {
	var n int64
	for _, s := range t.Statistics {
		n += s.ShownAsZero
	}
	return n
}

// NoiseCells is how many of its counts could be zero.
func (t Table) NoiseCells() int64 {
	var n int64
	for _, s := range t.Statistics {
		n += s.NoiseCells
	}
	return n
}

// ZerosNamed tells that the report names the cells that could be zero.
func (r *Report) ZerosNamed() bool {
	return r.AnyStatistic(func(s Statistic) bool { return s.NoiseLabels != nil })
}
