package synth

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dprelease/dprelease/spec"
)

// This file holds the comparison of microdata with the measurements: the unbiased estimate, the model and the rows.

// Fit says how close the model and the rows are to the counts of a set of columns that measurements determine: a set
// that was measured, or part of one. The estimate of a cell comes from one measurement: the last one of those of that
// set with the least noise, as how often a set is measured, and with how much noise, depends on the answers. It is
// unbiased unless a set was asked for more than once: whether an answer is the last then depends a little on its own
// noise too.
//
// A Distance close to the expected noise, √(2/π)·Sigma·Cells, or below is as it should be: the model removes noise that
// cannot be true.
type Fit struct {
	Columns  []spec.Attribute
	Table    string // of the release, from which the estimate comes; "": measured for the microdata
	Measured int    // rounds that measured exactly this set, or 1 if First; 0: only larger sets were measured
	First    bool   // a single column, as measured before the rounds, by category
	Cells    int    // counted by class where categories were merged
	// Sigma is the standard error of the estimate of a cell, from the law of the noise.
	Sigma    float64
	Distance float64 // L1: Σ|model − estimate| over the cells
	// L1: Σ|rows − estimate|, the rows scaled to the noisy total where the plan says how many there are
	Rows float64
	Off  int // cells in which the rows are off by more than three standard errors
	// Bound is at least Σ|rows − true counts| with a probability of 95 % or more, for this set by itself: Rows plus
	// √(2·n·s·(n·ln 2 + ln 20)) for n cells, whose noise has E exp(t·z) ≤ exp(s·t²/2), as the discrete normal law of
	// parameter s has (Canonne, Kamath & Steinke 2020). For then P(Σ|z| ≥ x) ≤ 2ⁿ·exp(n·s·t²/2 − t·x) for every t. It
	// is 0, and says nothing, if the noise has another law, or comes from several measurements put together.
	Bound float64
	// Spread is the standard deviation of the count of a cell between several files of rows, as the root mean square
	// over the cells; 0 if there is one file.
	Spread float64
}

// CellFit is a cell in which the rows are far from the unbiased estimate.
type CellFit struct {
	Columns                 []spec.Attribute
	Categories              []string // by column: the number of merged categories; 1: not merged
	Merged                  []int    // of each column, how many categories were merged there; 1: none
	Estimate, Sigma         float64
	Model, Rows, Deviations float64 // Deviations is |Rows − Estimate|/Sigma
}

const (
	farOffErrors = 3  // standard errors
	mostFarthest = 10 // cells that are listed
)

// compareFits compares what measurements determine with what the model expects and what the rows hold. It ends with the
// context.
func (m *Microdata) compareFits(ctx context.Context, l rowLaw, all []setEstimate) {
	m.Fits = make([]Fit, len(all))
	cells := make([][]CellFit, len(all))
	scale := 1.0
	if m.Rows > 0 {
		scale = max(m.Total, 0) / float64(m.Rows)
	}
	l.visitMarginals(ctx, all, func(i int, model []float64) {
		e := all[i]
		rows := e.countRows(m.Codes)
		for cell, count := range rows {
			rows[cell] = count * scale
		}
		off := e.cellsFarOff(rows)
		m.Fits[i] = Fit{Table: e.path, Measured: e.measured, First: e.first, Cells: len(e.counts), Sigma: e.sigma,
			Distance: l1Distance(model, e.counts), Rows: l1Distance(rows, e.counts), Off: len(off)}
		if e.proxy > 0 {
			m.Fits[i].Bound = m.Fits[i].Rows + e.noiseBound()
		}
		for at := range e.columns {
			m.Fits[i].Columns = append(m.Fits[i].Columns, m.keyOf(e, at).Attribute)
		}
		for _, cell := range off[:min(mostFarthest, len(off))] {
			cells[i] = append(cells[i], m.cellFit(e, cell, model[cell], rows[cell]))
		}
	})
	m.FarthestCells = slices.Concat(cells...)
	slices.SortStableFunc(m.FarthestCells, func(a, b CellFit) int { return cmp.Compare(b.Deviations, a.Deviations) })
	m.FarthestCells = m.FarthestCells[:min(mostFarthest, len(m.FarthestCells))]
}

// cellsFarOff returns the cells in which rows are far from the estimate, the farthest first.
func (e setEstimate) cellsFarOff(rows []float64) []int {
	var cells []int
	for cell, x := range rows {
		if math.Abs(x-e.counts[cell]) > farOffErrors*e.sigma {
			cells = append(cells, cell)
		}
	}
	slices.SortStableFunc(cells, func(a, b int) int {
		return cmp.Compare(math.Abs(rows[b]-e.counts[b]), math.Abs(rows[a]-e.counts[a]))
	})
	return cells
}

// keyOf returns the key of the at-th column of an estimate.
func (m *Microdata) keyOf(e setEstimate, at int) Key {
	if e.keys != nil {
		return e.keys[at]
	}
	return m.Keys[e.columns[at]]
}

// cellFit describes a cell of an estimate.
func (m *Microdata) cellFit(e setEstimate, cell int, model, rows float64) CellFit {
	n := len(e.columns)
	out := CellFit{
		Columns: make([]spec.Attribute, n), Categories: make([]string, n), Merged: make([]int, n),
		Estimate: e.counts[cell], Sigma: e.sigma, Model: model, Rows: rows,
		Deviations: math.Abs(rows-e.counts[cell]) / e.sigma,
	}
	for i := n - 1; i >= 0; i-- {
		key, class := m.keyOf(e, i), cell%e.sizes[i]
		cell /= e.sizes[i]
		out.Columns[i] = key.Attribute
		if e.keys != nil {
			out.Merged[i], out.Categories[i] = 1, key.Level.Categories[class].Code
			continue
		}
		for code, category := range key.Level.Categories {
			if e.of[i] == nil && code == class || e.of[i] != nil && e.of[i][code] == class {
				out.Merged[i]++
				out.Categories[i] = category.Code
			}
		}
		if out.Merged[i] > 1 {
			out.Categories[i] = ""
		}
	}
	return out
}

// l1Distance returns Σ|a − b|.
func l1Distance(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		d += math.Abs(a[i] - b[i])
	}
	return d
}

// meanDeviation is √(2/π): the mean of |x| for a normal x of deviation 1.
const meanDeviation = 0.79788456080286535588
