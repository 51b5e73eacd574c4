package synth

import (
	"context"
	"slices"

	"github.com/dprelease/dprelease/synth/graphical"
)

// This file holds the drawing of rows from a graphical model.

// draw makes n rows: first the classes of all columns, and of each class its categories.
func (a *aim) draw(ctx context.Context, n int, r *stream) [][]uint32 {
	return a.drawGiven(ctx, make([][]uint32, len(a.columns)), n, r)
}

// drawGiven is draw where rows have the given columns of the model already.
func (a *aim) drawGiven(ctx context.Context, codes [][]uint32, n int, r *stream) [][]uint32 {
	drawn := make([][]uint32, len(codes))
	for i, own := range codes {
		if own != nil {
			drawn[i] = a.columns[i].merged(own)
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

// drawModel makes n rows, by column: the codes of the model's domain, of which those of given columns are there. Each
// other column is drawn given those that it depends on, of these and of the ones before, as [deal] does: counts are the
// expected ones rounded up or down, and which of rows that are alike so far get them is random. No column is begun once
// the context has ended.
func drawModel(ctx context.Context, m *graphical.Model, d graphical.Domain, codes [][]uint32, n int, r *stream) {
	for _, s := range m.Steps() {
		if ctx.Err() != nil {
			return
		}
		codes[s.Attribute] = make([]uint32, n)
		dealGiven(codes, d, s.Given, s.Attribute, m.Marginal(withAttribute(s.Given, s.Attribute)), r)
	}
}

// withAttribute is a clique and one more attribute.
func withAttribute(c graphical.Clique, a int) graphical.Clique {
	at, _ := slices.BinarySearch(c, a)
	return slices.Insert(slices.Clone(c), at, a)
}

// dealGiven draws a column given others, by the table of all of them. Rows that the table has no counts for, of which
// rounding has made some, get what is usual among all.
func dealGiven(codes [][]uint32, d graphical.Domain, given graphical.Clique, a int, table []float64, r *stream) {
	n := len(codes[a])
	place := make([]uint32, n)
	cells, step, other := 1, 1, 1 // of the given ones; of a in the table
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
	for cell, rows := range group(place, cells) {
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
		deal(codes[a], rows, weights, r)
	}
}

// spreadCodes gives every row of a class a category, in proportion to its part of the class.
func spreadCodes(codes []uint32, c classes, r *stream) []uint32 {
	out := make([]uint32, len(codes))
	for class, rows := range group(codes, len(c.size)) {
		weights := make([]float64, len(c.of))
		for category, of := range c.of {
			if of == class {
				weights[category] = c.share[category]
			}
		}
		if len(rows) > 0 {
			deal(out, rows, weights, r)
		}
	}
	return out
}

// marginals of the method aim: by category of single columns as they were measured before the rounds, and by class of
// others.
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
