package ledger

// The proof that a charge was debited: Receipt, its public Record, and the Status of what may be released on it.

import (
	"github.com/dprelease/dprelease/budget"
)

// Status says what a receipt entitles to.
type Status string

const (
	Official  Status = "release"   // an account with a policy: a release of real data
	Practice  Status = "practice"  // a practice account: real data, every output marked "not a release"
	Rehearsal Status = "rehearsal" // OpenRehearsal: made-up data only
)

// Receipt proves that a charge is debited. Only Ledger.Debit makes a valid one; the zero Receipt is invalid.
// It holds nothing that may not be published.
type Receipt struct {
	record Record
}

// Record is the publishable content of a receipt. It has a day, never a time of day.
type Record struct {
	Account      string      `json:"account"`
	Release      string      `json:"release"`
	PlanHash     string      `json:"plan_hash"`
	Status       Status      `json:"status"`
	Cost         budget.Cost `json:"cost"`
	Date         string      `json:"date"` // YYYY-MM-DD, UTC, of the debit
	Sequence     int64       `json:"sequence"`
	EntryHash    string      `json:"entry_hash"`
	PreviousHash string      `json:"previous_hash"`
}

// Valid reports whether Debit made the receipt.
func (r Receipt) Valid() bool { return r.record.Sequence > 0 }

// Status is the status of the account that was debited.
func (r Receipt) Status() Status { return r.record.Status }

// PlanHash is the hash of the plan that was paid for.
func (r Receipt) PlanHash() string { return r.record.PlanHash }

// Record is what may be published of the receipt.
func (r Receipt) Record() Record { return r.record }
