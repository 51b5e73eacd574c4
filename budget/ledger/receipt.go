package ledger

// The proof that a charge was debited: a Receipt and its public Record.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// Receipt proves that a charge is durably debited. Only Ledger.Debit makes a valid one; the zero Receipt is invalid. It
// prints as one line, without the commitment, which is confidential.
type Receipt struct {
	record     Record
	commitment string
}

// Record is the publishable content of a receipt. It has the day of the debit, never the time of day.
type Record struct {
	Account  string `json:"account"`
	Release  string `json:"release"`
	PlanHash string `json:"plan_hash"`
	Status   Status `json:"status"`
	Terms
	Cost budget.Cost `json:"cost"`
	Date string      `json:"date"` // YYYY-MM-DD, UTC
	// position among the debits that count in the account, from 1; failed attempts do not count
	Number int64 `json:"number"`

	FurtherAccounts []string `json:"also,omitempty"`     // the accounts of further data sets
	Corrects        string   `json:"corrects,omitempty"` // the release that this one corrects
	Template        string   `json:"template,omitempty"` // hash of the plan with its parameters blank
	// of results with the truth, noted on the account before the debit
	Comparisons int64 `json:"comparisons"`
	// whether every account that it counts in has a witness elsewhere, so that a rollback is noticed
	Witnessed bool       `json:"witnessed"`
	Approvals []Approval `json:"approvals,omitempty"`
	Proof     Proof      `json:"proof"`
}

// Valid reports whether Debit made the receipt.
func (r Receipt) Valid() bool { return r.record.Number > 0 }

// Status returns the status of the account that was debited; "" if the receipt is invalid.
func (r Receipt) Status() Status { return r.record.Status }

// PlanHash returns the hash of the plan that was paid for; "" if the receipt is invalid.
func (r Receipt) PlanHash() string { return r.record.PlanHash }

// Commits reports whether the debit was made for this commitment: one key and one set of exact integers.
func (r Receipt) Commits(commitment string) bool {
	return r.Valid() && commitment != "" && r.commitment == commitment
}

// Record returns the publishable content of the receipt. The caller may change the numbers in it.
func (r Receipt) Record() Record {
	out := r.record
	out.Cost = normalForm(out.Cost)
	out.FurtherAccounts, out.Approvals = slices.Clone(out.FurtherAccounts), cloneApprovals(out.Approvals)
	return out
}

// String is one line: release, cost, account, date, entry.
func (r Receipt) String() string {
	if !r.Valid() {
		return "invalid receipt"
	}
	return fmt.Sprintf("%s: %s from account %s on %s (debit %d, entry %s, %s)", r.record.Release,
		inWords(r.record.Cost, false),
		r.record.Account, r.record.Date, r.record.Number, shortHash(r.record.Proof.Hash), r.record.Status.inWords())
}

// GoString returns String, so that %#v does not print the commitment.
func (r Receipt) GoString() string { return r.String() }

// receiptFor returns the receipt of a debited charge; an error if it is not debited.
func (b *book) receiptFor(c Charge) (Receipt, error) {
	if a := b.accounts[c.Account]; a != nil {
		if p := a.findCharge(c); p != nil && p.state == Debited {
			return Receipt{commitment: p.commitment, record: p.publicRecord()}, nil
		}
	}
	return Receipt{}, fmt.Errorf("ledger %s: release %s is not debited", b.ledger, c.Release)
}

// publicRecord returns the publishable content of p's debit.
func (p *recordedCharge) publicRecord() Record {
	return Record{Account: p.charge.Account, Release: p.charge.Release, PlanHash: p.charge.PlanHash,
		Status: p.attestation.Status, Terms: p.attestation.Terms,
		Cost: p.charge.Cost, Date: p.debited, Number: p.attestation.Number, FurtherAccounts: p.charge.FurtherAccounts,
		Corrects:    p.charge.Corrects,
		Template:    p.charge.Template,
		Comparisons: p.attestation.Comparisons, Witnessed: p.attestation.Witnessed,
		Approvals: p.charge.Approvals, Proof: p.proof}
}
