package diff

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec/language"
)

// This file compares one table of two releases cell by cell.

// tablePair is a table that two releases both have.
type tablePair struct {
	before, after published.Table
	statistics    []string  // in both
	figures       []string  // other than the count, in both
	categoryMatch [][]int64 // per key, the index in after of each category of before; -1: none
	refused       string
	// If either table has only some of its cells, they are matched row by row; otherwise these are nil.
	rowsBefore [][]string // codes
	rowsAfter  map[string]int64
}

// pairOf pairs the i-th table of a release with the table of the other release that has the same path.
func pairOf(a, b *published.Release, i int) (p tablePair, found bool, err error) {
	if p.before, found, err = a.Table(a.Plan.Tables[i].Path); err != nil || !found {
		return p, false, err
	}
	if p.after, found, err = b.Table(p.before.Planned.Path); err != nil || !found {
		return p, false, err
	}
	switch {
	case p.before.Query.Table != p.after.Query.Table:
		p.refused = fmt.Sprintf("it counts rows of %s before and of %s after", p.before.Query.Table,
			p.after.Query.Table)
	case !slices.Equal(p.before.Planned.By, p.after.Planned.By):
		p.refused = "it has other keys"
	case p.before.Planned.Weighted != p.after.Planned.Weighted ||
		p.before.Planned.Statistics[0].UnitValue() != p.after.Planned.Statistics[0].UnitValue():
		p.refused = "its rows count by other weights, or in other steps of them"
	case !reflect.DeepEqual(p.before.Planned.PerUnit, p.after.Planned.PerUnit):
		p.refused = fmt.Sprintf("it counts other rows of a %s", p.after.Plan.Guarantee.Protects)
	}
	if p.refused != "" {
		return p, true, nil
	}
	for _, s := range p.before.Planned.Statistics {
		if slices.ContainsFunc(p.after.Planned.Statistics, func(t plan.Statistic) bool { return t.Name == s.Name }) {
			p.statistics = append(p.statistics, s.Name)
		}
	}
	for at, f := range p.before.Planned.Figures {
		i := slices.IndexFunc(p.after.Planned.Figures, func(g plan.Figure) bool { return g.Name == f.Name })
		if i >= 0 && figureText(p.after.Planned, i) == figureText(p.before.Planned, at) {
			p.figures = append(p.figures, f.Name)
		}
	}
	for k, l := range p.before.Levels {
		p.categoryMatch = append(p.categoryMatch, matchCategories(l, p.after.Levels[k]))
	}
	// Intervals include the error of a sample, laws of the noise do not; and the error of answers randomised on devices
	// depends on the counts themselves.
	if (eitherSampled(a, b) || eitherCollected(a, b)) && !a.SameMeasurements(b) {
		p.figures, p.statistics = append(p.statistics, p.figures...), nil
	}
	if p.before.Complete() && p.after.Complete() {
		return p, true, nil
	}
	return p, true, p.readRows()
}

// readRows reads which cells both have, if the figures decide that.
func (p *tablePair) readRows() error {
	var err error
	if p.rowsBefore, err = p.before.Rows(); err != nil {
		return err
	}
	after, err := p.after.Rows()
	p.rowsAfter = make(map[string]int64, len(after))
	for i, codes := range after {
		p.rowsAfter[strings.Join(codes, "\x00")] = int64(i)
	}
	return err
}

// eachCommonCell calls visit with the cells that both tables have, in the order of before: their rows in both, and the
// codes of their keys.
func (p tablePair) eachCommonCell(visit func(a int, b int64, codes func() []string)) {
	if p.rowsAfter != nil {
		for a, codes := range p.rowsBefore {
			if b, both := p.rowsAfter[strings.Join(codes, "\x00")]; both {
				visit(a, b, func() []string { return codes })
			}
		}
		return
	}
	key := make([]int, len(p.categoryMatch))
	for a := range p.before.Planned.Cells {
		if b := p.cellAfter(key); b >= 0 {
			visit(int(a), b, func() []string { return keyCodes(p.before, key) })
		}
		p.nextCell(key)
	}
}

// testedCells returns among how many cells the probability of a change by noise alone is divided: all that both tables
// have or, if the noise itself decides which are published, could have. If cells are chosen or selected independently
// of the noise of their figures, it is the number of those that were.
func (p tablePair) testedCells() float64 {
	if p.refused != "" {
		return 0
	}
	if !selectedByNoise[p.before.Planned.Selects()] && !selectedByNoise[p.after.Planned.Selects()] {
		return float64(p.commonCells() * int64(len(p.statistics)))
	}
	return p.possibleCells() * float64(len(p.statistics))
}

// possibleCells returns how many cells both tables could have.
func (p tablePair) possibleCells() float64 {
	n := 1.0
	for _, match := range p.categoryMatch {
		both := 0
		for _, place := range match {
			if place >= 0 {
				both++
			}
		}
		n *= float64(both)
	}
	return n
}

// matchCategories returns the index in after of each category of before, by its code; -1 if it has none.
func matchCategories(before, after *domain.Level) []int64 {
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

// commonCells returns how many cells both tables have.
func (p tablePair) commonCells() int64 {
	switch {
	case p.refused != "":
		return 0
	case p.rowsAfter == nil: // cells whose category exists in both tables for every key
		return int64(p.possibleCells())
	}
	n := int64(0)
	p.eachCommonCell(func(int, int64, func() []string) { n++ })
	return n
}

// compareCells reads both tables and compares every statistic, cell by cell, at the given probability for one cell.
func (p tablePair) compareCells(sameDraw bool, chance float64) (TableDifference, error) {
	out := TableDifference{Path: p.before.Planned.Path, By: p.before.Planned.By, Refused: p.refused}
	if p.refused != "" {
		return out, nil
	}
	out.Compared = p.commonCells()
	out.OnlyBefore, out.OnlyAfter = p.before.Planned.Cells-out.Compared, p.after.Planned.Cells-out.Compared
	if p.rowsAfter != nil {
		out.Some = true
		out.OnlyBefore, out.OnlyAfter = int64(len(p.rowsBefore))-out.Compared, int64(len(p.rowsAfter))-out.Compared
	}
	before, err := p.before.Estimates(p.statistics)
	if err != nil {
		return out, err
	}
	after, err := p.after.Estimates(p.statistics)
	if err != nil {
		return out, err
	}
	for i, name := range p.statistics {
		s, margin := StatisticDifference{Name: name}, func(int, int64) float64 { return 0 }
		if !sameDraw {
			if margin, err = p.cellMargin(name, before[i].Errors, after[i].Errors, chance); err != nil {
				return out, err
			}
		}
		p.collectChanges(&s, before[i].Unbiased, after[i].Unbiased, margin)
		out.Statistics = append(out.Statistics, s)
	}
	for _, name := range p.figures {
		f, err := p.compareFigure(name, sameDraw)
		if err != nil {
			return out, err
		}
		out.Figures = append(out.Figures, f)
	}
	return out, nil
}

// compareFigure counts the cells in which a figure of one draw differs or, for two draws, its intervals are disjoint.
func (p tablePair) compareFigure(name string, sameDraw bool) (FigureDifference, error) {
	out := FigureDifference{Name: name}
	before, err := p.before.FigureCells(name)
	if err != nil {
		return out, err
	}
	after, err := p.after.FigureCells(name)
	if err != nil {
		return out, err
	}
	p.eachCommonCell(func(a int, b int64, codes func() []string) {
		x, y := before[a], after[b]
		if sameDraw {
			out.Compared++
			if x != y {
				out.Changed++
			}
			return
		}
		if math.IsNaN(x.Low() + x.High() + y.Low() + y.High()) { // one of them has no interval
			return
		}
		out.Compared++
		if c, apart := disjointIntervals(x, y); apart {
			out.Changed++
			out.Largest = insertLargest(out.Largest, c, codes())
		}
	})
	if !sameDraw {
		miss := (1 - p.before.Planned.Statistics[0].Confidence) + (1 - p.after.Planned.Statistics[0].Confidence)
		out.Expected = miss * float64(out.Compared)
	}
	return out, nil
}

// disjointIntervals reports whether two intervals have nothing in common: then at least one of them does not contain
// the true figure, or the true figures differ. The margin is the largest difference of the figures at which the
// intervals would meet.
func disjointIntervals(x, y published.FigureCell) (CellDifference, bool) {
	c := CellDifference{Before: x.Value(), After: y.Value(), Difference: y.Value() - x.Value()}
	switch {
	case y.Low() > x.High():
		c.Margin = (x.High() - x.Value()) + (y.Value() - y.Low())
	case x.Low() > y.High():
		c.Margin = (y.High() - y.Value()) + (x.Value() - x.Low())
	default:
		return c, false
	}
	return c, true
}

// nextCell advances key to the next cell of before.
func (p tablePair) nextCell(key []int) {
	for k := len(key) - 1; k >= 0; k-- {
		if key[k]++; key[k] < len(p.categoryMatch[k]) {
			return
		}
		key[k] = 0
	}
}

// cellMargin returns a function for the largest difference that the noise of a statistic explains, between a cell of
// before and one of after.
func (p tablePair) cellMargin(statistic string, before, after []float64, chance float64) (func(a int, b int64) float64,
	error) {
	x, err := statisticNoise(p.before, statistic)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", p.before.Planned.Path, err)
	}
	y, err := statisticNoise(p.after, statistic)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", p.before.Planned.Path, err)
	}
	unit := p.before.Planned.Statistics[0].UnitValue() // the same in both
	known := map[[2]float64]float64{}                  // the cells of a table have few standard errors
	return func(a int, b int64) float64 {
		pair := [2]float64{before[a], after[b]}
		margin, there := known[pair]
		if !there {
			margin = differenceMargin(x.ofCell(pair[0]), y.ofCell(pair[1]), chance)
			if unit != 1 { // multiples of a step are rounded
				margin *= unit * (1 + slack)
			}
			known[pair] = margin
		}
		return margin
	}, nil
}

// collectChanges collects the changed cells of a statistic, in the order of before.
func (p tablePair) collectChanges(s *StatisticDifference, before, after []float64,
	margin func(a int, b int64) float64) {
	p.eachCommonCell(func(a int, b int64, codes func() []string) {
		d, most := after[b]-before[a], margin(a, b)
		s.Margin = max(s.Margin, most)
		if math.Abs(d) > most {
			s.Changed++
			s.Largest = insertLargest(s.Largest,
				CellDifference{Before: before[a], After: after[b], Difference: d, Margin: most}, codes())
		}
	})
}

// cellAfter returns the index in after of a cell of before, -1 if there is none.
func (p tablePair) cellAfter(key []int) int64 {
	cell := int64(0)
	for k, category := range key {
		place := p.categoryMatch[k][category]
		if place < 0 {
			return -1
		}
		cell = cell*int64(p.after.Levels[k].Size()) + place
	}
	return cell
}

// insertLargest inserts a changed cell if it is among the largest; of equal ones the earlier comes first.
func insertLargest(largest []CellDifference, c CellDifference, keys []string) []CellDifference {
	size := func(c CellDifference) float64 { return math.Abs(c.Difference) }
	at := len(largest)
	for at > 0 && size(largest[at-1]) < size(c) {
		at--
	}
	if at == largestKept {
		return largest
	}
	c.Keys = keys
	largest = slices.Insert(largest, at, c)
	return largest[:min(len(largest), largestKept)]
}

// measuredNoise returns the noise of a statistic that is no public figure: the law of its only measurement, or what is
// known about the noise of all its cells.
func measuredNoise(t published.Table, statistic string) (tableNoise, error) {
	for _, s := range t.Planned.Statistics {
		if s.Name != statistic {
			continue
		}
		if m, found := t.Plan.Measurement(s.Measurement); found {
			law, err := symmetricLawOf(m.Mechanism)
			return tableNoise{single: true, law: law}, err
		}
		var asked []budget.Mechanism
		for _, m := range t.Plan.Measurements {
			if m.Query.Table == t.Planned.From {
				asked = append(asked, m.Mechanism)
			}
		}
		return combinedNoise(asked)
	}
	return tableNoise{}, &verdict.Unusable{File: t.NamedPath,
		Err: fmt.Errorf("the plan has no %s of table %s", statistic,
			t.Planned.Path)}
}

// keyCodes returns the codes of a cell's keys.
func keyCodes(t published.Table, key []int) []string {
	codes := make([]string, len(key))
	for k, category := range key {
		codes[k] = t.Levels[k].Categories[category].Code
	}
	return codes
}

// figureText returns what a figure of a table is, in words.
func figureText(t plan.Table, figure int) string {
	f := t.Figures[figure]
	return describe.FigureText(language.English, nil, f, t)
}
