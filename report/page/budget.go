package page

// This file shows what a release cost, and who paid.

import (
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// CostFacts say what the release cost, and who paid. A release contains the entry of its debit, which shows neither the
// account's cap nor its remaining budget.
func (r View) CostFacts() []report.Note {
	l := r.In()
	asked, charged := r.Budget.Asked.In(l), r.Budget.Charged.In(l)
	cost := words.Either(charged == asked, l.Text("%s of privacy budget (not money)", asked),
		l.Text("%s, charged as %s of privacy budget (not money)", asked, charged))
	account, debit := r.Budget.Receipt.Account, l.Text("debit %d, %s", r.Budget.Receipt.Number, l.Date(r.Date))
	switch r.Status {
	case report.Rehearsal:
		return []report.Note{{Heading: l.Text("Cost"), Text: l.Text(
			"nothing: a rehearsal reads no data, and its account is gone. A release would cost %s.", cost)}}
	case report.Practice:
		paid := words.Either(r.Budget.Receipt.Number == 1,
			l.Text("practice account %s, which has room for three releases like the first one tried on it; this was %s. If this was that first one, there is room for two more.",
				account, debit),
			l.Text("practice account %s, which has room for three releases like its first; this was %s.", account, debit))
		return []report.Note{{Heading: l.Text("Cost"), Text: cost}, {Heading: l.Text("Paid by"), Text: paid}}
	}
	return []report.Note{{Heading: l.Text("Cost"), Text: cost},
		{Heading: l.Text("Paid by"), Text: l.Text(
			"account %s: %s. The office sees what is left of it with `dprelease ledger show %s`.", account, debit, account)}}
}
