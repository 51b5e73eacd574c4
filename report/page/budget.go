package page

// This file shows what a release cost, and who paid.

import (
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// CostLine says in one line what the release cost, and which debit of which account paid.
func (r View) CostLine() string {
	l, paid := r.In(), r.Budget.Receipt
	switch r.Status {
	case report.Rehearsal:
		return r.CostFacts()[0].Text
	case report.Practice:
		return l.Text("%s, by debit %d of practice account %s.", r.costText(), paid.Number, paid.Account)
	}
	return l.Text("%s, by debit %d of account %s.", r.costText(), paid.Number, paid.Account)
}

// costText says how much privacy budget a release asked for, and how much was charged if that is another amount.
func (r View) costText() string {
	l := r.In()
	asked, charged := r.Budget.Asked.In(l), r.Budget.Charged.In(l)
	return words.Either(charged == asked, l.Text("%s of privacy budget (not money)", asked),
		l.Text("%s of privacy budget (not money), which the account counts as %s", asked, charged))
}

// CostFacts say what the release cost, and who paid. A release contains the entry of its debit, which shows neither the
// account's cap nor its remaining budget.
func (r View) CostFacts() []report.Note {
	l, cost := r.In(), r.costText()
	account, debit := r.Budget.Receipt.Account, l.Text("debit %d, %s", r.Budget.Receipt.Number, l.Date(r.Date))
	switch r.Status {
	case report.Rehearsal:
		return []report.Note{{Heading: l.Text("Cost"), Text: l.Text(
			"nothing: a rehearsal reads no data and keeps no account. A release would cost %s.", cost)}}
	case report.Practice:
		paid := words.Either(r.Budget.Receipt.Number == 1,
			l.Text("practice account %s: %s. It can pay for two more releases like this one, if no other was tried "+
				"on it before.",
				account, debit),
			l.Text("practice account %s: %s. It opened with a budget for three releases like its first.", account,
				debit))
		return []report.Note{{Heading: l.Text("Cost"), Text: cost}, {Heading: l.Text("Paid by"), Text: paid}}
	}
	return []report.Note{{Heading: l.Text("Cost"), Text: cost},
		{Heading: l.Text("Paid by"), Text: l.Text(
			"account %s: %s. The office sees what is left of it with `dprelease ledger show %s --ledger FILE`.", account,
			debit, account)}}
}
