package diff

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
)

// This file holds the pair of tables: one table as two releases have it, compared cell by cell.

// tablePair is a table that two releases both have.
type tablePair struct {
	before, after published.Table
	statistics    []string  // that both have
	figures       []string  // beside the count that both have
	match         [][]int64 // per key, the place in after of each category in before; -1 where there is none
	refused       string
	// Where either has some of its cells alone they are met row by row; else these are nil.
	rowsBefore  [][]string // codes
	placesAfter map[string]int64
}

// pairOf pairs the i-th table of a release with that of the other which has its
// path.
func pairOf(a, b *published.Release, i int) (p tablePair, found bool, err error) {
	if p.before, found, err = a.Table(a.Plan.Tables[i].Path); err != nil || !found {
		return p, false, err
	}
	if p.after, found, err = b.Table(p.before.Planned.Path); err != nil || !found {
		return p, false, err
	}
	switch {
	case p.before.Query.Table != p.after.Query.Table:
		p.refused = fmt.Sprintf("it counts rows of %s before and of %s after", p.before.Query.Table, p.after.Query.Table)
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
	for _, f := range p.before.Planned.Figures {
		i := slices.IndexFunc(p.after.Planned.Figures, func(g plan.Figure) bool { return g.Name == f.Name })
		if i >= 0 && whatOf(p.after.Planned.Figures[i]) == whatOf(f) {
			p.figures = append(p.figures, f.Name)
		}
	}
	for k, l := range p.before.Levels {
		p.match = append(p.match, matched(l, p.after.Levels[k]))
	}
	if eitherSampled(a, b) && !a.SameDraw(b) { // an interval tells more than a law of the noise
		p.figures, p.statistics = append(p.statistics, p.figures...), nil
	}
	if p.before.Complete() && p.after.Complete() {
		return p, true, nil
	}
	return p, true, p.readRows()
}

// readRows reads which cells both have, where that is for their figures to say.
func (p *tablePair) readRows() error {
	var err error
	if p.rowsBefore, err = p.before.Rows(); err != nil {
		return err
	}
	after, err := p.after.Rows()
	p.placesAfter = make(map[string]int64, len(after))
	for i, codes := range after {
		p.placesAfter[strings.Join(codes, "\x00")] = int64(i)
	}
	return err
}

// walk visits the cells that both tables have, in the order of before: their rows in both, and the codes of their keys.
func (p tablePair) walk(visit func(a int, b int64, codes func() []string)) {
	if p.placesAfter != nil {
		for a, codes := range p.rowsBefore {
			if b, both := p.placesAfter[strings.Join(codes, "\x00")]; both {
				visit(a, b, func() []string { return codes })
			}
		}
		return
	}
	key := make([]int, len(p.match))
	for a := range p.before.Planned.Cells {
		if b := p.cellAfter(key); b >= 0 {
			visit(int(a), b, func() []string { return keyCodes(p.before, key) })
		}
		p.next(key)
	}
}

// tests is among how many cells the chance of a change by noise alone is divided: all that both tables have or, where
// the noise itself decides which are published, could have. Where cells are chosen or selected apart from the noise of
// their figures, it is those that were, whichever they are.
func (p tablePair) tests() float64 {
	if p.refused != "" {
		return 0
	}
	if !byNoise[p.before.Planned.Selects()] && !byNoise[p.after.Planned.Selects()] {
		return float64(p.compared() * int64(len(p.statistics)))
	}
	return p.declared() * float64(len(p.statistics))
}

// declared is how many cells both tables could have.
func (p tablePair) declared() float64 {
	n := 1.0
	for _, match := range p.match {
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

// matched is the place in after of each category of before, by its code; -1 where
// it has none.
func matched(before, after *domain.Level) []int64 {
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

// compared is how many cells both tables have.
func (p tablePair) compared() int64 {
	switch {
	case p.refused != "":
		return 0
	case p.placesAfter == nil: // those of which every key has its category in both
		return int64(p.declared())
	}
	n := int64(0)
	p.walk(func(int, int64, func() []string) { n++ })
	return n
}

// compare reads both tables and compares every statistic, cell by cell; chance is
// that of one cell.
func (p tablePair) compare(sameDraw bool, chance float64) (TableDifference, error) {
	out := TableDifference{Path: p.before.Planned.Path, By: p.before.Planned.By, Refused: p.refused}
	if p.refused != "" {
		return out, nil
	}
	out.Compared = p.compared()
	out.OnlyBefore, out.OnlyAfter = p.before.Planned.Cells-out.Compared, p.after.Planned.Cells-out.Compared
	if p.placesAfter != nil {
		out.Some = true
		out.OnlyBefore, out.OnlyAfter = int64(len(p.rowsBefore))-out.Compared, int64(len(p.placesAfter))-out.Compared
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
			if margin, err = p.margin(name, before[i].Errors, after[i].Errors, chance); err != nil {
				return out, err
			}
		}
		p.collect(&s, before[i].Unbiased, after[i].Unbiased, margin)
		out.Statistics = append(out.Statistics, s)
	}
	for _, name := range p.figures {
		f, err := p.figure(name, sameDraw)
		if err != nil {
			return out, err
		}
		out.Figures = append(out.Figures, f)
	}
	return out, nil
}

// figure counts the cells in which a figure of one draw is not the same in both or, of two draws, its intervals are
// apart.
func (p tablePair) figure(name string, sameDraw bool) (FigureDifference, error) {
	out := FigureDifference{Name: name}
	before, err := p.before.FigureCells(name)
	if err != nil {
		return out, err
	}
	after, err := p.after.FigureCells(name)
	if err != nil {
		return out, err
	}
	p.walk(func(a int, b int64, codes func() []string) {
		x, y := before[a], after[b]
		if sameDraw {
			out.Compared++
			if x != y {
				out.Changed++
			}
			return
		}
		if math.IsNaN(x.Low() + x.High() + y.Low() + y.High()) { // one has no interval
			return
		}
		out.Compared++
		if c, apart := apart(x, y); apart {
			out.Changed++
			out.Largest = keep(out.Largest, c, codes())
		}
	})
	if !sameDraw {
		miss := (1 - p.before.Planned.Statistics[0].Confidence) + (1 - p.after.Planned.Statistics[0].Confidence)
		out.Expected = miss * float64(out.Compared)
	}
	return out, nil
}

// apart tells that two intervals have nothing in common: then at least one of them does not hold what it is of, or what
// they are of is not the same. The margin is how far the figures could be apart for the intervals to meet.
func apart(x, y published.FigureCell) (CellDifference, bool) {
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
func (p tablePair) margin(statistic string, before, after []float64, chance float64) (func(a int, b int64) float64,
	error) {
	x, err := tableNoiseOf(p.before, statistic)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", p.before.Planned.Path, err)
	}
	y, err := tableNoiseOf(p.after, statistic)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", p.before.Planned.Path, err)
	}
	unit := p.before.Planned.Statistics[0].UnitValue() // that of both
	known := map[[2]float64]float64{}                  // the cells of a table have few standard errors
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
	p.walk(func(a int, b int64, codes func() []string) {
		d, most := after[b]-before[a], margin(a, b)
		s.Margin = max(s.Margin, most)
		if math.Abs(d) > most {
			s.Changed++
			s.Largest = keep(s.Largest, CellDifference{Before: before[a], After: after[b], Difference: d, Margin: most}, codes())
		}
	})
}

// cellAfter is the place in after of a cell of before, -1 where there is none.
func (p tablePair) cellAfter(key []int) int64 {
	cell := int64(0)
	for k, category := range key {
		place := p.match[k][category]
		if place < 0 {
			return -1
		}
		cell = cell*int64(p.after.Levels[k].Size()) + place
	}
	return cell
}

// keep lists a changed cell if it is among the largest; of equals, the earlier.
func keep(largest []CellDifference, c CellDifference, keys []string) []CellDifference {
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

// measuredNoiseOf is the noise of a statistic that is no public figure: the law of the one measurement that it is, or
// what is known of all its cells.
func measuredNoiseOf(t published.Table, statistic string) (tableNoise, error) {
	for _, s := range t.Planned.Statistics {
		if s.Name != statistic {
			continue
		}
		if m, found := t.Plan.Measurement(s.Measurement); found {
			law, err := symmetricLawOf(m.Mechanism)
			return tableNoise{alone: true, law: law}, err
		}
		var asked []budget.Mechanism
		for _, m := range t.Plan.Measurements {
			if m.Query.Table == t.Planned.From {
				asked = append(asked, m.Mechanism)
			}
		}
		return noiseTogether(asked)
	}
	return tableNoise{}, &verdict.Unusable{File: t.Place, Err: fmt.Errorf("the plan has no %s of table %s", statistic,
		t.Planned.Path)}
}

// keyCodes are the codes of a cell's keys.
func keyCodes(t published.Table, key []int) []string {
	codes := make([]string, len(key))
	for k, category := range key {
		codes[k] = t.Levels[k].Categories[category].Code
	}
	return codes
}

// whatOf says what a figure is, in words.
func whatOf(f plan.Figure) string { return statistic.OfFigure(f).What(f) }
