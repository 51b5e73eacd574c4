package ledger

// The ways in which a ledger says no, each a sentence with what to do. None of them has written anything.

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

// ErrAccountExists is wrapped by Init's error where the account exists under another policy or status.
var ErrAccountExists = errors.New("the account exists")

// ErrTampered is wrapped by every error that finds the entries altered; see Tampered.
var ErrTampered = errors.New("the ledger was altered outside dprelease")

// Tampered names the first entry that does not fit the chain. errors.Is(err, ErrTampered) holds for it.
type Tampered struct {
	Ledger   string // path of the file
	Sequence int64  // of the first entry that is missing, moved, changed or inadmissible
	Reason   string
}

func (e *Tampered) Error() string {
	return fmt.Sprintf("ledger %s: %v: entry %d %s; nothing is spent from it any more: keep the file for the auditor and restore the last copy whose head was noted",
		e.Ledger, ErrTampered, e.Sequence, e.Reason)
}

func (e *Tampered) Unwrap() error { return ErrTampered }

// Refused says that the account has less left than the charge asks. All amounts are exact.
type Refused struct {
	Account, Release                  string
	Cap, Spent, Reserved, Asked, Left budget.Cost // Left = Cap - Spent - Reserved
}

func (e *Refused) Error() string {
	delta := e.Cap.Delta != nil || e.Asked.Delta != nil
	words := func(c budget.Cost) string { return inWords(c, delta) }
	var b strings.Builder
	fmt.Fprintf(&b, "account %s refuses release %s: it asks for %s, and %s is left.", e.Account, e.Release, words(e.Asked), words(e.Left))
	fmt.Fprintf(&b, " Used of the cap of %s: %s is spent, and %s is reserved by releases not yet finished.",
		words(e.Cap), words(e.Spent), words(e.Reserved))
	if e.Left.IsZero() {
		b.WriteString(" The account admits no further release.")
	} else {
		fmt.Fprintf(&b, " Lower the budget of the release to at most %s.", words(e.Left))
	}
	if !e.Reserved.IsZero() {
		fmt.Fprintf(&b, " A reservation is free again once its release is cancelled; `dprelease ledger show %s` lists them.", e.Account)
	}
	return b.String()
}

// TermsMismatch says that the charge is counted in other terms than the account, so the two cannot be added.
type TermsMismatch struct {
	Account, Release string
	Charge, Policy   Terms
}

func (e *TermsMismatch) Error() string {
	var differ, change []string
	note := func(what, charge, policy, fix string) {
		if charge != policy {
			differ = append(differ, fmt.Sprintf("%s is %q in the release and %q in the account", what, charge, policy))
			change = append(change, fix)
		}
	}
	note("the protected unit", e.Charge.Protects, e.Policy.Protects, fmt.Sprintf("`protects: %s`", e.Policy.Protects))
	note("the neighbouring relation", e.Charge.Neighbours, e.Policy.Neighbours, fmt.Sprintf("`neighbours: %s`", e.Policy.Neighbours))
	note("the definition of privacy loss", e.Charge.Definition, e.Policy.Definition, definitionFix(e.Policy.Definition))
	return fmt.Sprintf("account %s refuses release %s: %s. Write %s in the release, or publish under an account with the release's terms",
		e.Account, e.Release, strings.Join(differ, "; "), strings.Join(change, " and "))
}

func definitionFix(definition string) string {
	if definition == Rho {
		return "a budget in rho (`budget: {rho: …}` or `{epsilon: …, delta: …}`)"
	}
	return "a pure budget (`budget: {epsilon: …}`)"
}

// NoAccount says that the ledger holds no account of this name.
type NoAccount struct{ Ledger, Account string }

func (e *NoAccount) Error() string {
	return fmt.Sprintf("ledger %s has no account %s: write its policy and create it with `dprelease ledger init policy.yaml`", e.Ledger, e.Account)
}

// NameTaken says that the release's name is reserved or spent by another plan.
type NameTaken struct {
	Account, Release string
	PlanHash         string // of the charge that was refused
	TakenBy          string // hash of the plan that holds the name
	State            State  // Reserved or Debited
}

func (e *NameTaken) Error() string {
	if e.State == Reserved {
		return fmt.Sprintf("release name %s is reserved in account %s by another plan (%s, this one is %s): choose a new name, or cancel that release",
			e.Release, e.Account, short(e.TakenBy), short(e.PlanHash))
	}
	return fmt.Sprintf("release name %s was spent in account %s by another plan (%s, this one is %s): choose a new name",
		e.Release, e.Account, short(e.TakenBy), short(e.PlanHash))
}

// short is the beginning of a hash, enough to tell two apart by eye.
func short(hash string) string { return hash[:min(12, len(hash))] }

// Closed: the release was debited for another noise key or other exact integers, so its noise cannot be drawn again.
type Closed struct{ Account, Release, Date string }

func (e *Closed) Error() string {
	return fmt.Sprintf("release %s was measured under this plan on %s (account %s) and cannot be drawn again: publish its measurements, or give the release a new name (and a new debit)",
		e.Release, e.Date, e.Account)
}
