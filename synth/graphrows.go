package synth

import (
	"context"
	"slices"

	"github.com/dprelease/dprelease/synth/graphical"
)

// This file holds the drawing of rows from a graphical model.

// drawRows draws n rows: first the classes of all columns, and then the categories of each class.
func (a *aim) drawRows(ctx context.Context, n int, r *stream) [][]uint32 {
	return a.drawGiven(ctx, make([][]uint32, len(a.columns)), n, r)
}

// drawGiven is drawRows for rows that already have the given columns of the model.
func (a *aim) drawGiven(ctx context.Context, codes [][]uint32, n int, r *stream) [][]uint32 {
	drawn := make([][]uint32, len(codes))
	for i, own := range codes {
		if own != nil {
			drawn[i] = a.columns[i].classCodes(own)
		}
	}
	drawModel(ctx, a.model, a.domain, drawn, n, r)
	for i, c := range a.columns {
		if ctx.Err() != nil {
			return nil
		}
		if codes[i] == nil {
			codes[i] = spreadCodes(drawn[i], c, r)
		}
	}
	return codes
}

// drawModel draws n rows, by column: the codes of the model's domain, where the codes of given columns are set. Each
// other column is drawn given the earlier ones that it depends on, by [dealCategories]: counts are the expected ones
// rounded up or down, and rows that are equal so far get them at random. No column begins once the context has ended.
func drawModel(ctx context.Context, m *graphical.Model, d graphical.Domain, codes [][]uint32, n int, r *stream) {
	for _, s := range m.Steps() {
		if ctx.Err() != nil {
			return
		}
		codes[s.Attribute] = make([]uint32, n)
		dealGiven(codes, d, s.Given, s.Attribute, m.Marginal(withAttribute(s.Given, s.Attribute)), r)
	}
}

// withAttribute returns a clique with one more attribute.
func withAttribute(c graphical.Clique, a int) graphical.Clique {
	at, _ := slices.BinarySearch(c, a)
	return slices.Insert(slices.Clone(c), at, a)
}

// dealGiven draws a column given others, by their joint table. Rows for which the table has no counts, which rounding
// can produce, are drawn by the column's marginal.
func dealGiven(codes [][]uint32, d graphical.Domain, given graphical.Clique, a int, table []float64, r *stream) {
	n := len(codes[a])
	place := make([]uint32, n)
	cells, step, other := 1, 1, 1 // cells of the given columns; stride of a in the table
	for _, b := range given {
		cells *= d[b]
		if b > a {
			step *= d[b]
		}
		for row, c := range codes[b] {
			place[row] = place[row]*uint32(d[b]) + c
		}
	}
	other = step * d[a]
	usual := make([]float64, d[a])
	for cell, count := range table {
		usual[cell/step%d[a]] += count
	}
	weights := make([]float64, d[a])
	for cell, rows := range groupRows(place, cells) {
		if len(rows) == 0 {
			continue
		}
		from := cell/step*other + cell%step
		for i := range weights {
			weights[i] = table[from+i*step]
		}
		if sum(weights) <= 0 {
			copy(weights, usual)
		}
		dealCategories(codes[a], rows, weights, r)
	}
}

// spreadCodes gives every row of a class a category, in proportion to its share of the class.
func spreadCodes(codes []uint32, c classes, r *stream) []uint32 {
	out := make([]uint32, len(codes))
	for class, rows := range groupRows(codes, len(c.size)) {
		weights := make([]float64, len(c.of))
		for category, of := range c.of {
			if of == class {
				weights[category] = c.share[category]
			}
		}
		if len(rows) > 0 {
			dealCategories(out, rows, weights, r)
		}
	}
	return out
}

// visitMarginals gives single columns that were measured before the rounds by category, and other sets by class.
func (a *aim) visitMarginals(ctx context.Context, of []setEstimate, found func(i int, counts []float64)) {
	asked := make([]graphical.Clique, len(of))
	for i, e := range of {
		asked[i] = e.columns
	}
	a.model.Marginals(ctx, asked, func(i int, counts []float64) {
		if e := of[i]; len(e.columns) == 1 && e.of[0] == nil {
			counts = a.columns[e.columns[0]].categoryCounts(counts)
		}
		found(i, counts)
	})
}
