package query

import (
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/spec"
)

// This file lists how statistics are added up over cells and releases.

// adds is how a statistic is added up.
type adds struct {
	// asked reports whether a question can ask for it so: with this column, and whether one is given.
	asked func(column string, ofColumn bool) bool
	// from returns the table of a release, of those that hold the question, which it is read from.
	from func(c *contribution, held []holder, column string) (holder, error)
	// rows works out what a release brings to each row.
	rows func(c *contribution, column string, answers []measured.Measured) error
	// fill fills in a row, the i-th, of some releases together.
	fill func(r *TotalRow, all []*contribution, i int, known *laws)
}

// adding lists the statistics that a question can ask for: what adds up over cells and over releases.
var adding = map[spec.StatKind]adds{
	spec.Count: {ofNoColumn, (*contribution).withCounts, countRows, (*TotalRow).add},
	spec.Sum:   {ofOneColumn, (*contribution).withSums, (*contribution).sum, (*TotalRow).add},
	spec.Mean:  {ofOneColumn, (*contribution).withSums, (*contribution).mean, (*TotalRow).mean},
}

func countRows(c *contribution, _ string, answers []measured.Measured) error { return c.count(answers) }

func ofNoColumn(_ string, ofColumn bool) bool { return !ofColumn }

func ofOneColumn(column string, _ bool) bool { return column != "" }
