package report

// This file holds the budget: the requested amount, where it went, and the ledger's receipt for it.

import (
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// Budget is the cost of the release. Amounts are exact.
type Budget struct {
	Asked     Amount   `json:"asked"`   // in the spec's terms
	Charged   Amount   `json:"charged"` // in the account's terms: ε or ρ
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

// Leaf is a leaf of the budget's split.
type Leaf struct {
	Path   string `json:"path"`  // "" if the budget is not split
	Share  string `json:"share"` // of the whole, an exact fraction
	Amount Amount `json:"amount"`
	Needed bool   `json:"needed,omitempty"` // it is what the targets of its tables need, not a share
	Tables int    `json:"tables"`
	// Microdata is the table of the microdata that it pays for; such a leaf pays for nothing else.
	Microdata string `json:"microdata,omitempty"`
	// Model is the model that it pays for; such a leaf pays for nothing else.
	Model string `json:"model,omitempty"`
}

// Receipt is the ledger's entry for the debit.
type Receipt struct {
	Account      string `json:"account"`
	Cost         Amount `json:"cost"`
	Number       int64  `json:"number"`
	EntryHash    string `json:"entry_hash"`
	PreviousHash string `json:"previous_hash"`
	// Signed reports that the entry is signed with the office's key; absent in reports of older versions.
	Signed bool `json:"signed,omitempty"`
}

// String writes the amount in English.
func (a Amount) String() string { return a.In(language.English) }

// In writes the amount in decimals, rounded up if it has too many digits.
func (a Amount) In(l *language.Language) string {
	return describe.Amounts(l, words.Exact(a.Epsilon), words.Exact(a.Rho), words.Exact(a.Delta))
}
