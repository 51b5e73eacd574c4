package maker

// This file describes the budget: the requested amount, where it went, and the ledger's receipt for it.

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// budgetOf describes the budget of a plan and the receipt that paid for it.
func budgetOf(p *plan.Plan, paid receipt) (report.Budget, error) {
	b := report.Budget{
		Asked:   report.Amount{Epsilon: p.Guarantee.Epsilon, Delta: p.Guarantee.Delta, Rho: p.Guarantee.Rho},
		Charged: amountOf(p.Cost),
		Leaves:  make([]report.Leaf, len(p.Leaves)),
		Receipt: report.Receipt{
			Account: paid.Account, Cost: amountOf(paid.Cost), Number: paid.Number,
			EntryHash: paid.Proof.Hash, PreviousHash: paid.Proof.Previous,
			Signed: paid.Proof.Office != "",
		},
	}
	if p.Guarantee.Definition == "approximate" {
		b.Asked.Rho = ""
	}
	for i, l := range p.Leaves {
		if _, err := budget.ParseRat(l.Share); err != nil {
			return report.Budget{}, fmt.Errorf("share of budget leaf %q: %w", l.Path, err)
		}
		b.Leaves[i] = report.Leaf{Path: l.Path, Share: l.Share, Amount: amountOf(l.Amount), Needed: l.Needed,
			Tables: l.Tables, Microdata: l.Microdata, Model: l.Model}
	}
	b.Sentences = budgetSentences(languageOf(p), paid, p)
	return b, nil
}

// budgetSentences says how the budget of a plan was charged.
func budgetSentences(l *language.Language, paid receipt, p *plan.Plan) []string {
	if paid.Status == report.Rehearsal {
		return []string{l.Text("A rehearsal spends nothing: its ledger was in memory only and is gone.")}
	}
	return words.NonEmpty(
		words.Either(p.Release().Collection != nil,
			l.Text("What each respondent has lost is recorded on account %s: debit %d, on %s. Counting the reports "+
				"costs nothing, as they were private already.",
				paid.Account, paid.Number, l.Date(paid.Date)),
			l.Text("The whole budget was charged to account %s before any noise was drawn: debit %d, on %s.",
				paid.Account, paid.Number, l.Date(paid.Date))),
		holdersCharge(l, p.Guarantee.Holders),
		words.When(len(paid.Also) > 0,
			l.Text("It was charged as well to the accounts of the other data that were read: %s.",
				strings.Join(paid.Also, ", "))),
		words.When(paid.Corrects != "", l.Text("This release corrects release %s, whose cost stays spent.",
			paid.Corrects)),
		words.When(paid.Status == report.Practice,
			l.Text("It is a practice account, which the program opened by itself with room for three releases like "+
				"its first. No office has set its cap or approved what it pays for.")),
		witnessSentence(l, paid),
	)
}

// holdersCharge says that each of several holders charged an account of its own, "" if one place has all data.
func holdersCharge(l *language.Language, h *plan.Holders) string {
	if h == nil {
		return ""
	}
	with := h.TookPart()
	return l.Text("That is the account of %s. Each of the %d holders charged the whole budget to an account of its "+
		"own; holders.json has the entries of all.",
		with[0], len(with))
}

// witnessSentence says whether an older state of the ledger would be noticed.
func witnessSentence(l *language.Language, paid receipt) string {
	return words.Either(paid.Witnessed,
		l.Text("A witness elsewhere keeps the ledger's newest entry, so a rollback of the ledger is noticed."),
		words.Either(len(paid.Also) > 0,
			l.Text("At least one of the accounts that paid has no witness on another disk or host that keeps the "+
				"newest entry of its ledger. A rollback of the ledger can go unnoticed, so this receipt alone does "+
				"not prove that the caps of the accounts still hold."),
			l.Text("The account that paid has no witness on another disk or host that keeps the newest entry of its "+
				"ledger. A rollback of the ledger can go unnoticed, so this receipt alone does not prove that the "+
				"account's cap still holds.")))
}

func amountOf(c budget.Cost) report.Amount {
	return report.Amount{Epsilon: budget.FormatRat(c.Epsilon), Delta: budget.FormatRat(c.Delta),
		Rho: budget.FormatRat(c.Rho)}
}

// lossOf returns the cost of one measurement in the terms of a charge, and its share of the charge.
func lossOf(m budget.Mechanism, charge budget.Cost) (report.Amount, float64, error) {
	loss, err := lossIn(m, charge)
	if err != nil {
		return report.Amount{}, 0, err
	}
	amount, part := partOf(loss, charge)
	return amount, part, nil
}

// lossIn returns the cost of one measurement in the terms of a charge.
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

// partOf returns a loss as an amount in the terms of a charge, and its share of the charge.
func partOf(loss *big.Rat, charge budget.Cost) (report.Amount, float64) {
	whole, amount := charge.Rho, report.Amount{Rho: budget.FormatRat(loss)}
	if charge.Epsilon != nil {
		whole, amount = charge.Epsilon, report.Amount{Epsilon: budget.FormatRat(loss)}
	}
	part, _ := new(big.Rat).Quo(loss, whole).Float64()
	return amount, part
}
