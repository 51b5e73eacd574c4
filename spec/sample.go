package spec

// This file reads samples: the secret draw of the units on which a release is measured.

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
)

// leastShare is the least sampling rate: a smaller one would leave next to nothing to measure.
var leastShare = big.NewRat(1, 1_000_000)

// Sample selects the units of a table that are measured, each independently and in secret. The zero value selects all.
type Sample struct{ share *big.Rat }

// Rate returns the probability with which each unit is selected.
func (s Sample) Rate() *big.Rat {
	if !s.Partial() {
		return big.NewRat(1, 1)
	}
	return s.share
}

// Partial reports whether the sample may leave units out.
func (s Sample) Partial() bool { return s.share != nil }

// measuresAll reports whether every unit of a table is measured.
func (t *Table) measuresAll() bool { return !t.Sample.Partial() }

// Sample returns the sample of the release, which is the sample of the one table that has one.
func (r *Release) Sample() Sample {
	for _, t := range r.Tables {
		if t.Sample.Partial() {
			return t.Sample
		}
	}
	return Sample{}
}

// readSample reads the probability with which each unit is selected.
func (r *reader) readSample(n document.Node) Sample {
	at := n.Get("poisson")
	if !r.IsSound(n) || !at.Present() {
		return Sample{}
	}
	q, ok := r.Number(at)
	switch {
	case !ok:
	case q.Cmp(leastShare) < 0 || q.Cmp(big.NewRat(1, 1)) >= 0:
		r.AddProblem(at, document.Problem{Message: "each unit is drawn with probability " + at.Text(),
			Expected: "a share from 1e-6 to below 100%, such as 10%; no sample where all are measured"})
	default:
		return Sample{q}
	}
	return Sample{}
}

// checkSample reports settings that are invalid in a release that is measured on a sample.
func (r *reader) checkSample(root document.Node) {
	if !r.release.Sample().Partial() {
		return
	}
	var at document.Node
	for _, t := range r.release.Tables {
		if t.Sample.Partial() {
			at = root.Get("tables").Get(t.Name).Get("sample")
		}
	}
	switch {
	case len(r.release.Tables) > 1:
		r.WrongKey(at, document.Problem{Message: "a sample of several tables",
			Expected: "one table: a unit would have to be drawn in all of them or in none"})
	case r.release.Privacy.Neighbours == Replace:
		r.AddProblem(root.Get("privacy").Get("neighbours"), document.Problem{
			Message: "a sample earns nothing where one unit is replaced by another: who enters could be drawn in " +
				"the place of who leaves",
			Expected: "neighbours: add-remove, or no sample", Fix: "neighbours: " + string(AddRemove),
		})
	case r.release.Budget.Rho != nil:
		r.AddProblem(root.Get("budget").Get("rho"), document.Problem{
			Message:  "a budget in ρ gains nothing by a sample: it loses as much as all units would",
			Expected: "{epsilon: …} or {epsilon: …, delta: …}, or no sample",
		})
	case hasAmount(r.release.Budget.Split):
		r.WrongKey(root.Get("budget").Get("split"), document.Problem{
			Message: "an absolute amount in the split of a budget that is spent on a sample: those who are drawn " +
				"may lose more than all units together, and shares are of that",
			Expected: "shares alone, such as {a: 60%, b: 40%}",
		})
	}
	rest := []conflict{{key: "diagnostics"}, {key: "synthetic"}, {key: "models"}}
	r.reportConflicts(root, rest, func(c conflict) document.Problem {
		return document.Problem{Message: c.key + " with a sample",
			Expected: "a release of its own, without a sample: they speak of the rows that were drawn, and not of all"}
	})
	if n := root.Get("publish").Get("integers"); n.Present() {
		r.WrongKey(n, document.Problem{Message: "whole counts that add up, with a sample",
			Expected: "no `integers`: counts of a sample are divided by the share that was drawn, and are not whole"})
	}
	r.checkSampledTable(root.Get("tables").Get(r.release.Tables[0].Name))
	for _, m := range r.release.Marginals {
		r.checkSampledMarginal(m, root.Get("marginals").Get(m.Name))
	}
}

// hasAmount reports whether a split contains an absolute amount.
func hasAmount(parts []Part) bool {
	return slices.ContainsFunc(parts, func(p Part) bool { return p.Amount != nil || hasAmount(p.Parts) })
}

// checkSampledTable reports parts of a sampled table for which the sampling error is not implemented.
func (r *reader) checkSampledTable(n document.Node) {
	if weight := n.Get("weight"); weight.Present() {
		r.WrongKey(weight, document.Problem{Message: "weights with a sample",
			Expected: "counts of rows: the error of sampling is known of these alone"})
	}
	for _, c := range r.Entries(n.Get("columns")) {
		if bounds := c.Get("bounds"); bounds.Present() {
			r.WrongKey(bounds, document.Problem{Message: "a suggestion of bounds with a sample",
				Expected: "a release of its own, without a sample"})
		}
		if discover := c.Get("values").Get("discover"); discover.Present() {
			r.WrongKey(discover, document.Problem{Message: "a column whose values nobody listed, with a sample",
				Expected: "a release of its own, without a sample, or the list of its values"})
		}
	}
}

// checkSampledMarginal reports settings that are invalid in a marginal of a sampled table.
func (r *reader) checkSampledMarginal(m Marginal, n document.Node) {
	if len(m.Stats) > 1 {
		r.AddProblem(n.Get("stats"), document.Problem{
			Message:  "several statistics in a table of a sample: the error of sampling is known of the first alone",
			Expected: "a marginal for each: one with stats: [count], one with stats: [units]",
		})
		return
	}
	if len(m.Stats) > 0 && !m.Stats[0].Kind.countsRowsOrUnits() {
		r.AddProblem(n.Get("stats"), document.Problem{
			Message:  "a statistic other than count or units with a sample",
			Expected: "stats: [count] or [units]: the error of sampling is known of these alone",
		})
	}
	r.reportConflicts(n, []conflict{{key: "cells"}, {key: "target"}, {key: "top"}}, func(c conflict) document.Problem {
		return document.Problem{
			Message:  "`" + c.key + "` with a sample: it is about the noise, and the error of sampling comes on top",
			Expected: "a table of all cells without `" + c.key + "`, or no sample",
		}
	})
}
