package synth

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dprelease/dprelease/spec"
)

// This file holds how well microdata keep to what was measured: the unbiased estimate, the model and the rows side by
// side.

// Fit is how well the model and the rows keep to the counts of a set of columns that measurements determine: of one
// that was measured, or is part of such a set. The estimate of a cell is from one measurement alone, the last of that
// set which has the least noise, as how often a set is measured, and with how much noise, depends on the answers. It is
// unbiased but where a set was asked for more than once: whether an answer is the last depends on its own noise as
// well, a little.
//
// Distance close to what noise alone makes, √(2/π)·Sigma·Cells, or below is as it should be: the model takes out the
// noise that cannot be true.
type Fit struct {
	Columns  []spec.Attribute
	Table    string // of the release, which says this of them; "": they were measured for the microdata
	Measured int    // rounds that measured the set by itself, or 1 where First; 0: it is part of larger ones alone
	First    bool   // a single column, as it was measured before the rounds, category by category
	Cells    int    // of classes, where categories were merged
	// Sigma is the standard error of the estimate of a cell, from the law of the noise.
	Sigma    float64
	Distance float64 // L1: Σ|model − estimate| over the cells
	Rows     float64 // L1: Σ|rows − estimate|, the rows scaled to the noisy total where the plan says how many there are
	Off      int     // cells in which the rows are off by more than three standard errors
	// Bound is above Σ|rows − true counts| with a probability of 95 % or more, of this set by itself: Rows, and
	// √(2·n·s·(n·ln 2 + ln 20)) for n cells, whose noise has E exp(t·z) ≤ exp(s·t²/2), as the discrete normal law of
	// parameter s has (Canonne, Kamath & Steinke 2020). For then P(Σ|z| ≥ x) ≤ 2ⁿ·exp(n·s·t²/2 − t·x) for every t. It is
	// 0, of which nothing follows, where the noise is of another law, or is that of several measurements put together.
	Bound float64
	// Spread is the standard deviation of the count of a cell between several files of rows, as the root of the mean
	// square over the cells; 0 where there is one file.
	Spread float64
}

// CellFit is a cell in which rows are far from the unbiased estimate.
type CellFit struct {
	Columns                 []spec.Attribute
	Categories              []string // of each column; "" where several were merged
	Merged                  []int    // of each column, how many categories were merged there; 1: none
	Estimate, Sigma         float64
	Model, Rows, Deviations float64 // Deviations is |Rows − Estimate|/Sigma
}

const (
	farOff    = 3  // standard errors
	farthests = 10 // cells that are told
)

// compare sets side by side what measurements determine, what the model expects and what the rows hold. It ends with
// the context.
func (m *Microdata) compare(ctx context.Context, l rowLaw, all []known) {
	m.Fits = make([]Fit, len(all))
	cells := make([][]CellFit, len(all))
	scale := 1.0
	if m.Rows > 0 {
		scale = max(m.Total, 0) / float64(m.Rows)
	}
	l.marginals(ctx, all, func(i int, model []float64) {
		e := all[i]
		rows := e.tally(m.Codes)
		for cell, count := range rows {
			rows[cell] = count * scale
		}
		off := e.off(rows)
		m.Fits[i] = Fit{Table: e.path, Measured: e.measured, First: e.first, Cells: len(e.counts), Sigma: e.sigma,
			Distance: distance(model, e.counts), Rows: distance(rows, e.counts), Off: len(off)}
		if e.proxy > 0 {
			m.Fits[i].Bound = m.Fits[i].Rows + e.noiseBound()
		}
		for at := range e.columns {
			m.Fits[i].Columns = append(m.Fits[i].Columns, m.keyOf(e, at).Attribute)
		}
		for _, cell := range off[:min(farthests, len(off))] {
			cells[i] = append(cells[i], m.cellFit(e, cell, model[cell], rows[cell]))
		}
	})
	m.Furthest = slices.Concat(cells...)
	slices.SortStableFunc(m.Furthest, func(a, b CellFit) int { return cmp.Compare(b.Deviations, a.Deviations) })
	m.Furthest = m.Furthest[:min(farthests, len(m.Furthest))]
}

// off is the cells in which rows are far off, the farthest first.
func (e known) off(rows []float64) []int {
	var cells []int
	for cell, x := range rows {
		if math.Abs(x-e.counts[cell]) > farOff*e.sigma {
			cells = append(cells, cell)
		}
	}
	slices.SortStableFunc(cells, func(a, b int) int {
		return cmp.Compare(math.Abs(rows[b]-e.counts[b]), math.Abs(rows[a]-e.counts[a]))
	})
	return cells
}

// keyOf is a column of what is known, by its place there.
func (m *Microdata) keyOf(e known, at int) Key {
	if e.keys != nil {
		return e.keys[at]
	}
	return m.Keys[e.columns[at]]
}

// cellFit is a cell of an estimate.
func (m *Microdata) cellFit(e known, cell int, model, rows float64) CellFit {
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

// distance is Σ|a − b|.
func distance(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		d += math.Abs(a[i] - b[i])
	}
	return d
}

// meanDeviation is √(2/π): the mean of |x| of a normal x of deviation 1.
const meanDeviation = 0.79788456080286535588
