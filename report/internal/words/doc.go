// Package words writes numbers, lists and names as they stand within the sentences of a report. Exact numbers that
// bound a loss are rounded up, levels down; the rest is written by package budget.
package words
