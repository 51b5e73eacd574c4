// Package histogram turns the rows of confidential tables into the exact counts
// that a plan asks for, and those into noisy measurements.
//
// It owns every step at which a true value can be seen: encoding raw columns
// over their declared domains, bounding how many rows a unit contributes,
// counting, and adding noise. A [Counter], such as [Files], does the first three.
// [Count] asks it, and returns an [Exact], from which nothing can be read: it has
// no getter and prints as "confidential". [Exact.Open] wants the receipt of a debit for the same plan,
// and only then can [Opened.Measure] give each answer once, with its noise, and
// [Opened.Oracle] answer the rounds of an adaptive method, as many as were paid for.
//
// It never decides what is measured or with how much noise (package plan does),
// never writes a file, and never puts a value, a row or a count into an error:
// [ContractError.WriteDiagnostics] gives those to a file that only the operator
// reads. There is no floating point between a count and its noisy integer.
//
// Guarantee. For every plan and key, if tables D and D' meet their contracts and
// differ by the rows of one unit, the rows that a query counts on D and D' differ
// by at most max_rows of that unit, or as many as the query allows, when it is added
// or removed, and by as many taken away and put in when it is replaced
// (docs/proofs/bounding.md); each adds one integer within the bounds of its value to
// one cell, or tells one value of a cell apart (docs/proofs/values.md). The noise that the
// plan sets on these sensitivities is drawn by package noise, which draws quantiles as well. What an [Oracle]
// gives is within the block that the plan's loss counts (docs/proofs/adaptive.md).
package histogram
