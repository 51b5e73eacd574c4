// Package words writes numbers, lists and names as they appear within the sentences of a report. Exact numbers that
// bound a loss are rounded up, confidence levels down; package budget writes all other numbers.
package words
