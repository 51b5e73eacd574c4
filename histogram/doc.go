// Package histogram turns the rows of confidential tables into the exact counts that a plan asks for, and these into
// noisy measurements.
//
// It is the trusted core: it owns the exact counts, and adds their noise. A [Counter], such as the ones of package
// scan, reads and counts the rows, and bounds how many of them each unit contributes. [Count] asks it, and returns an
// [Exact], from which nothing can be read: it has no getter and prints as "confidential". [Exact.Open] requires the
// receipt of a debit for the same plan. Only then can [Opened.Measure] give each answer once, with its noise, and
// [Opened.Oracle] answer the rounds of an adaptive method, as many as were paid for.
//
// It never decides what is measured or with how much noise (package plan does), reads and writes no file, and never
// puts a value, a row or a count into an error. There is no floating point between a count and its noisy integer.
//
// Guarantee. The answers of package scan, quantiles included, have the sensitivities of the plan, and package noise
// draws their noise; only answers to the plan's own questions, under the release's key, are accepted. What an
// [Oracle] gives is within the block that the plan's loss counts (docs/proofs/adaptive.md).
package histogram
