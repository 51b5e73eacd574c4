package ledger

// The proof that a charge was debited: a Receipt and its public Record.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// Receipt proves that a charge is debited, durably. Only Ledger.Debit makes a valid one; the zero Receipt is invalid.
// It prints as one line, without the commitment, which is confidential.
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
	// of the debit among those that count in the account, from 1; failed attempts do not count
	Number int64 `json:"number"`

	Also        []string `json:"also,omitempty"`     // the accounts of further data sets
	Corrects    string   `json:"corrects,omitempty"` // the release that this one corrects
	Template    string   `json:"template,omitempty"` // hash of the plan with its parameters blank
	Comparisons int64    `json:"comparisons"`        // of results with the truth, noted on the account before the debit
	// whether heads are kept elsewhere for every account that it counts in, so that a rollback is noticed
	Witnessed bool       `json:"witnessed"`
	Approvals []Approval `json:"approvals,omitempty"`
	Proof     Proof      `json:"proof"`
}

// Valid reports whether Debit made the receipt.
func (r Receipt) Valid() bool { return r.record.Number > 0 }

// Status is the status of the account that was debited; "" if the receipt is invalid.
func (r Receipt) Status() Status { return r.record.Status }

// PlanHash is the hash of the plan that was paid for; "" if the receipt is invalid.
func (r Receipt) PlanHash() string { return r.record.PlanHash }

// Commits reports whether the debit was made for this commitment: one key and one set of exact integers.
func (r Receipt) Commits(commitment string) bool {
	return r.Valid() && commitment != "" && r.commitment == commitment
}

// Record is what may be published of the receipt. The numbers in it are the caller's own.
func (r Receipt) Record() Record {
	out := r.record
	out.Cost = normal(out.Cost)
	out.Also, out.Approvals = slices.Clone(out.Also), cloneApprovals(out.Approvals)
	return out
}

// String is one line: release, cost, account, date, entry.
func (r Receipt) String() string {
	if !r.Valid() {
		return "invalid receipt"
	}
	return fmt.Sprintf("%s: %s from account %s on %s (debit %d, entry %s, %s)", r.record.Release,
		inWords(r.record.Cost, false),
		r.record.Account, r.record.Date, r.record.Number, short(r.record.Proof.Hash), r.record.Status.words())
}

// GoString is String.
func (r Receipt) GoString() string { return r.String() }

// receipt makes the receipt of a debited charge; an error if it is not debited.
func (b *book) receipt(c Charge) (Receipt, error) {
	if a := b.accounts[c.Account]; a != nil {
		if p := a.posting(c); p != nil && p.state == Debited {
			return Receipt{commitment: p.commitment, record: p.record()}, nil
		}
	}
	return Receipt{}, fmt.Errorf("ledger %s: release %s is not debited", b.ledger, c.Release)
}

// record is what may be published of p's debit.
func (p *posting) record() Record {
	return Record{Account: p.charge.Account, Release: p.charge.Release, PlanHash: p.charge.PlanHash,
		Status: p.attest.Status, Terms: p.attest.Terms,
		Cost: p.charge.Cost, Date: p.debited, Number: p.attest.Number, Also: p.charge.Also, Corrects: p.charge.Corrects,
		Template:    p.charge.Template,
		Comparisons: p.attest.Comparisons, Witnessed: p.attest.Witnessed, Approvals: p.charge.Approvals, Proof: p.proof}
}
