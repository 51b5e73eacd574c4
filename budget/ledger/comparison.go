package ledger

// The proof that a comparison with the truth is noted: Comparison.

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// Comparison proves that the ledger holds, durably, a note that results of a release are compared with the truth. Only
// Ledger.Compared makes a valid one; the zero Comparison is invalid. One note stands for one comparison.
type Comparison struct {
	account, release, planHash string
	status                     Status
	number                     int64
	used                       *atomic.Bool
}

// Number is which comparison this is of those that count in the account, from 1; 0 if it is invalid.
func (c Comparison) Number() int64 { return c.number }

// Reasons for which a comparison is refused.
var (
	errNotNoted  = errors.New("no comparison with the truth is noted in the ledger; note it first")
	errMadeUp    = errors.New("the comparison is noted in the ledger of a rehearsal, which knows no truth")
	errOtherPlan = errors.New("the comparison is noted for a release of another plan, or for one that was not debited")
	errUsed      = errors.New("the comparison was made; note each of them")
)

// Use takes the note for one comparison of the release of a plan. It returns an error, and takes nothing, where the
// note is none, was taken before, or is not for a release that was debited under this plan.
func (c Comparison) Use(planHash string) error {
	switch {
	case c.used == nil:
		return errNotNoted
	case c.status == Rehearsal:
		return errMadeUp
	case c.planHash == "" || c.planHash != planHash:
		return errOtherPlan
	case !c.used.CompareAndSwap(false, true):
		return errUsed
	}
	return nil
}

// String is one line: release, account, number.
func (c Comparison) String() string {
	if c.used == nil {
		return "invalid comparison"
	}
	return fmt.Sprintf("%s: compared with the truth, comparison %d of account %s", c.release, c.number, c.account)
}

// comparison is the proof of the note last made on an account for a release.
func (b *book) comparison(account, release string) Comparison {
	a := b.accounts[account]
	c := Comparison{account: account, release: release, status: a.status, number: a.comparisons, used: new(atomic.Bool)}
	if p := a.named(release); p != nil && p.state.spent() {
		c.planHash = p.charge.PlanHash
	}
	return c
}
