package scan

import (
	"errors"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// This file lists how scanning handles each kind of what is counted and each kind of selection.

// counter is how a kind is counted.
type counter struct {
	// read adds the columns that the question reads in addition to its factors, whether or not anything in them is
	// counted.
	read func(t *task, what counted.Counted) error
	// refine records in a query what it asks in addition to its factors: what a row adds, and the values that are
	// ranked or distinguished. cells is the number of cells of the query.
	refine func(t *task, q *query, what counted.Counted, cells uint64) error
	// queue records how the query is answered.
	queue func(t *task, q *query)
	// allow returns which rows of a unit are counted: an index among the task's allowances.
	allow func(t *task, asked plan.Query, q *query) (int, error)
	// answer turns the counts into the answers of the measurement.
	answer func(r *spec.Release, m plan.Measurement, counts answer.Answer) (answer.Answer, error)
}

var counters = [counted.Kinds]counter{
	counted.KindRows: {readNothing, refineNothing, (*task).queueTabulated, (*task).allowanceOfQuery, projectAnswers},
	counted.KindValues: {(*task).readValues, (*task).refineValues, (*task).queueTabulated, (*task).allowanceOfQuery,
		projectAnswers},
	counted.KindQuantiles: {(*task).readNumber, (*task).refineAlong, (*task).queueTabulated, (*task).allowanceOfQuery,
		projectAnswers},
	counted.KindBins: {(*task).readNumber, (*task).refineAlong, (*task).queueTabulated, (*task).allowanceOfQuery,
		distributionAnswers},
	counted.KindDistinct: {(*task).readDistinct, (*task).refineDistinct, (*task).queueTabulated, (*task).boundedByValue,
		projectAnswers},
	counted.KindDiagnostic: {readNothing, refineDiagnostic, (*task).queueDiagnostic, (*task).diagnosticAllowance,
		projectAnswers},
	counted.KindReports: {refuseReports, refineNothing, (*task).queueTabulated, (*task).allowanceOfQuery,
		projectAnswers},
}

// refuseReports returns an error: reports are no rows.
func refuseReports(*task, counted.Counted) error {
	return errors.New("reports are counted by package respondent: this is a bug, please report it")
}

// cellsCounted is which cells are counted for a selection.
type cellsCounted struct {
	occupied bool // only cells with rows
	listed   bool // the plan has the number of cells; else it is known only after rows were read, and confidential
}

// countedFor lists which cells are counted, by selection.
var countedFor = [selection.Kinds]cellsCounted{
	selection.KindAll:    {listed: true},
	selection.KindAbove:  {occupied: true, listed: true},
	selection.KindTop:    {occupied: true, listed: true},
	selection.KindGroups: {occupied: true},
	selection.KindTexts:  {}, // reports are not scanned
}

func readNothing(*task, counted.Counted) error { return nil }

func refineNothing(*task, *query, counted.Counted, uint64) error { return nil }

// readNumber adds a column whose lattice indexes are ranked, and the weights of rows.
func (t *task) readNumber(what counted.Counted) error {
	if _, err := t.addNumberColumn(t.table.Column(what.Reads())); err != nil {
		return err
	}
	return t.readWeight(what)
}

// queueTabulated records that a query is counted cell by cell.
func (t *task) queueTabulated(q *query) { t.tabulated = append(t.tabulated, q) }

// refineAlong records that rows are counted along the lattice indexes of a column.
func (t *task) refineAlong(q *query, what counted.Counted, cells uint64) (err error) {
	q.sparse = true
	if q.attributes, err = t.alongLattice(q.attributes, t.table.Column(what.Reads()), cells); err != nil {
		return err
	}
	q.value, err = t.valueIndex(counted.Values{Weight: what.Weighted()})
	return err
}
