// Package tabulate counts rows of codes for many tables at once.
//
// A [Request] says which columns of codes there are and which tables are asked
// for, each a set of axes. [New] covers them by fewer and wider tables (bases):
// axes are merged into super-columns of 16-bit codes, so that a base takes two or
// three codes and one increment per row (for small bases the cells of four rows
// are computed in one word, lanes.go), and the asks are projected from the bases
// when all rows are counted. A cost model kept as data decides which super-columns
// are made (costs.go). A [Counter] has a [Worker] per goroutine:
//
//	c, err := tabulate.New(request)
//	w := c.Worker()
//	err = w.Add(columns, rows, keep, nil)
//	tables, err := c.Finish(ctx)
//
// Each worker has a table of its own for a base; the tables are added up in the
// end. If they do not all fit into memory, some are shared under a lock. A base of
// millions of cells, which no cache holds, has one table for all workers, with a
// byte for each cell and a list of the overflows, and is partitioned into
// stretches: workers sort rows by stretch, and add many to one stretch at once
// (partitionedtable.go). If the table is itself requested, it is returned as it is (compactcounts.go).
//
// It never reads a file, draws no random number and uses no floating point for a
// count. The tables are exact, and do not depend on workers, memory or the order
// of rows. Whether the occupied cells fit into memory does not depend on them
// either, and is reported at the end. It owns no policy: every code must be one of
// its axis.
package tabulate
