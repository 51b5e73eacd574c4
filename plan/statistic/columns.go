// Package statistic says what a table shows of a statistic.
//
// It owns the statistics, one file each: which measurements a statistic needs, its figures, what their error depends
// on, what they are of the true rows, how they are described, and the names of the columns that show them.
//
// It works on plans and public facts only: it never reads data and never draws noise. What a figure of the true rows is
// it says as a function of [Exact] answers, which only packages below histogram have.
package statistic

// Names of a statistic's columns in a published table, after the statistic's own
// name.
const (
	Published     = ""          // for reading
	Unbiased      = "_unbiased" // for arithmetic
	StandardError = "_noise_se"
	Low           = "_low"
	High          = "_high"
	Flag          = "_flag"
)

// LabelSuffix follows a key's name in the name of its label column.
const LabelSuffix = "_label"
