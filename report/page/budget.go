package page

// This file shows what a release cost, and who paid.

import (
	"fmt"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// CostFacts say what the release cost, and who paid. A release contains the entry of its debit, which shows neither the
// account's cap nor its remaining budget.
func (r View) CostFacts() []report.Note {
	asked, charged := r.Budget.Asked.In(r.In()), r.Budget.Charged.In(r.In())
	cost := asked + words.When(charged != asked, ", charged as "+charged) + " of privacy budget (not money)"
	account, debit := r.Budget.Receipt.Account, fmt.Sprintf("debit %d, %s", r.Budget.Receipt.Number, r.Date)
	switch r.Status {
	case report.Rehearsal:
		return []report.Note{{Heading: "Cost",
			Text: "nothing: a rehearsal reads no data, and its account is gone. A release would cost " + cost + "."}}
	case report.Practice:
		paid := words.Either(r.Budget.Receipt.Number == 1,
			fmt.Sprintf("practice account %s, which has room for three releases like the first one tried on it; this was %s. If this was that first one, there is room for two more.",
				account, debit),
			fmt.Sprintf("practice account %s, which has room for three releases like its first; this was %s.", account, debit))
		return []report.Note{{Heading: "Cost", Text: cost}, {Heading: "Paid by", Text: paid}}
	}
	return []report.Note{{Heading: "Cost", Text: cost},
		{Heading: "Paid by", Text: fmt.Sprintf(
			"account %s: %s. The office sees what is left of it with `dprelease ledger show %s`.", account, debit, account)}}
}
