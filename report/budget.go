package report

// This file holds the budget: what was asked for, where it went, and the
// ledger's receipt for it.

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
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

// budgetOf tells of a plan's budget and of the receipt that paid for it.
func budgetOf(p *plan.Plan, paid receipt) (Budget, error) {
	b := Budget{
		Asked:   Amount{Epsilon: p.Guarantee.Epsilon, Delta: p.Guarantee.Delta, Rho: p.Guarantee.Rho},
		Charged: amountOf(p.Cost),
		Leaves:  make([]Leaf, len(p.Leaves)),
		Receipt: Receipt{
			Account: paid.Account, Cost: amountOf(paid.Cost), Number: paid.Number,
			EntryHash: paid.Proof.Hash, PreviousHash: paid.Proof.Previous,
		},
	}
	if p.Guarantee.Definition == "approximate" {
		b.Asked.Rho = ""
	}
	for i, l := range p.Leaves {
		if _, err := budget.ParseRat(l.Share); err != nil {
			return Budget{}, fmt.Errorf("share of budget leaf %q: %w", l.Path, err)
		}
		b.Leaves[i] = Leaf{Path: l.Path, Share: l.Share, Amount: amountOf(l.Amount), Needed: l.Needed, Tables: l.Tables, Microdata: l.Microdata}
	}
	b.Sentences = budgetSentences(paid)
	return b, nil
}

func budgetSentences(paid receipt) []string {
	if paid.Status == Rehearsal {
		return []string{"A rehearsal spends nothing: its ledger was in memory only and is gone."}
	}
	sentences := []string{fmt.Sprintf("The whole budget was charged to account %s before any noise was drawn: debit %d of the account, on %s.", paid.Account, paid.Number, paid.Date)}
	if len(paid.Also) > 0 {
		sentences = append(sentences, "It was charged as well to the accounts of the other data that were read: "+strings.Join(paid.Also, ", ")+".")
	}
	if paid.Corrects != "" {
		sentences = append(sentences, fmt.Sprintf("This release corrects release %s, whose cost stays spent.", paid.Corrects))
	}
	if paid.Status == Practice {
		sentences = append(sentences, "The account is a practice account: the program opened it by itself, with room for three releases that cost what its first one did, and no office has set its cap or approved what it pays for.")
	}
	return append(sentences, witnessSentence(paid.Witnessed))
}

// CostFacts say what it cost, and who paid: a release holds the entry of its debit, which tells neither the cap of the account nor
// what is left of it.
func (r *Report) CostFacts() []Note {
	cost := r.Budget.Asked.String()
	if charged := r.Budget.Charged.String(); charged != cost {
		cost += ", charged as " + charged
	}
	account, debit := r.Budget.Receipt.Account, fmt.Sprintf("debit %d, %s", r.Budget.Receipt.Number, r.Date)
	cost += " of privacy budget (not money)"
	switch r.Status {
	case Rehearsal:
		return []Note{{"Cost", "nothing: a rehearsal reads no data, and its account is gone. A release would cost " + cost + "."}}
	case Practice:
		paid := fmt.Sprintf("practice account %s, which has room for three releases like its first; this was %s.", account, debit)
		if r.Budget.Receipt.Number == 1 {
			paid = fmt.Sprintf("practice account %s, opened with room for three releases like the first that was tried on it; this was %s. If it is the one that was tried first, two more like it fit; then nothing more may be released from this account.", account, debit)
		}
		return []Note{{"Cost", cost}, {"Paid by", paid}}
	}
	return []Note{{"Cost", cost}, {"Paid by", fmt.Sprintf("account %s: %s. The office sees what is left of it with `dprelease ledger show %s`.", account, debit, account)}}
}

// NoApprovals is said where nobody signed.
func (r *Report) NoApprovals() string {
	switch r.Status {
	case Rehearsal:
		return "none: a rehearsal is of made-up data, and asks for none"
	case Practice:
		return "none, and none are asked for: nobody has approved what was spent of a practice account"
	}
	return "none stand in the ledger's entry of the debit; whether the account asks for any, its policy tells"
}

// witnessSentence says whether an older state of the ledger would be noticed.
func witnessSentence(witnessed bool) string {
	if witnessed {
		return "The ledger's newest entry is kept elsewhere too, by a witness, so that a rollback of the ledger to an older state is noticed."
	}
	return "No witness on another disk or host keeps the ledger's newest entry for every account that paid, so a rollback of the ledger to an older state can go unnoticed, and this receipt alone does not prove that the account's cap still holds."
}

func amountOf(c budget.Cost) Amount {
	return Amount{Epsilon: budget.FormatRat(c.Epsilon), Delta: budget.FormatRat(c.Delta), Rho: budget.FormatRat(c.Rho)}
}

// String writes the amount in decimals, rounded up where it has too many digits.
func (a Amount) String() string {
	return budget.Amounts(exact(a.Epsilon), exact(a.Rho), exact(a.Delta))
}

// exact reads an exact number; nil is none.
func exact(text string) *big.Rat {
	r, err := budget.ParseRat(text)
	if err != nil {
		return nil
	}
	return r
}

// lossOf is what one measurement costs in the terms of a charge, with its part
// of the charge.
func lossOf(m budget.Mechanism, charge budget.Cost) (Amount, float64, error) {
	loss, err := lossIn(m, charge)
	if err != nil {
		return Amount{}, 0, err
	}
	amount, part := partOf(loss, charge)
	return amount, part, nil
}

// lossIn is what one measurement costs in the terms of a charge.
func lossIn(m budget.Mechanism, charge budget.Cost) (*big.Rat, error) {
	whole, loss := charge.Rho, m.Rho()
	if charge.Epsilon != nil {
		whole = charge.Epsilon
		var err error
		if loss, err = m.Epsilon(); err != nil {
			return nil, err
		}
	}
	if whole == nil || whole.Sign() <= 0 || loss == nil {
		return nil, fmt.Errorf("the plan charges nothing, or has a mechanism that costs nothing")
	}
	return loss, nil
}

// partOf is a loss in the terms of a charge, with its part of the charge.
func partOf(loss *big.Rat, charge budget.Cost) (Amount, float64) {
	whole, amount := charge.Rho, Amount{Rho: budget.FormatRat(loss)}
	if charge.Epsilon != nil {
		whole, amount = charge.Epsilon, Amount{Epsilon: budget.FormatRat(loss)}
	}
	part, _ := new(big.Rat).Quo(loss, whole).Float64()
	return amount, part
}
