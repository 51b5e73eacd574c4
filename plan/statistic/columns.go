// Package statistic holds what a published table shows of a statistic: the names of its columns, and how sure its
// intervals are.
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

// Confidence of every published interval, unless a spec says otherwise.
const Confidence = 0.95
