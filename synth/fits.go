package synth

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth/graphical"
)

// This file holds how well microdata keep to what was measured: the unbiased estimate, the model and the rows side by side.

// Fit is how well the model and the rows keep to the counts of a set of columns that measurements determine: of one that
// was measured, or is part of such a set. The estimate of a cell is from one measurement alone, the last of that set which has
// the least noise, as how often a set is measured, and with how much noise, depends on the answers. It is unbiased but where a
// set was asked for more than once: whether an answer is the last depends on its own noise as well, a little.
//
// Distance close to what noise alone makes, √(2/π)·Sigma·Cells, or below is as it should be: the model takes out the noise
// that cannot be true.
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
	// √(2·n·s·(n·ln 2 + ln 20)) for n cells, whose noise has E exp(t·z) ≤ exp(s·t²/2), as the discrete normal law of parameter
	// s has (Canonne, Kamath & Steinke 2020). For then P(Σ|z| ≥ x) ≤ 2ⁿ·exp(n·s·t²/2 − t·x) for every t.
	// It is 0, of which nothing follows, where the noise is of another law, or is that of several measurements put together.
	Bound float64
	// Spread is the standard deviation of the count of a cell between several files of rows, as the root of the mean square over
	// the cells; 0 where there is one file.
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

// known is the unbiased estimate of the counts of a set of columns.
type known struct {
	columns  []int
	path     string  // of the table that it is; "": none
	keys     []Key   // of each column, as the table has it; nil: as the microdata do
	of       [][]int // class of each category, by column; nil: categories
	sizes    []int   // classes, by column
	counts   []float64
	sigma    float64
	proxy    float64 // s of a cell
	measured int
	first    bool
}

// knownOf is what measurements determine: every column as it was measured before the rounds, every set of columns that rounds
// have measured, a single column too, and every part of one with two columns or more.
func knownOf(asked plan.Synthetic, columns []measured.Measured, rounds measured.Rounds) []known {
	var all []known
	for i, m := range columns {
		all = append(all, known{columns: []int{i}, of: [][]int{nil}, sizes: []int{m.Values.Len()}, counts: countsOf(m), sigma: math.Sqrt(varianceOf(m)), proxy: proxyOf(m), measured: 1, first: true})
	}
	single := len(all)
	candidates, sizes, place := asked.Candidates(), make([]int, len(columns)), map[string]int{}
	for i, m := range columns {
		if sizes[i] = m.Values.Len(); rounds.Classes != nil {
			sizes[i] = slices.Max(rounds.Classes[i]) + 1
		}
	}
	for _, r := range rounds.Each {
		whole := known{columns: candidates[r.Choice], counts: countsOf(r.Measured), sigma: math.Sqrt(varianceOf(r.Measured)), proxy: proxyOf(r.Measured), measured: 1}
		for _, column := range whole.columns {
			if whole.sizes = append(whole.sizes, sizes[column]); rounds.Classes == nil {
				whole.of = append(whole.of, nil)
			} else {
				whole.of = append(whole.of, rounds.Classes[column])
			}
		}
		for _, part := range whole.parts() {
			id := fmt.Sprint(part.columns)
			at, twice := place[id]
			if !twice {
				place[id] = len(all)
				all = append(all, part)
				continue
			}
			part.measured += all[at].measured
			all[at].measured = part.measured
			if part.sigma <= all[at].sigma {
				all[at] = part
			}
		}
	}
	slices.SortStableFunc(all[single:], func(a, b known) int {
		return cmp.Or(len(a.columns)-len(b.columns), slices.Compare(a.columns, b.columns))
	})
	return all
}

// parts are the known, and what it says of every part of its columns, of two at least. Of a single column nothing is
// said that its own measurement does not say of each category.
func (e known) parts() []known {
	all := []known{e}
	if len(e.columns) <= 2 {
		return all
	}
	for left := range e.columns {
		all = append(all, e.without(left).parts()...)
	}
	return all
}

// without is the estimate of all columns but one.
func (e known) without(left int) known {
	drop := func(x []int) []int { return slices.Delete(slices.Clone(x), left, left+1) }
	out := known{columns: drop(e.columns), of: slices.Delete(slices.Clone(e.of), left, left+1), sizes: drop(e.sizes)}
	n, step := e.sizes[left], 1
	for _, size := range e.sizes[left+1:] {
		step *= size
	}
	out.counts = make([]float64, len(e.counts)/n)
	for i, x := range e.counts {
		out.counts[i/(n*step)*step+i%step] += x
	}
	out.sigma, out.proxy = e.sigma*math.Sqrt(float64(n)), e.proxy*float64(n)
	return out
}

// proxyOf is the parameter of the noise of a measurement: that of a discrete normal law.
func proxyOf(m measured.Measured) float64 {
	s, _ := m.Measurement.Mechanism.Parameter.Float64()
	return s
}

// noiseBound is above the L1 norm of the noise of all cells with a probability of 95 %.
func (e known) noiseBound() float64 {
	const ln2, ln20 = 0.69314718055994530942, 2.9957322735539909934
	n := float64(len(e.counts))
	return math.Sqrt(2 * n * e.proxy * (float64(n*ln2) + ln20))
}

// tally counts rows, by column, in the cells of what is known.
func (e known) tally(codes [][]uint32) []float64 {
	counts := make([]float64, len(e.counts))
	if len(codes[0]) == 0 {
		return counts
	}
	place := make([]uint32, len(codes[0]))
	for i, column := range e.columns {
		size := uint32(e.sizes[i])
		if of := e.of[i]; of != nil {
			for row, code := range codes[column] {
				place[row] = place[row]*size + uint32(of[code])
			}
			continue
		}
		for row, code := range codes[column] {
			place[row] = place[row]*size + code
		}
	}
	for _, at := range place {
		counts[at]++
	}
	return counts
}

// compare sets side by side what measurements determine, what the model expects and what the rows hold. It ends with the context.
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
		m.Fits[i] = Fit{Table: e.path, Measured: e.measured, First: e.first, Cells: len(e.counts), Sigma: e.sigma, Distance: distance(model, e.counts), Rows: distance(rows, e.counts), Off: len(off)}
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
		Estimate: e.counts[cell], Sigma: e.sigma, Model: model, Rows: rows, Deviations: math.Abs(rows-e.counts[cell]) / e.sigma,
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

// marginals of a tree: of its columns and its pairs.
func (m model) marginals(ctx context.Context, of []known, found func(i int, counts []float64)) {
	for i, e := range of {
		if ctx.Err() != nil {
			return
		}
		if len(e.columns) == 1 {
			found(i, m.columns[e.columns[0]])
			continue
		}
		for _, t := range m.pairs {
			if slices.Equal(t.pair, e.columns) {
				found(i, t.counts)
			}
		}
	}
}

// marginals of the method aim: by category of single columns as they were measured before the rounds, and by class of others.
func (a *aim) marginals(ctx context.Context, of []known, found func(i int, counts []float64)) {
	asked := make([]graphical.Clique, len(of))
	for i, e := range of {
		asked[i] = e.columns
	}
	a.model.Marginals(ctx, asked, func(i int, counts []float64) {
		if e := of[i]; len(e.columns) == 1 && e.of[0] == nil {
			counts = a.columns[e.columns[0]].spread(counts)
		}
		found(i, counts)
	})
}
