// Package tabulate counts rows of codes for many tables at once.
//
// A [Request] says which columns of codes there are and which tables are asked
// for, each a set of axes. [New] covers them by fewer and wider tables (bases):
// axes are merged into super-columns of 16-bit codes, so that a base takes two or
// three loads and one increment per row, and what is asked for is projected from
// bases when all rows are counted. Which super-columns are made follows a cost
// model kept as data (costs.go). A [Counter] has a [Worker] per goroutine:
//
//	c, err := tabulate.New(request)
//	w := c.Worker()
//	err = w.Add(columns, rows, keep, nil)
//	tables, err := c.Finish(ctx)
//
// It never reads a file, and neither draws a random number nor uses floating point for a
// count: the tables are exact, and do not depend on workers, memory or the order of rows;
// nor does it whether there is memory for the cells of sparse tables, which is said at
// the end. It owns no policy either: every code must be one of its axis.
package tabulate
