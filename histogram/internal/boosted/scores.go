package boosted

// This file holds the scores of entries, which are kept from round to round, and the histogram of scores.

import (
	"context"
	"errors"
	"slices"

	"github.com/dprelease/dprelease/plan/boosting"
)

// updateTo returns what changes the scores of a range of entries to those of other tables. Only columns whose
// tables, or tables of pairs, changed are read. Until r.scored is set again, scores count as being of no tables.
func (r *rows) updateTo(next *boosting.Scores) (update func(from, to int)) {
	if r.scores == nil {
		r.scores = make([]int32, len(r.counts))
	}
	last := r.scored
	r.scored = nil
	changes := slices.Clone(next.Tables)
	if last != nil {
		for c, table := range next.Tables {
			changes[c] = difference(table, last.Tables[c])
		}
	}
	return func(from, to int) {
		scores := r.scores[from:to]
		if last == nil {
			clear(scores)
		}
		shift := next.Intercept
		if last != nil {
			shift -= last.Intercept
		}
		if shift != 0 {
			for i := range scores {
				scores[i] += shift
			}
		}
		for c, amounts := range changes {
			if amounts == nil {
				continue
			}
			if of := r.codesOf(c, from, to); of.narrow != nil {
				addAmounts(scores, of.narrow, amounts)
			} else {
				addAmounts(scores, of.wide, amounts)
			}
		}
	}
}

// difference returns a − b, or nil if that is 0 everywhere.
func difference(a, b []int32) []int32 {
	if slices.Equal(a, b) {
		return nil
	}
	of := slices.Clone(a)
	for i := range of {
		of[i] -= b[i]
	}
	return of
}

// addAmounts adds the amount of each entry's category to its score.
func addAmounts[C uint8 | uint16](scores []int32, of []C, amounts []int32) {
	for i, code := range of {
		scores[i] += amounts[code]
	}
}

// clone returns a copy of scores.
func clone(s *boosting.Scores) *boosting.Scores {
	of := &boosting.Scores{Intercept: s.Intercept}
	for _, table := range s.Tables {
		of.Tables = append(of.Tables, slices.Clone(table))
	}
	return of
}

// Histogram counts the rows of a model of link [boosting.Logit] by bin of their score ([boosting.NewBins]) and
// outcome: 2·[boosting.ScoreBins] counts, the outcome fastest.
//
// Sensitivity: one row more adds 1 to one of the counts, whatever the scores.
//
// It returns an error for another link, for tables that [boosting.Scores.Check] refuses, and if the context ends.
func (r *Rows) Histogram(ctx context.Context, scores *boosting.Scores) ([]int64, error) {
	x := r.inner
	if x.shape.Link != boosting.Logit {
		return nil, errors.New("rows are counted by score for a model of a class alone")
	}
	if err := scores.Check(x.shape); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	bins := boosting.NewBins(scores.Intercept)
	total := sums{all: make([]int64, 2*boosting.ScoreBins)}
	update := x.updateTo(scores)
	err := eachChunk(ctx, len(x.counts), func(_, from, to int) error {
		update(from, to)
		of := make([]int64, len(total.all))
		target := x.columns[len(x.columns)-1]
		for i := from; i < to; i++ {
			outcome := int(x.shape.Outcomes[target.at(i)])
			of[2*bins.Of(x.scores[i])+outcome] += int64(x.counts[i])
		}
		total.add(of)
		return nil
	})
	if err != nil {
		return nil, err
	}
	x.scored = clone(scores)
	return total.all, nil
}

// at returns the category of an entry.
func (c codes) at(i int) int {
	if c.narrow != nil {
		return int(c.narrow[i])
	}
	return int(c.wide[i])
}
