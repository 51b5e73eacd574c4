package plan

import "github.com/dprelease/dprelease/budget"

// This file holds the leaves of a plan's budget.

// Leaf is one wall of the budget: the amount its marginals share.
type Leaf struct {
	Path   string      `json:"path"`
	Share  string      `json:"share"` // of the whole budget, an exact fraction
	Amount budget.Cost `json:"amount"`
	// Needed leaves get what the targets of their tables need, and no share.
	Needed bool `json:"needed,omitempty"`
	Tables int  `json:"tables"`
	// Microdata is the table whose microdata the leaf pays for; it pays for nothing else then.
	Microdata string `json:"microdata,omitempty"`
}

// PaysFor says what a leaf pays for, such as "3 tables" or "microdata of persons".
func (l Leaf) PaysFor() string {
	if l.Microdata != "" {
		return "microdata of " + l.Microdata
	}
	return budget.Plural(int64(l.Tables), "table")
}
