package evaluate

// This file holds the comparison of figures shown with a count: sums, means, ratios and quantiles of the true rows.

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
)

// truths are the exact answers from which a figure is computed, by the IDs of their measurements: a
// [statistic.Exact]. They are collected as they are counted.
type truths struct {
	comparison *comparison
	table      plan.Table
	figure     plan.Figure
	unit       float64 // unit of the table's count
	asked      map[string]plan.Measurement

	mu  sync.Mutex
	got map[string]answer.Answer
}

// askFigure asks for the truth of a figure of a published table.
func (c *comparison) askFigure(claim PublishedStatistic, t plan.Table, out *Difference) error {
	i := slices.IndexFunc(t.Figures, func(f plan.Figure) bool { return f.Name == claim.Figure })
	if i < 0 {
		return fmt.Errorf("table %s has no figure %s in the plan of this release", claim.Path, claim.Figure)
	}
	x := &truths{comparison: c, table: t, figure: t.Figures[i], asked: map[string]plan.Measurement{"": c.countOf(t)},
		got: map[string]answer.Answer{}, unit: t.Statistics[0].UnitValue()}
	for _, id := range partsOf(x.figure) {
		at := slices.IndexFunc(c.plan.Measurements, func(m plan.Measurement) bool { return m.ID == id })
		if at < 0 {
			return fmt.Errorf("figure %s of table %s rests on %s, which the plan does not measure", claim.Figure,
				claim.Path, id)
		}
		x.asked[id] = asRanks(c.plan.Measurements[at], x.figure, c.plan.Release())
	}
	for id, m := range x.asked {
		c.questions = append(c.questions, question{measurement: m, compare: func(counted answer.Answer) error {
			x.mu.Lock()
			defer x.mu.Unlock()
			if x.got[id] = counted; len(x.got) < len(x.asked) {
				return nil
			}
			figures, err := claim.Read()
			if err == nil {
				*out, err = x.compareFigure(figures)
			}
			if err != nil {
				return fmt.Errorf("figure %s of table %s: %w", claim.Figure, claim.Path, err)
			}
			return nil
		}})
	}
	return nil
}

// partsOf returns the measurements from which a figure is computed, without the count of its table.
func partsOf(f plan.Figure) (ids []string) {
	add := func(id string) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range []string{f.Sums, f.Squares, f.Part} {
		add(id)
	}
	for _, term := range []*plan.Term{f.Of, f.Over} {
		if term == nil {
			continue
		}
		for _, id := range []string{term.Counts, term.Sums} {
			add(id)
		}
	}
	return ids
}

// compareFigure compares what is published of a figure with the truth.
func (x *truths) compareFigure(f Figures) (Difference, error) {
	counts := x.got[""].Counts
	d := Difference{Rows: total(counts)}
	for _, n := range []int{len(f.Unbiased), len(f.Low), len(f.High)} {
		if n != len(counts) {
			return d, errOtherCells
		}
	}
	of, err := statistic.OfFigure(x.figure).Truth(x.figure, x)
	if err != nil {
		return d, err
	}
	for cell := range counts {
		t := of(cell)
		switch {
		case math.IsNaN(t.Low):
			d.Undefined++
		case math.IsNaN(f.Unbiased[cell]):
			d.Withheld++
		default:
			d.Cells++
			off := max(t.Low-f.Unbiased[cell], f.Unbiased[cell]-t.High, 0)
			d.L1 += off
			d.Squares += off * off
			if !math.IsNaN(f.Low[cell]) {
				d.Bounded++
			}
			if f.Low[cell] <= t.Low && t.High <= f.High[cell] {
				d.Covered++
			}
		}
	}
	return d, nil
}

func (x *truths) Unit() float64 { return x.unit }

func (x *truths) Rows(cell int) float64 { return x.Part("", cell) }

func (x *truths) Part(id string, cell int) float64 { return float64(x.got[id].Counts[cell]) }

func (x *truths) Attributes() (by []string, sizes []int, err error) {
	levels, err := x.asked[""].Query.Levels(x.comparison.plan.Release())
	for _, level := range levels {
		sizes = append(sizes, level.Size())
	}
	return x.table.By, sizes, err
}
