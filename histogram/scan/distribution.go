package scan

// This file holds the distribution: it turns the number of rows at each lattice index of a column, by cell, into the
// integers that are measured.

import (
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// distributionAnswers turns the counts of the occupied pairs of a cell and a lattice index into the answers of a
// measurement of a distribution. The answers of a cell are the counts of its bins or, with a strategy, Total times
// its count and the strategy's integers.
//
// Guarantee: the answers of a cell are one integer matrix, which the plan fixes, times the counts of its bins: a row
// adds, as often as it counts, the column of its bin to its own cell and to no other. Neighbours: both relations.
// Argument: docs/proofs/distribution.md.
func distributionAnswers(r *spec.Release, m plan.Measurement, pairs answer.Answer) (answer.Answer, error) {
	d := m.Query.Counted.(counted.Bins)
	l := r.Table(m.Query.Table).Column(d.Column).Lattice
	column, axis, err := d.Strategy(l)
	if err != nil {
		return answer.Answer{}, err
	}
	points, bins := uint64(l.PointCount()), uint64(d.Len(l))
	counts := make([]int64, m.Cells)
	for i, at := range pairs.Cells {
		bin := &counts[at/points*bins+at%points/uint64(d.Width)]
		*bin += pairs.Counts[i] // all counts together are below 2^61
	}
	if column == nil {
		return answer.Answer{Counts: counts}, nil
	}
	answers := make([]int64, 0, m.Cells)
	for ; len(counts) > 0; counts = counts[bins:] {
		all := int64(0)
		for _, n := range counts[:bins] {
			all += n
		}
		if all > answer.MaxMagnitude/d.Total {
			return answer.Answer{}, errLargeSum
		}
		integers, err := residual.Exact([]*residual.Column{column}, residual.Set{axis}, nil, counts[:bins:bins])
		if err != nil {
			return answer.Answer{}, err
		}
		for _, x := range integers {
			if exceedsBits(x) {
				return answer.Answer{}, errLargeSum
			}
		}
		answers = append(append(answers, d.Total*all), integers...)
	}
	return answer.Answer{Counts: answers}, nil
}
