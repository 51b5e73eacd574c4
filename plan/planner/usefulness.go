package planner

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/spec"
)

// This file judges what a table is useful for, and which change of the spec would help.

// bandAim returns the standard error, as a part of an average cell, that takes a table out of a band; 0 if the band
// is good enough.
func bandAim(b usefulness.Band) float64 {
	switch b {
	case usefulness.Weak:
		return 0.5
	case usefulness.MostlyNoise:
		return 1
	}
	return 0
}

// assessTables judges what every table is useful for.
func assessTables(p *plan.Plan) {
	known := map[string]plan.Table{} // tables by what they show
	for _, t := range p.Tables {
		if _, ok := known[compiled.TableKey(t.From, t.By)]; !ok && isOfNoisyRows(t) {
			known[compiled.TableKey(t.From, t.By)] = t
		}
	}
	leaves := describe.LeavesOfTables(p)
	for i := range p.Tables {
		t := &p.Tables[i]
		if !isOfNoisyRows(*t) || hasSampleError(*t) {
			// An average cell says nothing if most cells have no rows, if the table counts something else, or if noise
			// is only a part of its error or no part.
			continue
		}
		s, cells := t.Statistics[0], compiled.CellsForAverage(p, *t)
		u := &usefulness.Usefulness{Rows: p.Release().Table(t.From).ExpectedRows(),
			EnoughRows: int64(math.Ceil(s.StandardError * cells))}
		if u.Rows > 0 {
			u.AverageCell = budget.RoundUp(float64(u.Rows)/cells, plan.Significant)
			u.Band, u.Verdict = compiled.BandOf(s, u.AverageCell), compiled.EvenVerdict(p, *t, u.AverageCell)
			if bandAim(u.Band) > 0 {
				u.Help = helpfulChanges(p, *t, *u, known)
				u.Help = append(u.Help, moreBudget(p, s.StandardError/u.AverageCell, bandAim(u.Band), leaves[t.Path]))
				slices.SortStableFunc(u.Help, func(a, b usefulness.Help) int { return cmp.Compare(a.Factor, b.Factor) })
			}
		}
		t.Usefulness = u
	}
}

// isOfNoisyRows reports whether a table shows noisy counts of rows in all cells.
func isOfNoisyRows(t plan.Table) bool { return !t.SomeCells() && t.OfRows() && isNoisy(t) }

// evenSize returns the factor by which an attribute of a table divides the rows, at its own level or at another.
func evenSize(p *plan.Plan, t plan.Table, name string, level spec.Attribute) float64 {
	n := compiled.SizeOf(p, t.From, level)
	if cumulative, _ := p.SummedAlong(t); slices.Contains(cumulative, name) {
		return 2 * n / (n + 1)
	}
	return n
}

// helpfulChanges returns the changes to a table, at most one for each of its attributes, that bring its relative
// error to the aim of its band: the finest declared level that does, or leaving the attribute out. If none does by
// itself, the largest attributes are left out together. If the plan has the resulting table, its error is known.
// Otherwise the noise is taken to stay the same: tables are estimated by least squares, so it would be less than the
// sum of noisy cells.
func helpfulChanges(p *plan.Plan, t plan.Table, u usefulness.Usefulness,
	known map[string]plan.Table) []usefulness.Help {
	relative := t.Statistics[0].StandardError / u.AverageCell
	after := func(by []string, fewer float64) float64 {
		if other, ok := known[compiled.TableKey(t.From, by)]; ok {
			return other.Statistics[0].StandardError * compiled.CellsForAverage(p, other) / float64(u.Rows)
		}
		return relative / fewer
	}
	var all []usefulness.Help
	try := func(change phrase.Phrase, by []string, fewer float64) bool {
		left := after(by, fewer)
		if left > bandAim(u.Band) {
			return false
		}
		all = append(all, usefulness.Help{Change: change, Factor: budget.RoundUp(fewer, plan.Significant),
			Relative: budget.RoundUp(left, plan.Significant)})
		return true
	}
	for i, name := range t.By {
		size := evenSize(p, t, name, plan.AttributeOf(name))
		helped := false
		for _, coarser := range coarserLevels(p, t.From, name) {
			by := slices.Clone(t.By)
			by[i] = coarser.String()
			if helped = try(phrase.New(phrase.Coarser, coarser, name), by, size/evenSize(p, t, name, coarser)); helped {
				break
			}
		}
		if !helped && len(t.By) > 1 {
			try(phrase.New(phrase.Drop, name), slices.Delete(slices.Clone(t.By), i, i+1), size)
		}
	}
	if len(all) > 0 {
		return all
	}
	by, fewer := slices.Clone(t.By), 1.0
	var dropped []string
	for len(by) > 1 {
		most := 0
		for i := range by {
			if compiled.SizeOf(p, t.From, plan.AttributeOf(by[i])) > compiled.SizeOf(p, t.From,
				plan.AttributeOf(by[most])) {
				most = i
			}
		}
		fewer *= evenSize(p, t, by[most], plan.AttributeOf(by[most]))
		dropped, by = append(dropped, by[most]), slices.Delete(by, most, most+1)
		if len(dropped) > 1 && try(phrase.Phrase{Code: phrase.Drop, Of: slices.Clone(dropped)}, by, fewer) {
			break
		}
	}
	return all
}

// coarserLevels returns the declared levels of an attribute's column in which its own level is nested, the finest
// first.
func coarserLevels(p *plan.Plan, table, name string) []spec.Attribute {
	a := plan.AttributeOf(name)
	domain := p.Release().Table(table).Column(a.Column).Domain
	own, ok := domain.Level(a.Level)
	if !ok {
		return nil // refused before
	}
	var all []spec.Attribute
	for _, other := range domain.LevelNames() {
		level, _ := domain.Level(other)
		if level.Size() >= own.Size() {
			continue
		}
		if _, nested := attributes.Nesting(domain.Size(), own, level); nested {
			all = append(all, spec.Attribute{Column: a.Column, Level: other})
		}
	}
	slices.SortStableFunc(all, func(a, b spec.Attribute) int {
		return cmp.Compare(compiled.SizeOf(p, table, b), compiled.SizeOf(p, table, a))
	})
	return all
}

// moreBudget returns the increase of the budget that brings a relative error down to an aim: errors are proportional
// to 1/ε if the budget is pure, otherwise variances to 1/ρ.
func moreBudget(p *plan.Plan, relative, aim float64, leaf string) usefulness.Help {
	factor := relative / aim
	if p.Cost.Epsilon == nil {
		factor *= relative / aim
	}
	h := usefulness.Help{Factor: budget.RoundUp(factor, plan.Significant), Relative: aim, Budget: true}
	times := describe.FactorText(factor)
	switch share := shareOf(p, leaf); {
	case leaf != "" && share != nil && share.Mul(share, new(big.Rat).SetFloat64(factor)).Cmp(big.NewRat(1, 1)) < 0:
		h.Change = phrase.New(phrase.MoreOfLeaf, leaf, times)
	case p.Cost.Epsilon != nil:
		h.Change = phrase.New(phrase.MoreEpsilon, times)
	case p.Guarantee.Delta != "" || p.Release().Budget.Delta != nil:
		h.Change = phrase.New(phrase.MoreOfBoth, times, describe.FactorText(math.Sqrt(factor)))
	default:
		h.Change = phrase.New(phrase.MoreRho, times)
	}
	return h
}

// shareOf returns a leaf's share of the budget; nil if it has none of its own.
func shareOf(p *plan.Plan, leaf string) *big.Rat {
	for _, l := range p.Leaves {
		if l.Path == leaf {
			return plan.Amount(l.Share)
		}
	}
	return nil
}
