package ledger

// Comparison, the proof that a comparison with the truth was recorded.

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// Comparison proves that the ledger durably holds a note that results of a release are compared with the truth. Only
// Ledger.Compared makes a valid one; the zero Comparison is invalid. One note permits one comparison.
type Comparison struct {
	account, release, planHash string
	status                     Status
	number                     int64
	used                       *atomic.Bool
}

// Number returns the position of this comparison among those that count in the account, from 1; 0 if it is invalid.
func (c Comparison) Number() int64 { return c.number }

// Reasons for which a comparison is refused.
var (
	errNotNoted  = errors.New("no comparison with the truth is noted in the ledger; note it first")
	errMadeUp    = errors.New("the comparison is noted in the ledger of a rehearsal, which knows no truth")
	errOtherPlan = errors.New("the comparison is noted for a release of another plan, or for one that was not debited")
	errUsed      = errors.New("the comparison was made; note each of them")
)

// Use spends the note on one comparison of a release of the plan. It returns an error, and spends nothing, if the
// Comparison is invalid, was used before, or is not for a release that was debited under this plan.
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

// lastComparison returns the proof of the most recent note on an account for a release.
func (b *book) lastComparison(account, release string) Comparison {
	a := b.accounts[account]
	c := Comparison{account: account, release: release, status: a.status, number: a.comparisons, used: new(atomic.Bool)}
	if p := a.activeCharge(release); p != nil && p.state.isSpent() {
		c.planHash = p.charge.PlanHash
	}
	return c
}
