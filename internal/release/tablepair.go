package release

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the pair of tables: one table as two releases have it, compared cell by cell.

// tablePair is a table that two releases both have.
type tablePair struct {
	before, after editionTable
	statistics    []string  // that both have
	figures       []string  // beside the count that both have
	match         [][]int64 // per key, the place in after of each category in before; -1 where there is none
	refused       string
}

// pairOf pairs the i-th table of a release with that of the other which has its
// path.
func pairOf(a, b *edition, i int) (p tablePair, found bool, err error) {
	if p.before, found, err = a.tableOf(a.plan.Tables[i].Path); err != nil || !found {
		return p, false, err
	}
	if p.after, found, err = b.tableOf(p.before.table.Path); err != nil || !found {
		return p, false, err
	}
	switch {
	case p.before.query.Table != p.after.query.Table:
		p.refused = fmt.Sprintf("it counts rows of %s before and of %s after", p.before.query.Table, p.after.query.Table)
		return p, true, nil
	case p.before.table.Sparse != nil || p.after.table.Sparse != nil:
		p.refused = "it has the cells above a threshold alone, and no figure of the others to compare"
		return p, true, nil
	case p.before.table.Top != nil || p.after.table.Top != nil:
		p.refused = "it has the cells that were chosen alone, and no figure of the others to compare"
		return p, true, nil
	case p.before.table.Discovered != nil || p.after.table.Discovered != nil:
		p.refused = "it has the groups that a selection has let through alone, and no figure of the others to compare"
		return p, true, nil
	case !slices.Equal(p.before.table.By, p.after.table.By):
		p.refused = "it has other keys"
		return p, true, nil
	case p.before.table.Weighted != p.after.table.Weighted || unitOf(p.before.table) != unitOf(p.after.table):
		p.refused = "its rows count by other weights, or in other steps of them"
		return p, true, nil
	case !reflect.DeepEqual(p.before.table.PerUnit, p.after.table.PerUnit):
		p.refused = fmt.Sprintf("it counts other rows of a %s", p.after.plan.Guarantee.Protects)
		return p, true, nil
	}
	for _, s := range p.before.table.Statistics {
		if slices.ContainsFunc(p.after.table.Statistics, func(t plan.Statistic) bool { return t.Name == s.Name }) {
			p.statistics = append(p.statistics, s.Name)
		}
	}
	for _, f := range p.before.table.Figures {
		i := slices.IndexFunc(p.after.table.Figures, func(g plan.Figure) bool { return g.Name == f.Name })
		if i >= 0 && p.after.table.Figures[i].What() == f.What() {
			p.figures = append(p.figures, f.Name)
		}
	}
	for k, l := range p.before.levels {
		p.match = append(p.match, matched(l, p.after.levels[k]))
	}
	return p, true, nil
}

// matched is the place in after of each category of before, by its code; -1 where
// it has none.
func matched(before, after *spec.Level) []int64 {
	places := make(map[string]int64, after.Size())
	for i, c := range after.Categories {
		places[c.Code] = int64(i)
	}
	match := make([]int64, before.Size())
	for i, c := range before.Categories {
		place, there := places[c.Code]
		if !there {
			place = -1
		}
		match[i] = place
	}
	return match
}

// compared is how many cells both tables have: those of which every key has its
// category in both.
func (p tablePair) compared() int64 {
	if p.refused != "" {
		return 0
	}
	n := int64(1)
	for _, match := range p.match {
		both := int64(0)
		for _, place := range match {
			if place >= 0 {
				both++
			}
		}
		n *= both
	}
	return n
}

// compare reads both tables and compares every statistic, cell by cell; chance is
// that of one cell.
func (p tablePair) compare(sameDraw bool, chance float64) (TableDifference, error) {
	out := TableDifference{Path: p.before.table.Path, By: p.before.table.By, Refused: p.refused}
	if p.refused != "" {
		return out, nil
	}
	out.Compared = p.compared()
	out.OnlyBefore, out.OnlyAfter = p.before.table.Cells-out.Compared, p.after.table.Cells-out.Compared
	before, err := p.before.estimates(p.statistics)
	if err != nil {
		return out, err
	}
	after, err := p.after.estimates(p.statistics)
	if err != nil {
		return out, err
	}
	for i, name := range p.statistics {
		s, margin := StatisticDifference{Name: name}, func(int, int64) float64 { return 0 }
		if !sameDraw {
			if margin, err = p.margin(name, before[i].errors, after[i].errors, chance); err != nil {
				return out, err
			}
		}
		p.collect(&s, before[i].unbiased, after[i].unbiased, margin)
		out.Statistics = append(out.Statistics, s)
	}
	if !sameDraw {
		out.NotCompared = p.figures
		return out, nil
	}
	for _, name := range p.figures {
		f, err := p.figure(name)
		if err != nil {
			return out, err
		}
		out.Figures = append(out.Figures, f)
	}
	return out, nil
}

// figure counts the cells in which a figure of one draw is not the same in both.
func (p tablePair) figure(name string) (FigureDifference, error) {
	out := FigureDifference{Name: name}
	before, err := p.before.figureCells(name)
	if err != nil {
		return out, err
	}
	after, err := p.after.figureCells(name)
	if err != nil {
		return out, err
	}
	key := make([]int, len(p.match))
	for _, cell := range before {
		if other := p.cellAfter(key); other >= 0 && cell != after[other] {
			out.Changed++
		}
		p.next(key)
	}
	return out, nil
}

// next is the next cell of before.
func (p tablePair) next(key []int) {
	for k := len(key) - 1; k >= 0; k-- {
		if key[k]++; key[k] < len(p.match[k]) {
			return
		}
		key[k] = 0
	}
}

// margin gives the largest difference that the noise of a statistic explains, for a
// cell of before and one of after.
func (p tablePair) margin(statistic string, before, after []float64, chance float64) (func(a int, b int64) float64, error) {
	x, err := p.before.noise(statistic)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", p.before.table.Path, err)
	}
	y, err := p.after.noise(statistic)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", p.before.table.Path, err)
	}
	unit := unitOf(p.before.table)    // that of both
	known := map[[2]float64]float64{} // the cells of a table have few standard errors
	return func(a int, b int64) float64 {
		pair := [2]float64{before[a], after[b]}
		margin, there := known[pair]
		if !there {
			margin = differenceMargin(x.of(pair[0]), y.of(pair[1]), chance)
			if unit != 1 { // a multiple of a step is rounded
				margin *= unit * (1 + slack)
			}
			known[pair] = margin
		}
		return margin
	}, nil
}

// collect walks the cells that both tables have, in the order of before.
func (p tablePair) collect(s *StatisticDifference, before, after []float64, margin func(a int, b int64) float64) {
	key := make([]int, len(p.match))
	for cell := range before {
		if other := p.cellAfter(key); other >= 0 {
			d, most := after[other]-before[cell], margin(cell, other)
			s.Margin = max(s.Margin, most)
			if math.Abs(d) > most {
				s.Changed++
				s.keep(CellDifference{Before: before[cell], After: after[other], Difference: d, Margin: most}, p.before.codes(key))
			}
		}
		p.next(key)
	}
}

// cellAfter is the place in after of a cell of before, -1 where there is none.
func (p tablePair) cellAfter(key []int) int64 {
	cell := int64(0)
	for k, category := range key {
		place := p.match[k][category]
		if place < 0 {
			return -1
		}
		cell = cell*int64(p.after.levels[k].Size()) + place
	}
	return cell
}

// keep lists a changed cell if it is among the largest; of equals, the earlier.
func (s *StatisticDifference) keep(c CellDifference, keys []string) {
	size := func(c CellDifference) float64 { return math.Abs(c.Difference) }
	at := len(s.Largest)
	for at > 0 && size(s.Largest[at-1]) < size(c) {
		at--
	}
	if at == largestShown {
		return
	}
	c.Keys = keys
	s.Largest = slices.Insert(s.Largest, at, c)
	s.Largest = s.Largest[:min(len(s.Largest), largestShown)]
}
