package query

import (
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/spec"
)

// This file lists how statistics are added up over cells and releases.

// adds says how a statistic is added up.
type adds struct {
	// accepts reports whether a question can ask for the statistic with this column; ofColumn is false if it names
	// none.
	accepts func(column string, ofColumn bool) bool
	// from chooses the table from which a release is read, among those that hold the question.
	from func(c *contribution, held []matchingTable, column string) (matchingTable, error)
	// rows computes a release's contribution to each row.
	rows func(c *contribution, column string, answers []measured.Measured) error
	// fill sets the i-th row of the total over some releases.
	fill func(r *TotalRow, all []*contribution, i int, known *laws)
}

// adding lists the statistics that a question can ask for: those that add up over cells and over releases.
var adding = map[spec.StatKind]adds{
	spec.Count: {ofNoColumn, (*contribution).withCounts, countRows, (*TotalRow).setSum},
	spec.Sum:   {ofOneColumn, (*contribution).withSums, (*contribution).setSums, (*TotalRow).setSum},
	spec.Mean:  {ofOneColumn, (*contribution).withSums, (*contribution).setMeans, (*TotalRow).setMean},
}

func countRows(c *contribution, _ string, answers []measured.Measured) error {
	return c.setCounts(answers)
}

func ofNoColumn(_ string, ofColumn bool) bool { return !ofColumn }

func ofOneColumn(column string, _ bool) bool { return column != "" }
