package ledger

// The ways in which a ledger says no.

import (
	"errors"

	"github.com/dprelease/dprelease/budget"
)

// ErrAccountExists: Init found the account under another policy or status.
var ErrAccountExists = errors.New("account exists")

// ErrTampered: the chain of entries is broken. The error that wraps it names the first entry that does not fit.
var ErrTampered = errors.New("the ledger was altered")

// Refused: the account's cap leaves less than was asked. Nothing was written.
type Refused struct {
	Account                           string
	Cap, Spent, Reserved, Asked, Left budget.Cost
}

func (e *Refused) Error() string { return "budget refuses" }

// TermsMismatch: the charge is counted in other terms than the account. Nothing was written.
type TermsMismatch struct {
	Account        string
	Charge, Policy Terms
}

func (e *TermsMismatch) Error() string { return "terms mismatch" }

// NoAccount: the ledger has no such account.
type NoAccount struct{ Account string }

func (e *NoAccount) Error() string { return "no account" }

// NameTaken: another plan holds the release's name in the account.
type NameTaken struct{ Account, Release, PlanHash, TakenBy string }

func (e *NameTaken) Error() string { return "name taken" }
