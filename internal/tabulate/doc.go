// Package tabulate counts rows of codes for many tables at once.
//
// A [Request] says which columns of codes there are and which tables are asked
// for, each a set of axes. [New] covers them by fewer and wider tables (bases):
// axes are merged into super-columns of 16-bit codes, so that a base takes two or
// three codes and one increment per row (small ones work out the cells of four rows in
// one word, lanes.go), and what is asked for is projected from bases when all rows are
// counted. Which super-columns are made follows a cost model kept as data (costs.go). A
// [Counter] has a [Worker] per goroutine:
//
//	c, err := tabulate.New(request)
//	w := c.Worker()
//	err = w.Add(columns, rows, keep, nil)
//	tables, err := c.Finish(ctx)
//
// Each worker has a table of its own for a base, which are added up in the end. Those
// that do not fit into memory beside one another are shared under a lock. A base of
// millions of cells, which no cache holds, has one table for all workers, of a byte for
// each cell and a list of those that ran over, and is cut into stretches: workers sort
// rows by stretch, and add many to one stretch at once (parted.go). It is handed over as it
// is, where it is what was asked for (narrow.go).
//
// It never reads a file, and neither draws a random number nor uses floating point for a
// count: the tables are exact, and do not depend on workers, memory or the order of rows;
// nor does it whether there is memory for the occupied cells, which is said at
// the end. It owns no policy either: every code must be one of its axis.
package tabulate
