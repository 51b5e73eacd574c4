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
	// queue notes what answers the query.
	queue func(t *task, q *query)
	// allow returns which rows of a unit are counted: a place among the task's allowances.
	allow func(t *task, asked plan.Query, q *query) (int, error)
	// answer turns what was counted into the answers of the measurement.
	answer func(r *spec.Release, m plan.Measurement, counts answer.Answer) (answer.Answer, error)
}

var counters = [counted.Kinds]counter{
	counted.KindRows:      {readNothing, refineNothing, (*task).tabulate, (*task).bounded, project},
	counted.KindValues:    {(*task).readValues, (*task).refineValues, (*task).tabulate, (*task).bounded, project},
	counted.KindQuantiles: {(*task).readNumber, (*task).refineAlong, (*task).tabulate, (*task).bounded, project},
	counted.KindBins:      {(*task).readNumber, (*task).refineAlong, (*task).tabulate, (*task).bounded, distributed},
	counted.KindDistinct: {(*task).readDistinct, (*task).refineDistinct, (*task).tabulate, (*task).boundedByValue,
		project},
	counted.KindDiagnostic: {readNothing, refineDiagnostic, (*task).diagnosis, (*task).diagnosed, project},
}

// cellsCounted is which cells are counted for answers that are given out.
type cellsCounted struct {
	occupied bool // only those that some row falls into
	listed   bool // the plan says how many there are; else that is known once rows were read, and nowhere else
}

// countedFor lists which cells are counted, by which answers are given out.
var countedFor = [selection.Kinds]cellsCounted{
	selection.KindAll:    {listed: true},
	selection.KindAbove:  {occupied: true, listed: true},
	selection.KindTop:    {occupied: true, listed: true},
	selection.KindGroups: {occupied: true},
}

func readNothing(*task, counted.Counted) error { return nil }

func refineNothing(*task, *query, counted.Counted, uint64) error { return nil }

// readNumber adds a column whose places are ranked, and the weights that rows count by.
func (t *task) readNumber(what counted.Counted) error {
	if _, err := t.number(t.table.Column(what.Reads())); err != nil {
		return err
	}
	return t.readWeight(what)
}

// tabulate notes that a query is counted cell by cell.
func (t *task) tabulate(q *query) { t.tabulated = append(t.tabulated, q) }

// refineAlong notes that rows are counted along the places of a column.
func (t *task) refineAlong(q *query, what counted.Counted, cells uint64) (err error) {
	q.sparse = true
	if q.attributes, err = t.along(q.attributes, t.table.Column(what.Reads()), cells); err != nil {
		return err
	}
	q.value, err = t.value(counted.Values{Weight: what.Weighted()})
	return err
}
