package plan

import "github.com/dprelease/dprelease/budget"

// This file holds the leaves of a plan's budget.

// Leaf is a leaf of the budget: the amount that its marginals share.
type Leaf struct {
	Path   string      `json:"path"`
	Share  string      `json:"share"` // of the whole budget, an exact fraction
	Amount budget.Cost `json:"amount"`
	// Needed reports whether the leaf gets what the targets of its tables need, and no share.
	Needed bool `json:"needed,omitempty"`
	Tables int  `json:"tables"`
	// Microdata is the table whose microdata the leaf pays for; then it pays for nothing else.
	Microdata string `json:"microdata,omitempty"`
	// Model is the model that the leaf pays for; then it pays for nothing else.
	Model string `json:"model,omitempty"`
}

// PaysFor says what a leaf pays for, such as "3 tables", "microdata of persons" or "model risk".
func (l Leaf) PaysFor() string {
	if l.Microdata != "" {
		return "microdata of " + l.Microdata
	}
	if l.Model != "" {
		return "model " + l.Model
	}
	return budget.Plural(int64(l.Tables), "table")
}
