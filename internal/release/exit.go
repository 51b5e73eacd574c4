package release

import (
	"context"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/spec"
)

// Exit codes of the program.
const (
	ExitDone        = 0
	ExitEnvironment = 1 // environment or bug: run again and it resumes
	ExitSpec        = 2 // spec or command line
	ExitBudget      = 3 // the account refuses
	ExitData        = 4 // the data breaks its contract; nothing spent
	ExitVerify      = 5 // an output is not what it should be
	ExitApproval    = 6 // not approved, or not as it was approved
	ExitName        = 7 // name taken by another plan, or release closed
	ExitInterrupted = 130
)

// ExitCode classifies an error of any step, nil included.
func ExitCode(err error) int {
	var (
		specErrors *spec.Errors
		specError  *SpecError
		refused    *ledger.Refused
		mismatch   *ledger.TermsMismatch
		noAccount  *ledger.NoAccount
		noLedger   *NoLedger
		unnamed    *NoAccountNamed
		nameTaken  *ledger.NameTaken
		closed     *ledger.Closed
		occupied   *Occupied
		contract   *histogram.ContractError
		input      *source.Error
		spent      *Spent
		altered    *Altered
		broken     *BrokenSeal
		unverified *Unverified
		policy     *ledger.PolicyError
		unapproved *ledger.Unapproved
		noRelease  *ledger.NoRelease
		noParent   *ledger.NoParent
		wrongKey   *ledger.WrongKey
		edited     *NotAsSigned
	)
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &spent):
		return ExitEnvironment
	case errors.As(err, &altered), errors.As(err, &broken), errors.As(err, &unverified), errors.Is(err, ledger.ErrTampered):
		return ExitVerify
	case errors.As(err, &specErrors), errors.As(err, &specError), errors.As(err, &policy), errors.As(err, &noLedger),
		errors.As(err, &noRelease), errors.As(err, &noParent), errors.As(err, &wrongKey):
		return ExitSpec
	case errors.As(err, &unapproved), errors.As(err, &edited):
		return ExitApproval
	case errors.As(err, &refused), errors.As(err, &mismatch), errors.As(err, &noAccount), errors.As(err, &unnamed), errors.Is(err, ledger.ErrAccountExists):
		return ExitBudget
	case errors.As(err, &nameTaken), errors.As(err, &occupied), errors.As(err, &closed):
		return ExitName
	case errors.As(err, &input) && input.Kind == source.Unreadable:
		return ExitEnvironment
	case errors.As(err, &contract), errors.As(err, &input):
		return ExitData
	default:
		return ExitEnvironment
	}
}

// SpecError is a well-formed spec that cannot be planned, or a plan file that
// cannot be used.
type SpecError struct {
	File string
	Err  error
}

func (e *SpecError) Error() string { return fmt.Sprintf("%s: %s", e.File, e.Err) }
func (e *SpecError) Unwrap() error { return e.Err }

// NoAccountNamed is a spec without an account where a ledger is configured.
type NoAccountNamed struct{ Source string }

func (e *NoAccountNamed) Error() string {
	return fmt.Sprintf("%s names no ledger account: add `account: NAME` below `privacy:`, with an account of the configured ledger", e.Source)
}

// NoLedger is a ledger file that is not there.
type NoLedger struct {
	Path string
	Err  error
}

func (e *NoLedger) Error() string { return e.Err.Error() }
func (e *NoLedger) Unwrap() error { return e.Err }

// PracticeRefused is a refusal of a practice account, which nobody has set a cap
// for: the first release on it did.
type PracticeRefused struct {
	Ledger string
	Err    error
}

func (e *PracticeRefused) Error() string {
	return fmt.Sprintf("%s\nThis is a practice account (in %s), opened by the first release that used it with room for %d like that one: go on practising in another folder (--out DIR), or configure a ledger (--ledger FILE)",
		e.Err, e.Ledger, practiceReleases)
}
func (e *PracticeRefused) Unwrap() error { return e.Err }

// Occupied is an output place that holds something else.
type Occupied struct{ Place, Why string }

func (e *Occupied) Error() string {
	return fmt.Sprintf("%s %s; nothing was changed and nothing spent. Otherwise choose another `release:` name or another --out folder", e.Place, e.Why)
}

// Altered is a published file that is not what its measurements lead to.
type Altered struct{ Place, File string }

func (e *Altered) Error() string {
	return fmt.Sprintf("%s: %s is not what the measurements lead to: the folder was changed after it was published; move it away and publish again", e.Place, e.File)
}

// BrokenSeal is a folder of measurements that is not as it was sealed.
type BrokenSeal struct{ Err error }

func (e *BrokenSeal) Error() string { return e.Err.Error() }
func (e *BrokenSeal) Unwrap() error { return e.Err }

// Spent is an error after the debit: the budget is spent, and a run with the same
// data resumes to the same noise, unless the spec has it that the key is never kept.
type Spent struct {
	Err  error
	Lost bool // it cannot resume
}

func (e *Spent) Error() string {
	if e.Lost {
		return e.Err.Error() + " (the budget is spent, and the noise key is gone, as the spec says `resume: never`: this release is lost; give the next one a new name)"
	}
	if e.Stuck() {
		return e.Err.Error() + " (the budget is spent; once that is put right, run again and the release resumes to the same noise; or give it up: dprelease ledger abandon)"
	}
	return e.Err.Error() + " (the budget is spent; run again and the release resumes to the same noise)"
}

// Stuck tells that running again is of no use before somebody has put right what the
// error says.
func (e *Spent) Stuck() bool {
	var (
		changed *InputChanged
		refused *JournalRefused
	)
	return errors.As(e.Err, &changed) || errors.As(e.Err, &refused)
}

func (e *Spent) Unwrap() error { return e.Err }

// InputChanged is a resumed run that finds other data than it was debited for.
type InputChanged struct{ Release, Date string }

func (e *InputChanged) Error() string {
	return fmt.Sprintf("release %s was debited on %s for other data than the sources hold now (or from another state directory): put the files back as they were, or give the corrected release a new name (and a new debit)", e.Release, e.Date)
}

// Hint is the advice that goes with an error beyond its own words, or empty.
func Hint(err error) string {
	var diagnosed *Diagnosed
	if errors.As(err, &diagnosed) {
		return "where, and with which values: " + diagnosed.File + " (confidential)"
	}
	return ""
}

// Diagnosed is a data error whose details were written to a confidential file.
type Diagnosed struct {
	File string
	Err  error
}

func (e *Diagnosed) Error() string { return e.Err.Error() }
func (e *Diagnosed) Unwrap() error { return e.Err }
