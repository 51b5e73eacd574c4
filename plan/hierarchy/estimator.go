package hierarchy

import (
	"github.com/dprelease/dprelease/budget/local"
)

// This file puts the levels of a hierarchy together.

// Question is a question whose categories have an order along one column: Outer combinations of the columns before it,
// Size categories of the column, and Inner combinations of the columns after it, the last ones fastest.
type Question struct{ Outer, Size, Inner int }

// Cells returns how many categories the question has.
func (q Question) Cells() int { return q.Bands(1) }

// Bands returns how many categories the question has in bands of this width, the last of which may be narrower.
func (q Question) Bands(width int) int { return q.Outer * q.along(width) * q.Inner }

// along returns how many bands the column has.
func (q Question) along(width int) int { return (q.Size + width - 1) / width }

// band returns the category, in bands of this width, that a cell is in.
func (q Question) band(cell, width int) int {
	inner, along := cell%q.Inner, cell/q.Inner
	return (along/q.Size*q.along(width)+along%q.Size/width)*q.Inner + inner
}

// Level is a level of a hierarchy: bands of one width, and how they are reported.
type Level struct {
	Width int // a power of two
	local.Randomiser
	Reports int64 // so many devices have drawn it
}

// variance returns by which the estimates of bands are weighed, w(k−w)/(k(k−1)(p−q)²), with k categories, w of which
// are in a report. It is their variance for each report, but for a factor of all levels, where all bands have equally
// many respondents: a report of somebody whose category is drawn uniformly is a uniform set of w categories, and a sum
// of weights a over the categories in it has the variance w(k−w)/(k(k−1)) · (Σ a² − (Σ a)²/k).
func (l Level) variance() float64 {
	k, w := float64(l.Categories), float64(l.Support)
	gap := l.gap()
	return float64(w*(k-w)) / float64(float64(k*(k-1))*float64(gap*gap))
}

// gap returns p − q.
func (l Level) gap() float64 {
	p, q := l.Chances()
	gap, _ := p.Sub(p, q).Float64()
	return gap
}

// Estimator estimates sums of the cells of a question.
//
// It uses weighted least squares, subject to the known total: all cells together have N respondents. The weight of a
// band of level h is n_h/variance, the inverse of the variance of its own estimate. It is unbiased whatever the answers
// are, and the best linear one where all bands of a level have equally many respondents.
type Estimator struct {
	question    Question
	respondents int64
	levels      []Level
	precision   []float64 // of a band, by level
	bands       [][]int   // that each cell is in, by level
	// Along one row of the question, from the categories to the widest bands: the sum of the solution over a band is
	// own − slope·t, with the sum t of precision times the solution over all wider bands that it is in.
	slope   [][]float64
	all     []float64 // the solution where each category has the weight 1
	sumOfIt float64   // over a row
}

// New returns the estimator of a question, which so many respondents were asked, from the levels. The first of them has
// the width 1, and each of the others a larger width than the one before. Levels other than the first may have no
// reports.
func New(q Question, respondents int64, levels []Level) *Estimator {
	e := &Estimator{question: q, respondents: respondents, levels: levels}
	for _, l := range levels {
		e.precision = append(e.precision, float64(l.Reports)/l.variance())
		bands := make([]int, q.Cells())
		for cell := range bands {
			bands[cell] = q.band(cell, l.Width)
		}
		e.bands = append(e.bands, bands)
	}
	e.setSlopes()
	ones := make([]float64, q.Size)
	for i := range ones {
		ones[i] = 1
	}
	e.all = e.solve(ones)
	for _, x := range e.all {
		e.sumOfIt += x
	}
	return e
}

// setSlopes works out what a solution does not depend on.
func (e *Estimator) setSlopes() {
	e.slope = make([][]float64, len(e.levels))
	for h, l := range e.levels {
		e.slope[h] = make([]float64, e.question.along(l.Width))
		for band := range e.slope[h] {
			if h == 0 {
				e.slope[h][band] = 1 / e.precision[h]
				continue
			}
			sum := 0.0
			for _, s := range e.parts(e.slope[h-1], h, band) {
				sum += s
			}
			e.slope[h][band] = sum / (1 + float64(e.precision[h]*sum))
		}
	}
}

// parts returns what belongs to the bands of the level before that make up a band.
func (e *Estimator) parts(of []float64, level, band int) []float64 {
	each := e.levels[level].Width / e.levels[level-1].Width
	return of[band*each : min((band+1)*each, len(of))]
}

// solve returns the solution x, along a row, of Σ_h precision_h · B_h'B_h x = c, where B_h adds up the bands of level
// h. It goes through the bands twice: from the categories to the widest ones, and back.
func (e *Estimator) solve(c []float64) []float64 {
	own := make([][]float64, len(e.levels))
	for h := range e.levels {
		own[h] = make([]float64, len(e.slope[h]))
		for band := range own[h] {
			if h == 0 {
				own[h][band] = c[band] / e.precision[h]
				continue
			}
			sums, slopes := 0.0, 0.0
			for i, s := range e.parts(e.slope[h-1], h, band) {
				sums, slopes = sums+e.parts(own[h-1], h, band)[i], slopes+s
			}
			own[h][band] = sums / (1 + float64(e.precision[h]*slopes))
		}
	}
	wider := make([]float64, len(own[len(own)-1])) // the sum t of each band
	for h := len(e.levels) - 1; h >= 0; h-- {
		for band, t := range wider {
			own[h][band] -= float64(e.slope[h][band] * t)
		}
		if h == 0 {
			break
		}
		narrower := make([]float64, len(own[h-1]))
		for band, t := range wider {
			for i := range e.parts(narrower, h, band) {
				e.parts(narrower, h, band)[i] = t + float64(e.precision[h]*own[h][band])
			}
		}
		wider = narrower
	}
	return own[0]
}

// Sum returns the law of the estimated number of respondents in some cells, each counted as often as its weight says.
// Levels without reports are left out.
func (e *Estimator) Sum(weights []float64) local.Combined {
	q := e.question
	solution, total := make([]float64, len(weights)), 0.0
	for row := range q.Outer * q.Inner {
		at := func(i int) int { return (row/q.Inner*q.Size+i)*q.Inner + row%q.Inner }
		c, any := make([]float64, q.Size), false
		for i := range c {
			c[i] = weights[at(i)]
			any = any || c[i] != 0
		}
		if !any {
			continue
		}
		for i, x := range e.solve(c) {
			solution[at(i)] = x
			total += x
		}
	}
	share := total / float64(float64(q.Outer*q.Inner)*e.sumOfIt)
	for cell := range solution {
		solution[cell] -= float64(share * e.all[cell/q.Inner%q.Size])
	}
	sum := local.Combined{Respondents: e.respondents, Constant: float64(float64(e.respondents) * share)}
	for h, l := range e.levels {
		if l.Reports == 0 {
			continue
		}
		a := make([]float64, q.Bands(l.Width))
		for cell, x := range solution {
			a[e.bands[h][cell]] += x
		}
		for band := range a {
			a[band] *= e.precision[h]
		}
		sum.Questions = append(sum.Questions, local.Weighted{Randomiser: l.Randomiser, Respondents: e.respondents,
			Reports: l.Reports, Weights: a})
	}
	return sum
}

// Shown returns the laws of the cells of the first row or, if they are counted up, of the sums of each cell and all
// before it. Those of other rows are the same, but for the places of the cells.
func (e *Estimator) Shown(up bool) []local.Combined {
	cells, out := make([]float64, e.question.Cells()), make([]local.Combined, e.question.Size)
	for i := range out {
		if !up {
			clear(cells)
		}
		cells[i*e.question.Inner] = 1
		out[i] = e.Sum(cells)
	}
	return out
}

// Parts adds up the parts of all respondents who have each cell, to those who have each band of the levels that have
// reports.
func (e *Estimator) Parts(cells []float64) [][]float64 {
	var out [][]float64
	for h, l := range e.levels {
		if l.Reports == 0 {
			continue
		}
		parts := make([]float64, e.question.Bands(l.Width))
		for cell, part := range cells {
			parts[e.bands[h][cell]] += part
		}
		out = append(out, parts)
	}
	return out
}

// Answers lists, for each cell, its band in each of the levels that have reports.
func (e *Estimator) Answers() [][]int {
	out := make([][]int, e.question.Cells())
	for cell := range out {
		for h, l := range e.levels {
			if l.Reports > 0 {
				out[cell] = append(out[cell], e.bands[h][cell])
			}
		}
	}
	return out
}
