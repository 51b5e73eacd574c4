package ledger

// The errors of a ledger, each a sentence that says what to do. None of them has written anything.

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/sign"
)

// ErrAccountExists is wrapped by Init's error if the account exists under another policy or status.
var ErrAccountExists = errors.New("the account exists")

// ErrTampered is wrapped by every error that reports altered entries; see Tampered.
var ErrTampered = errors.New("the ledger was altered outside dprelease")

// Tampered names the first entry that does not fit the chain, or gives a reason that concerns the whole ledger.
// errors.Is(err, ErrTampered) holds for it.
type Tampered struct {
	Ledger string // where it is kept
	// of the first entry that is missing, moved, changed or inadmissible; 0: the reason concerns the whole ledger
	Sequence int64
	Reason   string
}

func (e *Tampered) Error() string {
	what := "it " + e.Reason
	if e.Sequence > 0 {
		what = fmt.Sprintf("entry %d %s; nothing is spent from it any more", e.Sequence, e.Reason)
	}
	return fmt.Sprintf("ledger %s: %v: %s: keep the file for the auditor and restore the last copy whose head was noted",
		e.Ledger, ErrTampered, what)
}

func (e *Tampered) Unwrap() error { return ErrTampered }

// NotHeld is the error that the ledger, which is intact, does not hold the debit of a record.
type NotHeld struct{ Ledger, Release, Hash string }

func (e *NotHeld) Error() string {
	return fmt.Sprintf("ledger %s is an older copy, or another ledger: it does not hold the debit of release %s "+
		"(hash %s); find the newest copy, whose head the witness and the minutes have",
		e.Ledger, e.Release, shortHash(e.Hash))
}

// Unwrap returns ErrTampered: a ledger that lacks a debit is not the one that paid.
func (e *NotHeld) Unwrap() error { return ErrTampered }

// Unreachable is the error that the database of a ledger does not answer: it may be down, or the address wrong.
type Unreachable struct {
	Ledger string // without a password
	Cause  string // in the words of the driver
}

func (e *Unreachable) Error() string {
	return fmt.Sprintf("ledger %s cannot be reached: check that the server runs and the address is right: %s", e.Ledger,
		e.Cause)
}

// DiskFull is the error that the disk of a ledger is full. Nothing was written.
type DiskFull struct {
	Ledger string
	Err    error
}

func (e *DiskFull) Error() string {
	return fmt.Sprintf("the disk of ledger %s is full, and nothing was written: make room, and run again: %v", e.Ledger,
		e.Err)
}

func (e *DiskFull) Unwrap() error { return e.Err }

// DoubtedClock is the error that the clock of this machine does not fit the last entry of the ledger.
type DoubtedClock struct{ text string }

func (e *DoubtedClock) Error() string { return e.text }

// newDoubtedClock returns a DoubtedClock with a formatted text.
func newDoubtedClock(format string, args ...any) error {
	return &DoubtedClock{fmt.Sprintf(format, args...)}
}

// Refused is the error that an account, or its allowance for a period, has less left than the charge costs. All amounts
// are exact.
type Refused struct {
	Account, Release string
	// the account that the release names, from which the charge counts in Account; "" if Account itself
	ChargedTo                         string
	Period                            string      // of the allowance that is exceeded; "" if the cap is
	Cap, Spent, Reserved, Asked, Left budget.Cost // Left = Cap - Spent - Reserved; Cap with grants, or of the period
}

func (e *Refused) Error() string {
	delta := e.Cap.Delta != nil || e.Asked.Delta != nil
	words := func(c budget.Cost) string { return inWords(c, delta) }
	who, limit, admits := e.Release, "cap", "The account admits no further release."
	if e.ChargedTo != "" {
		who += fmt.Sprintf(" (charged to %s, which counts here too)", e.ChargedTo)
	}
	in := ""
	if e.Period != "" {
		in, limit = " in "+e.Period, "allowance for "+e.Period
		admits = fmt.Sprintf("The account admits no further release in %s.", e.Period)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "account %s refuses release %s: it asks for %s, and %s is left%s.", e.Account, who, words(e.Asked),
		words(e.Left), in)
	fmt.Fprintf(&b, " Used of the %s of %s: %s is spent, and %s is reserved by releases not yet finished.",
		limit, words(e.Cap), words(e.Spent), words(e.Reserved))
	if mainPart(e.Left).Sign() == 0 {
		b.WriteString(" " + admits)
	} else {
		fmt.Fprintf(&b, " Lower the budget of the release to at most %s.", words(e.Left))
	}
	if !e.Reserved.IsZero() {
		fmt.Fprintf(&b, " A reservation is free again once its release is cancelled; `dprelease ledger show %s "+
			"--ledger FILE` lists them.",
			e.Account)
	}
	return b.String()
}

// Unapproved is the error that some roles of an account have not signed.
type Unapproved struct {
	Account, Release string
	PlanHash         string   // what they would have to sign
	PlanFile         string   // the file of the plan; "" if the caller of the ledger did not fill it in
	Grant            bool     // whether they would have to sign a grant and not a plan
	Missing          []string // roles
	Reasons          []string // why the approvals of those roles that are present are unusable
}

func (e *Unapproved) Error() string {
	var b strings.Builder
	missing := strings.Join(e.Missing, " and ")
	if e.Grant {
		fmt.Fprintf(&b, "account %s: the grant (%s) is not approved by %s.", e.Account, shortHash(e.PlanHash), missing)
	} else {
		fmt.Fprintf(&b, "account %s refuses release %s: its plan (%s) is not approved by %s.", e.Account, e.Release,
			shortHash(e.PlanHash), missing)
	}
	for _, reason := range e.Reasons {
		b.WriteString(" " + strings.ToUpper(reason[:1]) + reason[1:] + ".")
	}
	if e.Grant {
		b.WriteString(" Have it signed: give `dprelease ledger grant` the same amount and reason with --role ROLE --key FILE")
	} else {
		fmt.Fprintf(&b, " Have it signed with `dprelease approve %s --role ROLE --key FILE`, and leave the approval "+
			"next to the plan", cmp.Or(e.PlanFile, "PLAN"))
	}
	return b.String()
}

// WrongKey is the error that the key given does not sign the ledger, or that a key was given for an unsigned ledger.
type WrongKey struct {
	Ledger        string
	Needed, Given sign.PublicKey // Needed: none where the ledger is not signed; Given: none where no key was given
}

func (e *WrongKey) Error() string {
	if e.Needed.IsZero() {
		return fmt.Sprintf("ledger %s is not signed, and an office key was given (fingerprint %s): nothing was "+
			"written; if it was always kept without a key leave the key out, and else ask the auditor: another "+
			"ledger may have been put in the place of the signed one",
			e.Ledger, e.Given.Fingerprint())
	}
	given := "none was given"
	if !e.Given.IsZero() {
		given = "another was given (fingerprint " + e.Given.Fingerprint() + ")"
	}
	return fmt.Sprintf("ledger %s is signed by the office's key with the fingerprint %s, and %s: nothing was "+
		"written; give the office's key (--office-key FILE, or DPRELEASE_OFFICE_KEY)",
		e.Ledger, e.Needed.Fingerprint(), given)
}

// NoRelease is the error that an account holds no release of this name in the state that is needed.
type NoRelease struct {
	Account, Release string
	State            State  // its state; "" if the account does not hold it
	Needs, For       string // "finished", "to be withdrawn"
}

func (e *NoRelease) Error() string {
	is := "does not hold it"
	if e.State != "" {
		is = "has it as " + string(e.State)
	}
	return fmt.Sprintf("release %s is not %s, as it must be %s: account %s %s; `dprelease ledger show %s "+
		"--ledger FILE` lists its releases",
		e.Release, e.Needs, e.For, e.Account, is, e.Account)
}

// TermsMismatch is the error that the charge has other terms than the account, so that their amounts cannot be added.
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
	note("the neighbouring relation", e.Charge.Neighbours, e.Policy.Neighbours,
		fmt.Sprintf("`neighbours: %s`", e.Policy.Neighbours))
	note("the definition of privacy loss", e.Charge.Definition, e.Policy.Definition, definitionFix(e.Policy.Definition))
	return fmt.Sprintf("account %s refuses release %s: %s. Write %s in the release, or publish under an account with "+
		"the release's terms",
		e.Account, e.Release, strings.Join(differ, "; "), strings.Join(change, " and "))
}

func definitionFix(definition string) string {
	if definition == Rho {
		return "a budget in rho (`budget: {rho: …}` or `{epsilon: …, delta: …}`)"
	}
	return "a pure budget (`budget: {epsilon: …}`)"
}

// NoAccount is the error that the ledger holds no account of this name.
type NoAccount struct{ Ledger, Account string }

func (e *NoAccount) Error() string {
	return fmt.Sprintf("ledger %s has no account %s: write its policy and create it with `dprelease ledger init "+
		"policy.yaml`", e.Ledger, e.Account)
}

// NoParent is the error that an account cannot lie below the one that its policy names.
type NoParent struct {
	Ledger, Account, Parent string
	ParentState             string // what the parent is, in words; "" if it is not open
}

func (e *NoParent) Error() string {
	if e.ParentState == "" {
		return fmt.Sprintf("ledger %s: account %s names the parent %s, which is not open: open that first with "+
			"`dprelease ledger init`", e.Ledger, e.Account, e.Parent)
	}
	return fmt.Sprintf("ledger %s: account %s cannot lie below %s, which is counted otherwise (%s): give both the "+
		"same protects, neighbours and kind of cap",
		e.Ledger, e.Account, e.Parent, e.ParentState)
}

// NameTaken is the error that another plan reserved or spent under the release's name.
type NameTaken struct {
	Account, Release string
	PlanHash         string // of the charge that was refused
	TakenBy          string // hash of the plan that holds the name
	State            State  // the state of that release
}

func (e *NameTaken) Error() string {
	if e.State == Reserved {
		return fmt.Sprintf("release name %s is reserved in account %s by another plan (%s, this one is %s): choose a "+
			"new name, or cancel that release",
			e.Release, e.Account, shortHash(e.TakenBy), shortHash(e.PlanHash))
	}
	return fmt.Sprintf("release name %s was spent in account %s by another plan (%s, this one is %s): choose a new "+
		"name; or, where this is to be that release again, put its folder %[1]s.measured back and `dprelease "+
		"publish` it, which asks for no plan and costs nothing",
		e.Release, e.Account, shortHash(e.TakenBy), shortHash(e.PlanHash))
}

// shortHash returns the beginning of a hash, enough to distinguish two by eye.
func shortHash(hash string) string { return hash[:min(12, len(hash))] }

// Closed is the error that a release was measured and cannot be drawn again: it was debited for another noise key or
// other exact integers, or it is finished, abandoned or withdrawn.
type Closed struct {
	Account, Release string
	Date             string // YYYY-MM-DD of the debit
	State            State  // Debited, Finished, Abandoned or Withdrawn
	Since, Reason    string // day on which it reached that state; reason of abandoning or withdrawing
	Folder           string // name of the folder of its measurements; empty: that of its release and .measured
}

func (e *Closed) Error() string {
	switch e.State {
	case Abandoned, Withdrawn:
		return fmt.Sprintf("release %s was measured on %s (account %s) and %s on %s (%s): what it cost stays spent, "+
			"and it cannot be drawn again: give the release a new name (and a new debit)",
			e.Release, e.Date, e.Account, e.State, e.Since, e.Reason)
	}
	if e.State == Finished {
		return fmt.Sprintf("release %s was measured on %s (account %s), is finished and cannot be drawn again: put "+
			"its folder %s back where it was, or name the folder that it is in (--out), and run again, which costs "+
			"nothing; only where it is lost give the release a new name (and a new debit)",
			e.Release, e.Date, e.Account, cmp.Or(e.Folder, e.Release+".measured"))
	}
	return fmt.Sprintf("release %s was debited under this plan on %s (account %s) and cannot be drawn again: run it "+
		"again with the state directory and the output folder that it began in (--state, --out), where its noise key "+
		"or its measurements are; only where these are lost give the release a new name (and a new debit)",
		e.Release, e.Date, e.Account)
}
