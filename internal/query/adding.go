package query

import (
	"errors"

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

var adding = [spec.StatKinds]adds{
	spec.Count:     {ofNoColumn, (*contribution).withCounts, countRows, (*TotalRow).add},
	spec.Sum:       {ofOneColumn, (*contribution).withSums, (*contribution).sum, (*TotalRow).add},
	spec.Mean:      {ofOneColumn, (*contribution).withSums, (*contribution).mean, (*TotalRow).mean},
	spec.Units:     notAdded,
	spec.Distinct:  notAdded,
	spec.Ratio:     notAdded,
	spec.Variance:  notAdded,
	spec.Deviation: notAdded,
	spec.Quantiles: notAdded,
}

func countRows(c *contribution, _ string, answers []measured.Measured) error { return c.count(answers) }

func ofNoColumn(_ string, ofColumn bool) bool { return !ofColumn }

func ofOneColumn(column string, _ bool) bool { return column != "" }

// notAdded is how statistics are that cannot be asked for.
var notAdded = adds{
	asked: func(string, bool) bool { return false },
	from:  func(*contribution, []holder, string) (holder, error) { return holder{}, errNotAdded },
	rows:  func(*contribution, string, []measured.Measured) error { return errNotAdded },
	fill:  func(*TotalRow, []*contribution, int, *laws) {},
}

var errNotAdded = errors.New("does not add up, neither over cells nor over releases")
