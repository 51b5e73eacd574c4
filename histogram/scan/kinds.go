package scan

import (
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// This file lists what scanning does with each kind of what is counted and of what is given out.

// counter is how a kind is counted.
type counter struct {
	// read adds the columns that the question reads in addition to those of its factors, whether or not anything of them
	// is counted.
	read func(t *task, what counted.Counted) error
	// refine notes in a query of so many cells what it asks in addition to its factors: what a row adds, and the values
	// that are ranked or distinguished.
	refine func(t *task, q *query, what counted.Counted, cells uint64) error
	// allow returns which rows of a unit are counted: a place among the task's allowances.
	allow func(t *task, asked plan.Query, q *query) (int, error)
	// answer turns what was counted into the answers of the measurement.
	answer func(r *spec.Release, m plan.Measurement, counts answer.Answer) (answer.Answer, error)
}

var counters = [counted.Kinds]counter{
	counted.KindRows:       {readNothing, refineNothing, (*task).bounded, project},
	counted.KindValues:     {(*task).readValues, (*task).refineValues, (*task).bounded, project},
	counted.KindQuantiles:  {(*task).readNumber, (*task).refineAlong, (*task).bounded, project},
	counted.KindBins:       {(*task).readNumber, (*task).refineAlong, (*task).bounded, distributed},
	counted.KindDistinct:   {(*task).readDistinct, (*task).refineDistinct, (*task).boundedByValue, project},
	counted.KindDiagnostic: {readNothing, refineDiagnostic, (*task).diagnosed, project},
}

// occupying lists whether only cells that some row falls into are counted, by which answers are given out.
var occupying = [selection.Kinds]bool{selection.KindAbove: true, selection.KindTop: true, selection.KindGroups: true}

func readNothing(*task, counted.Counted) error { return nil }

func refineNothing(*task, *query, counted.Counted, uint64) error { return nil }

// readNumber adds a column whose places are ranked, and the weights that rows count by.
func (t *task) readNumber(what counted.Counted) error {
	if _, err := t.number(t.table.Column(what.Reads())); err != nil || !what.Weighted() {
		return err
	}
	_, err := t.weight()
	return err
}

// refineAlong notes that rows are counted along the places of a column.
func (t *task) refineAlong(q *query, what counted.Counted, cells uint64) (err error) {
	q.sparse = true
	if q.attributes, err = t.along(q.attributes, t.table.Column(what.Reads()), cells); err != nil {
		return err
	}
	q.value, err = t.value(counted.Values{Weight: what.Weighted()})
	return err
}
