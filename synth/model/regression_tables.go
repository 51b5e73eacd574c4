package model

// This file holds the moments of a regression from released tables, which cost nothing.

import (
	"context"
	"errors"
	"math"

	"github.com/dprelease/dprelease/plan/design"
)

// RegressionTable is a released table of two columns of a design, First < Second.
type RegressionTable struct {
	First, Second int
	// Counts are the unbiased estimates of the rows by the codes of both columns, row-major.
	Counts []float64
	// Noise visits the noise of the sum Σ x_k·y_l·Counts[k, l]. Each source of independent noises of mean 0 and one
	// variance has a name, and the sum has a weight on each of its noises. Tables may share sources.
	Noise func(x, y []float64, visit func(source string, variance float64, weights []float64))
}

// RegressionMomentsOfTables returns the moments of a design from tables of its columns: sums of counts times the public
// values of the codes, each with the noise that the tables share. The tables are of all pairs of columns, in the order
// of pairs (0, 1), (0, 2), …, (1, 2), …. What one column decides is read from its table with the target, the last.
//
// The features of a column of three categories or more are read as deviations from their mean, as the moments are used
// between centred vectors only.
//
// Source: Ferrando & Sheldon 2025 (arXiv 2405.15002), who regress on marginals.
//
// It reports an error unless the tables are of these columns, and their counts finite, and the context's: following the
// noise of large tables takes minutes.
func RegressionMomentsOfTables(ctx context.Context, d *design.Design, tables []RegressionTable) (*RegressionMoments,
	error) {
	sizes := d.Sizes()
	if len(tables) != len(sizes)*(len(sizes)-1)/2 {
		return nil, errors.New("a regression needs the tables of all pairs of its columns")
	}
	m := &tableMoments{RegressionMoments: newMoments(d), at: map[string]int{}}
	last := len(sizes) - 1
	for a := range sizes {
		for b := a + 1; b < len(sizes); b++ {
			t := tables[0]
			tables = tables[1:]
			if t.First != a || t.Second != b || len(t.Counts) != sizes[a]*sizes[b] {
				return nil, errors.New("a table is not of the columns of the regression")
			}
			for _, n := range t.Counts {
				if math.IsNaN(n) || math.IsInf(n, 0) {
					return nil, errors.New("a table has a count that is no number")
				}
			}
			for i, x := range m.features(a) {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				for j, y := range m.features(b) {
					m.add(t, x, y, []matrixEntry{{d.First(a+1) + i, d.First(b+1) + j, 1}})
				}
			}
			if b < last {
				continue
			}
			ones := onesOf(sizes[b])
			m.addColumn(a, func(x []float64, pattern []matrixEntry) { m.add(t, x, ones, pattern) })
			if a == 0 {
				ones := onesOf(sizes[a])
				m.add(t, ones, onesOf(sizes[b]), m.countPattern(1))
				m.addColumn(b, func(y []float64, pattern []matrixEntry) { m.add(t, ones, y, pattern) })
			}
		}
	}
	for _, n := range m.found {
		if len(n.pattern) > 0 && n.variance > 0 {
			m.noises = append(m.noises, n)
		}
	}
	return m.RegressionMoments, nil
}

// tableMoments are moments while they are read from tables.
type tableMoments struct {
	*RegressionMoments
	found []momentNoise  // of all sources, one after another
	at    map[string]int // where those of a source begin
}

// features returns the values of each feature of a column, by code: of a column of three categories or more, less their
// mean.
func (m *tableMoments) features(column int) [][]float64 {
	e := m.design.Encodings()[column+1]
	all := make([][]float64, e.Width)
	for i := range all {
		all[i] = make([]float64, len(e.Value))
		for code, value := range e.Value {
			if e.Offset[code] == i {
				all[i][code] = float64(value) / m.unit(column+1)
			}
			if e.Width > 1 {
				all[i][code] -= 1 / float64(e.Width)
			}
		}
	}
	return all
}

// addColumn adds what a column alone decides, from a table in which add adds a sum over the codes of the column: the
// products with the intercept, and the squares unless they are the number of rows.
func (m *tableMoments) addColumn(column int, add func(values []float64, pattern []matrixEntry)) {
	first, width := m.design.First(column+1), m.design.Encodings()[column+1].Width
	for i, x := range m.features(column) {
		add(x, []matrixEntry{{0, first + i, 1}})
		if m.isContrast(column + 1) {
			continue
		}
		squares := make([]float64, len(x))
		for code, v := range x {
			if squares[code] = float64(v * v); width > 1 {
				squares[code] = 0
			}
		}
		if width > 1 {
			squares[i] = 1
		}
		add(squares, []matrixEntry{{first + i, first + i, 1}})
	}
}

// add adds the sum Σ x_k·y_l·Counts[k, l] of a table, times a pattern, with its noise. Weights that are 0 but for
// rounding are left out.
func (m *tableMoments) add(t RegressionTable, x, y []float64, pattern []matrixEntry) {
	sum := 0.0
	for k, v := range x {
		sum += float64(v * dotProduct(y, t.Counts[k*len(y):(k+1)*len(y)]))
	}
	for _, e := range pattern {
		m.matrix.add(e.i, e.j, float64(sum*e.value))
	}
	t.Noise(x, y, func(source string, variance float64, weights []float64) {
		from, seen := m.at[source]
		if !seen {
			from = len(m.found)
			m.at[source] = from
			for range weights {
				m.found = append(m.found, momentNoise{variance: variance})
			}
		}
		for i, w := range weights {
			if math.Abs(w) <= 1e-12 {
				continue
			}
			n := &m.found[from+i]
			for _, e := range pattern {
				n.pattern = append(n.pattern, matrixEntry{e.i, e.j, float64(w * e.value)})
			}
		}
	})
}

// onesOf returns n ones.
func onesOf(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}
