package synth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
)

// This file holds the query: sums of a table's cells, with the errors that they have together.

// Grouping says of each category of a key in which row of an answer it is counted, −1 for none.
type Grouping struct {
	Of   []int
	Rows int
}

// Members are the categories of every row.
func (g Grouping) Members() [][]int {
	out := make([][]int, g.Rows)
	for category, row := range g.Of {
		if row >= 0 {
			out[row] = append(out[row], category)
		}
	}
	return out
}

// Reader answers questions about the tables of a plan from its measurements alone.
type Reader struct {
	plan      *plan.Plan
	estimates []plan.Estimate
	at        []place // of each table
}

// place is where a table is among the estimates; estimate is −1 where it is one measurement.
type place struct{ estimate, marginal int }

// NewReader finds how each table of a plan is put together. It fails on a plan that does not say so.
func NewReader(p *plan.Plan) (*Reader, error) {
	r := &Reader{plan: p, at: make([]place, len(p.Tables))}
	var err error
	if r.estimates, err = p.Estimates(); err != nil {
		return nil, err
	}
	for i := range r.at {
		r.at[i].estimate = -1
	}
	for i, e := range r.estimates {
		for marginal, table := range e.Tables {
			if p.Tables[table].Statistics[0].Measurement == "" {
				r.at[table] = place{i, marginal}
			}
		}
	}
	for i, t := range p.Tables {
		if _, ok := p.Measurement(t.Statistics[0].Measurement); !ok && r.at[i].estimate < 0 {
			return nil, fmt.Errorf("table %s: the plan does not say how it is put together", t.Path)
		}
	}
	return r, nil
}

// Needed are the measurements that a table is read from.
func (r *Reader) Needed(table int) []plan.Measurement {
	if at := r.at[table]; at.estimate >= 0 {
		return r.estimates[at.estimate].Sources
	}
	m, _ := r.plan.Measurement(r.plan.Tables[table].Statistics[0].Measurement)
	return []plan.Measurement{m}
}

// Together tells that two tables were put together from the same estimates, so that both give one answer to what both
// hold.
func (r *Reader) Together(table, other int) bool {
	return r.at[table].estimate >= 0 && r.at[table].estimate == r.at[other].estimate
}

// Statistic is the table's figures as they are published, from the measurements that it needs. It fails where one is
// missing.
func (r *Reader) Statistic(table int, answers []measured.Measured) (Statistic, error) {
	byID := make(map[string]measured.Measured, len(answers))
	for _, m := range answers {
		byID[m.Measurement.ID] = m
	}
	at, st := r.at[table], r.plan.Tables[table].Statistics[0]
	if at.estimate < 0 {
		m, ok := byID[st.Measurement]
		if !ok {
			return Statistic{}, fmt.Errorf("measurement %s is missing", st.Measurement)
		}
		impossible, err := impossibleOf(r.plan.Release(), m)
		return alone(st, m, impossible), err
	}
	together, err := newReconstruction(r.estimates[at.estimate], byID)
	if err != nil {
		return Statistic{}, err
	}
	return together.statistic(at.marginal, st), nil
}

// Sums adds up a table's cells, row by row of an answer: one Grouping for each key, the last one's rows fastest.
func Sums(cells *array.Float64, groupings []Grouping) []float64 {
	at, rows := rowsOfCells(groupings)
	out := make([]float64, rows)
	for i, row := range at {
		if row >= 0 {
			out[row] += cells.Value(i)
		}
	}
	return out
}

// rowsOfCells are the rows of an answer that a table's cells are counted in, −1 for none.
func rowsOfCells(groupings []Grouping) (at []int, rows int) {
	at, rows = []int{0}, 1
	for _, g := range groupings {
		rows *= g.Rows
		next := make([]int, 0, len(at)*len(g.Of))
		for _, row := range at {
			for _, of := range g.Of {
				if row < 0 || of < 0 {
					next = append(next, -1)
				} else {
					next = append(next, row*g.Rows+of)
				}
			}
		}
		at = next
	}
	return at, rows
}

// Variances are those of the noise on Sums.
//
// With c(s) = Π c_a(s_a) the coefficients of the cells, 1 for those that are added up, the sum rests on the residual of
// levels k by the coefficients Π b_a, b_a(j) = Σ c_a(s)·part(s→j) over the categories s within j. Noise of variance v on
// the integers of that residual, less its mean over each group and divided by the scale c·g of the group's integers,
// leaves on it the variance
//
//	v·Π_a Σ_groups (Σ b_a² − (Σ b_a)²/g)/(c·g)²,
//
// with (Σ_s c_a(s)·part(s))² for a key that the residual leaves out; and the estimates of residuals are uncorrelated
// ([github.com/dprelease/dprelease/plan/residual.Workload.Combine]), so that these add up. A table that is one
// measurement has independent noise: its variance times the number of cells that are not impossible.
func (r *Reader) Variances(table int, groupings []Grouping) []float64 {
	at := r.at[table]
	if at.estimate < 0 {
		m := r.Needed(table)[0]
		if m.Impossible > 0 {
			out := make([]float64, 0, len(groupings))
			for _, cells := range r.possible(m, groupings) {
				out = append(out, float64(float64(cells)*m.Mechanism.Variance()))
			}
			return out
		}
		out := []float64{m.Mechanism.Variance()}
		for _, g := range groupings {
			out = outerOf(out, g.Members(), func(selected []int) float64 { return float64(len(selected)) })
		}
		return out
	}
	e := &r.estimates[at.estimate]
	axes := e.Axes[at.marginal]
	squares := make([][][]float64, len(axes)) // by axis, level and row
	for i, a := range axes {
		rungs := ladder(e.Columns, a)
		members := groupings[i].Members()
		squares[i] = make([][]float64, len(rungs))
		for level, rung := range rungs {
			for _, selected := range members {
				squares[i][level] = append(squares[i][level], rung.squares(selected))
			}
		}
	}
	var out []float64
	for _, residual := range e.Of(at.marginal) {
		term := []float64{e.Variances[residual]}
		for i, a := range axes {
			term = outer(term, squares[i][levelIn(e.Residuals[residual].Axes, a)])
		}
		if out == nil {
			out = make([]float64, len(term))
		}
		for i, v := range term {
			out[i] += v
		}
	}
	return out
}

// Alike says for each row of an answer which row, the first, has noise of the same law.
func (r *Reader) Alike(table int, groupings []Grouping) []int {
	names := []string{""}
	at := r.at[table]
	if at.estimate < 0 {
		if m := r.Needed(table)[0]; m.Impossible > 0 {
			return alikeBy(r.possible(m, groupings))
		}
	}
	for i, g := range groupings {
		var rungs []rung
		if at.estimate >= 0 {
			e := &r.estimates[at.estimate]
			rungs = ladder(e.Columns, e.Axes[at.marginal][i])
		}
		next := make([]string, 0, len(names)*g.Rows)
		of := make([]string, g.Rows)
		for row, selected := range g.Members() {
			of[row] = shape(rungs, selected)
		}
		for _, name := range names {
			for _, o := range of {
				next = append(next, name+"×"+o)
			}
		}
		names = next
	}
	return alikeBy(names)
}

// alikeBy says for each place of a list where its value is first.
func alikeBy[T comparable](list []T) []int {
	first := map[T]int{}
	out := make([]int, len(list))
	for i, v := range list {
		if _, ok := first[v]; !ok {
			first[v] = i
		}
		out[i] = first[v]
	}
	return out
}

// shape names all that a key's selected categories mean for the law of a sum.
func shape(rungs []rung, selected []int) string {
	name := fmt.Sprint(len(selected))
	for _, r := range rungs {
		var groups []string
		for group, b := range r.grouped(selected) {
			slices.Sort(b)
			groups = append(groups, fmt.Sprint(r.size[group], r.scale[group], b))
		}
		slices.Sort(groups)
		name += "|" + strings.Join(groups, ";")
	}
	return name
}

// outer are the products of all of one list with all of another, the latter fastest.
func outer(a, b []float64) []float64 {
	out := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, float64(x*y))
		}
	}
	return out
}

// outerOf is outer with a figure of each of some selections.
func outerOf(a []float64, selections [][]int, figure func([]int) float64) []float64 {
	b := make([]float64, len(selections))
	for i, s := range selections {
		b[i] = figure(s)
	}
	return outer(a, b)
}
