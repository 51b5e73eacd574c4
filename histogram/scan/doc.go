// Package scan counts the rows of confidential tables: it is the counter that reads files.
//
// It owns every step from a table's files to exact answers: the passes over its pieces, the contract of its columns,
// which rows are left out, how many rows of each unit are counted, and the counts of all questions at once. [Files]
// reads the files that a release names; [MadeUp] counts rows that are drawn from the declared domains, for a
// rehearsal. Both are a [histogram.Counter]: only the packages below histogram can read what they return.
//
// It adds no noise, and could not derive any. It writes no files except those of a spill. It never puts a value, a
// row or a count into an error: [ContractError.WriteDiagnostics] writes those to a file that only the operator reads.
// There is no floating point between a row and its count. What it counts depends on the plan, the files and the key
// alone, and not on the machine.
//
// Guarantee. For every plan and key, if tables D and D' meet their contracts and differ by the rows of one unit, the
// rows that a question counts on D and D' differ by at most max_rows of that unit, or as many as the question allows,
// when it is added or removed, and by as many taken away and put in when it is replaced (docs/proofs/bounding.md);
// each adds one integer within the bounds of its value to one cell, or adds one distinct value to a cell
// (docs/proofs/values.md).
package scan
