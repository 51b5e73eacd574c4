package statistic

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the parts: measurements that figures of a table are computed from, in addition to its count.

// Table is what a statistic needs to know of the table that shows it.
type Table struct {
	Release   *spec.Release
	Path      string
	Marginal  *spec.Marginal
	By        []spec.Attribute // as it is published
	CountedBy []spec.Attribute // its attributes as rows are counted by them
	PerUnit   spec.PerUnit     // bounds of a unit's rows in its count
	Units     bool             // its count is of units
}

// rows returns the confidential table.
func (t Table) rows() *spec.Table { return t.Release.Table(t.Marginal.Table) }

// Part is a measurement of the rows of a table by its attributes and some more.
type Part struct {
	Name            string           // below the table's
	MoreAttributes  []spec.Attribute // in addition to those of the table
	Counted         counted.Counted
	CountsUnitsOnce bool // a unit counts once in a cell
}

// ID returns the ID of the measurement that is a part of a table.
func ID(table, name string, more []spec.Attribute) string {
	for _, a := range more {
		name += "_x_" + a.String()
	}
	return "values/" + table + "/" + name
}

// Fault is a statistic that a table cannot show: the problem, and what was expected.
type Fault struct{ Message, Expected string }

func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.Message, f.Expected) }
