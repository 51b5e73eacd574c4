package synth

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the query: sums of a table's cells, with their joint errors.

// Grouping gives for each category of a key the row of an answer in which it is counted, −1 for none.
type Grouping struct {
	RowOf []int
	Rows  int
}

// Members returns the categories of every row.
func (g Grouping) Members() [][]int {
	out := make([][]int, g.Rows)
	for category, row := range g.RowOf {
		if row >= 0 {
			out[row] = append(out[row], category)
		}
	}
	return out
}

// Reader answers questions about the tables of a plan, using only its measurements.
type Reader struct {
	plan      *plan.Plan
	estimates []compiled.Estimate
	at        []tableSource // by table
}

// tableSource locates a table among the estimates; estimate is −1 if the table is one measurement.
type tableSource struct{ estimate, marginal int }

// NewReader finds how each table of a plan is reconstructed. It returns an error if the plan does not say so.
func NewReader(p *compiled.Compiled) (*Reader, error) {
	r := &Reader{plan: p.Plan(), at: make([]tableSource, len(p.Tables))}
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
				r.at[table] = tableSource{i, marginal}
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

// Needed returns the measurements from which a table is read: none if an invariant decides it.
func (r *Reader) Needed(table int) []plan.Measurement {
	if r.IsInvariant(table) {
		return nil
	}
	return r.sourcesOf(table)
}

// sourcesOf returns the measurements from which a table's estimates come.
func (r *Reader) sourcesOf(table int) []plan.Measurement {
	if at := r.at[table]; at.estimate >= 0 {
		return r.estimates[at.estimate].Sources
	}
	m, _ := r.plan.Measurement(r.plan.Tables[table].Statistics[0].Measurement)
	return []plan.Measurement{m}
}

// Together reports whether two tables are reconstructed from the same estimates, so that both give the same answer to a
// question that both hold.
func (r *Reader) Together(table, other int) bool {
	return r.at[table].estimate >= 0 && r.at[table].estimate == r.at[other].estimate
}

// Statistic returns the table's figures as they are published, from the measurements that it needs. It returns an error
// if one is missing.
func (r *Reader) Statistic(table int, answers []measured.Measured) (Statistic, error) {
	if st, is, err := publicStatistic(r.plan, r.plan.Tables[table]); is || err != nil {
		return st, err
	}
	byID := measured.ByID(answers)
	at, st := r.at[table], r.plan.Tables[table].Statistics[0]
	if at.estimate < 0 {
		m, ok := byID[st.Measurement]
		if !ok {
			return Statistic{}, fmt.Errorf("measurement %s is missing", st.Measurement)
		}
		impossible, err := impossibleOf(r.plan.Release(), m)
		return standaloneStatistic(st, m, impossible), err
	}
	together, err := newReconstruction(r.estimates[at.estimate], byID)
	if err != nil {
		return Statistic{}, err
	}
	return together.statisticOf(at.marginal, st), nil
}

// Cells returns the table's unbiased estimates cell by cell, even if it shows sums of them, from the measurements that
// it needs. It returns an error if one is missing.
func (r *Reader) Cells(table int, answers []measured.Measured) (*array.Float64, error) {
	at := r.at[table]
	if at.estimate < 0 || r.IsInvariant(table) {
		figures, err := r.Statistic(table, answers)
		return figures.Unbiased, err
	}
	byID := measured.ByID(answers)
	together, err := newReconstruction(r.estimates[at.estimate], byID)
	if err != nil {
		return nil, err
	}
	axes := slices.Clone(together.Axes[at.marginal])
	for i := range axes {
		axes[i].Sums = residual.Cells
	}
	return float64Column(together.shownCells(at.marginal, axes)), nil
}

// ShowsCells reports whether a table shows its cells, rather than sums of them.
func (r *Reader) ShowsCells(table int) bool {
	at := r.at[table]
	return at.estimate < 0 || !slices.ContainsFunc(r.estimates[at.estimate].Axes[at.marginal],
		func(a residual.Axis) bool { return a.Sums == residual.Prefixes })
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

// rowsIn returns the number of rows of an answer.
func rowsIn(groupings []Grouping) int {
	rows := 1
	for _, g := range groupings {
		rows *= g.Rows
	}
	return rows
}

// rowsOfCells returns, for each cell of a table, the row of an answer in which it is counted, −1 for none.
func rowsOfCells(groupings []Grouping) (at []int, rows int) {
	at, rows = []int{0}, 1
	for _, g := range groupings {
		rows *= g.Rows
		at = residual.Cross(at, g.RowOf, func(row, of int) int {
			if row < 0 || of < 0 {
				return -1
			}
			return row*g.Rows + of
		})
	}
	return at, rows
}

// Variances returns the variances of the noise on Sums ([compiled.Estimate.SumVariances]). A table that is one
// measurement has independent noise: its variance times the number of possible cells. A table that an invariant decides
// has none.
func (r *Reader) Variances(table int, groupings []Grouping) []float64 {
	if r.IsInvariant(table) {
		return make([]float64, rowsIn(groupings))
	}
	return r.measuredVariances(table, groupings)
}

// measuredVariances returns the variances of the measured estimates, even of a table that an invariant decides.
func (r *Reader) measuredVariances(table int, groupings []Grouping) []float64 {
	at := r.at[table]
	if at.estimate >= 0 {
		q := make([][][]float64, len(groupings))
		for i, g := range groupings {
			q[i] = g.coefficients()
		}
		return r.estimates[at.estimate].SumVariances(at.marginal, q)
	}
	m := r.sourcesOf(table)[0]
	variance := m.Mechanism.Variance()
	if _, ok := m.Reports(); ok { // as planned, for a cell of average size
		error := r.plan.Tables[table].Statistics[0].StandardError
		variance = float64(error * error)
	}
	var out []float64
	for _, cells := range r.countedCells(m, groupings) {
		out = append(out, float64(float64(cells)*variance))
	}
	return out
}

// VisitNoise visits the noise of the sum Σ Π_k q_k(s_k)·x_s of a table's cells, with coefficients by key: named sources
// of independent noises of mean 0 and one variance, with the weight of the sum on each noise. Sums of all tables have
// the same sources. A table that an invariant decides has none.
func (r *Reader) VisitNoise(table int, q [][]float64,
	visit func(source string, variance float64, weights []float64)) {
	at := r.at[table]
	switch {
	case r.IsInvariant(table):
	case at.estimate >= 0:
		e := &r.estimates[at.estimate]
		e.VisitResiduals(at.marginal, q, func(residual int, weights []float64) {
			visit(fmt.Sprintf("%d/%d", at.estimate, residual), e.Variances[residual], weights)
		})
	default:
		m := r.sourcesOf(table)[0]
		weights := residual.Outer(q...)
		for i, impossible := range r.impossibleCells(m) {
			if impossible {
				weights[i] = 0
			}
		}
		visit(m.ID, m.Mechanism.Variance(), weights)
	}
}

// coefficients returns for every row the vector with 1 for the categories that it adds up.
func (g Grouping) coefficients() [][]float64 {
	out := make([][]float64, g.Rows)
	for row, selected := range g.Members() {
		out[row] = indicator(selected, len(g.RowOf))
	}
	return out
}

// FirstWithSameNoise gives for each row of an answer the first row whose noise has the same law.
func (r *Reader) FirstWithSameNoise(table int, groupings []Grouping) []int {
	at := r.at[table]
	if r.IsInvariant(table) {
		return make([]int, rowsIn(groupings))
	}
	if at.estimate < 0 {
		return alikeBy(r.countedCells(r.sourcesOf(table)[0], groupings))
	}
	e := &r.estimates[at.estimate]
	shapes := make([][]string, len(groupings))
	for i, g := range groupings {
		for _, q := range g.coefficients() {
			shapes[i] = append(shapes[i], e.Shape(e.Axes[at.marginal][i], q))
		}
	}
	return alikeBy(crossShapes(shapes))
}

// crossShapes numbers each combination of one shape along every axis, the last axis's shapes the fastest. Equal
// combinations get equal numbers.
func crossShapes(shapes [][]string) []int {
	all := []int{0}
	for _, of := range shapes {
		all = residual.Cross(all, alikeBy(of), func(before, shape int) int { return before*len(of) + shape })
	}
	return all
}

// alikeBy gives for each entry of a list the index of the first equal entry.
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

// countedCells returns the number of possible cells of a measurement that are added up in each row of an answer.
func (r *Reader) countedCells(m plan.Measurement, groupings []Grouping) []int64 {
	at, rows := rowsOfCells(groupings)
	out, impossible := make([]int64, rows), r.impossibleCells(m)
	for i, row := range at {
		if row >= 0 && (impossible == nil || !impossible[i]) {
			out[row]++
		}
	}
	return out
}

// indicator returns the vector with 1 for selected categories and 0 for others.
func indicator(selected []int, size int) []float64 {
	out := make([]float64, size)
	for _, s := range selected {
		out[s] = 1
	}
	return out
}
