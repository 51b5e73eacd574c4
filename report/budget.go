package report

// This file holds the budget: what was asked for, where it went, and the receipt of the ledger for it.

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report/internal/words"
)

// Budget says what the release cost. Amounts are exact.
type Budget struct {
	Asked     Amount   `json:"asked"`   // the spec's terms
	Charged   Amount   `json:"charged"` // the account's terms: ε, or ρ
	Leaves    []Leaf   `json:"leaves"`
	Receipt   Receipt  `json:"receipt"`
	Sentences []string `json:"sentences"`
}

// Amount is an ε, an ε with a δ, or a ρ, as exact fractions.
type Amount struct {
	Epsilon string `json:"epsilon,omitempty"`
	Delta   string `json:"delta,omitempty"`
	Rho     string `json:"rho,omitempty"`
}

// Leaf is one wall of the budget.
type Leaf struct {
	Path   string `json:"path"`  // "" where the budget is not split
	Share  string `json:"share"` // of the whole, an exact fraction
	Amount Amount `json:"amount"`
	Needed bool   `json:"needed,omitempty"` // it is what the targets of its tables need, not a share
	Tables int    `json:"tables"`
	// Microdata is the table of the microdata that it pays for, and then for nothing
	// else.
	Microdata string `json:"microdata,omitempty"`
}

// Receipt is the ledger's entry for the debit.
type Receipt struct {
	Account      string `json:"account"`
	Cost         Amount `json:"cost"`
	Number       int64  `json:"number"`
	EntryHash    string `json:"entry_hash"`
	PreviousHash string `json:"previous_hash"`
}

// String writes the amount in decimals, rounded up where it has too many digits.
func (a Amount) String() string {
	return budget.Amounts(words.Exact(a.Epsilon), words.Exact(a.Rho), words.Exact(a.Delta))
}
