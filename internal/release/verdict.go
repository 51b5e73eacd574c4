package release

// This file holds Verdict: how a command ended, for a program that reads no English.

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

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
	ExitWithdrawn   = 8 // verified, but withdrawn by the office
	ExitInterrupted = 130
	ExitTerminated  = 143 // by SIGTERM
)

// Retry says what becomes of the same command if it is run again.
type Retry string

// The advice to a scheduled job.
const (
	Safe  Retry = "safe"  // run again at once: it resumes, or finds the work done
	Later Retry = "later" // run again after a while: what it waits for comes with time, and waiting leaves no trace in the account
	Never Retry = "never" // it fails again until a person has changed something
)

// Reason names the cause of a failure. Reasons are stable: programs branch on them, and docs/json.md lists each.
type Reason string

// The reasons, in the order of their exit codes.
const (
	Interrupted       Reason = "interrupted"
	InternalError     Reason = "internal_error"
	EnvironmentFailed Reason = "environment"
	DiskFull          Reason = "disk_full"
	TooLittleMemory   Reason = "too_little_memory"
	InputUnreadable   Reason = "input_unreadable"
	LedgerMissing     Reason = "ledger_missing"
	LedgerUnreachable Reason = "ledger_unreachable"
	ClockDoubted      Reason = "clock_doubted"
	SpentUnfinished   Reason = "spent_unfinished"
	SpentInputChanged Reason = "spent_input_changed"
	SpentJournal      Reason = "spent_journal_refused"
	SpentLost         Reason = "spent_lost"

	CommandLine   Reason = "command_line"
	SpecInvalid   Reason = "spec_invalid"
	SpecUnusable  Reason = "spec_unusable"
	PolicyInvalid Reason = "policy_invalid"
	NotInAccount  Reason = "not_in_account"
	WrongKeyGiven Reason = "wrong_key"
	PublicIsInput Reason = "public_is_confidential"

	AllowanceUsed   Reason = "allowance_used_up"
	CapUsed         Reason = "cap_used_up"
	OtherTerms      Reason = "other_terms"
	AccountMissing  Reason = "account_missing"
	AccountUnnamed  Reason = "account_not_named"
	AccountExisting Reason = "account_exists"

	InputMissing    Reason = "input_missing"
	InputIncomplete Reason = "input_incomplete"
	InputMalformed  Reason = "input_malformed"
	InputContract   Reason = "input_breaks_contract"

	ReleaseAltered Reason = "release_altered"
	SealBroken     Reason = "seal_broken"
	NotVerified    Reason = "not_verified"
	DebitAlone     Reason = "debit_without_folder"
	LedgerAltered  Reason = "ledger_altered"
	LedgerOpen     Reason = "ledger_unguarded"

	NotApproved Reason = "not_approved"
	EditedPlan  Reason = "not_as_signed"

	NameIsTaken   Reason = "name_taken"
	OutputTaken   Reason = "output_taken"
	ReleaseClosed Reason = "release_closed"

	ReleaseWithdrawn Reason = "release_withdrawn"
)

// Verdict classifies how a command ended.
type Verdict struct {
	Exit   int
	Reason Reason // "" where the command succeeded
	Retry  Retry
}

// ExitCode is the exit code of Classify.
func ExitCode(err error) int { return Classify(err).Exit }

// find is the first error of type T in the tree of err, as [errors.As] finds it.
func find[T error](err error) (found T, ok bool) {
	ok = errors.As(err, &found)
	return found, ok
}

// has reports whether the tree of err holds an error of type T.
func has[T error](err error) bool {
	_, ok := find[T](err)
	return ok
}

// Classify classifies an error of any step, nil included.
func Classify(err error) Verdict {
	if err == nil {
		return Verdict{ExitDone, "", Safe}
	}
	if errors.Is(err, context.Canceled) {
		return interrupted(err, ExitInterrupted)
	}
	if spent, ok := find[*Spent](err); ok {
		return spent.verdict()
	}
	for _, classify := range []func(error) (Verdict, bool){outputVerdict, askedVerdict, accountVerdict, inputVerdict} {
		if v, ok := classify(err); ok {
			return v
		}
	}
	return environmentVerdict(err)
}

// Terminated classifies the error of a step that SIGTERM ended.
func Terminated(err error) Verdict { return interrupted(err, ExitTerminated) }

// interrupted classifies a step that was ended from outside: it resumes, unless the noise key of its release was never kept.
func interrupted(err error, exit int) Verdict {
	if spent, ok := find[*Spent](err); ok && spent.Lost {
		return Verdict{exit, SpentLost, Never}
	}
	return Verdict{exit, Interrupted, Safe}
}

// verdict classifies a release that was debited and is not finished.
func (e *Spent) verdict() Verdict {
	switch {
	case e.Lost:
		return Verdict{ExitEnvironment, SpentLost, Never}
	case has[*InputChanged](e.Err):
		return Verdict{ExitEnvironment, SpentInputChanged, Never}
	case has[*JournalRefused](e.Err):
		return Verdict{ExitEnvironment, SpentJournal, Never}
	}
	return Verdict{ExitEnvironment, SpentUnfinished, Safe}
}

// outputVerdict classifies what is not as it was written.
func outputVerdict(err error) (Verdict, bool) {
	switch {
	case has[*Altered](err):
		return Verdict{ExitVerify, ReleaseAltered, Never}, true
	case has[*BrokenSeal](err):
		return Verdict{ExitVerify, SealBroken, Never}, true
	case has[*Unverified](err), has[*FoldersFail](err):
		return Verdict{ExitVerify, NotVerified, Never}, true
	case has[*DebitsAlone](err):
		return Verdict{ExitVerify, DebitAlone, Never}, true
	case errors.Is(err, ledger.ErrTampered):
		return Verdict{ExitVerify, LedgerAltered, Never}, true
	case has[*ledger.Unguarded](err):
		return Verdict{ExitVerify, LedgerOpen, Never}, true
	case has[*Withdrawn](err):
		return Verdict{ExitWithdrawn, ReleaseWithdrawn, Never}, true
	}
	return Verdict{}, false
}

// askedVerdict classifies a request that cannot be carried out as it was made.
func askedVerdict(err error) (Verdict, bool) {
	switch {
	case has[*spec.Errors](err):
		return Verdict{ExitSpec, SpecInvalid, Never}, true
	case has[*SpecError](err):
		return Verdict{ExitSpec, SpecUnusable, Never}, true
	case has[*PublicIsConfidential](err):
		return Verdict{ExitSpec, PublicIsInput, Never}, true
	case has[*ledger.PolicyError](err):
		return Verdict{ExitSpec, PolicyInvalid, Never}, true
	case has[*NoLedger](err):
		return Verdict{ExitEnvironment, LedgerMissing, Later}, true
	case has[*ledger.NoRelease](err), has[*ledger.NoParent](err):
		return Verdict{ExitSpec, NotInAccount, Never}, true
	case has[*ledger.WrongKey](err), has[*WrongSigner](err):
		return Verdict{ExitSpec, WrongKeyGiven, Never}, true
	}
	return Verdict{}, false
}

// accountVerdict classifies what an account refuses.
func accountVerdict(err error) (Verdict, bool) {
	if refused, ok := find[*ledger.Refused](err); ok {
		if refused.Period == "" {
			return Verdict{ExitBudget, CapUsed, Never}, true
		}
		if fits, err := refused.Asked.Fits(refused.Cap); err != nil || !fits {
			return Verdict{ExitBudget, AllowanceUsed, Never}, true // no period has room for it
		}
		return Verdict{ExitBudget, AllowanceUsed, Later}, true
	}
	switch {
	case has[*ledger.Unapproved](err):
		return Verdict{ExitApproval, NotApproved, Never}, true
	case has[*NotAsSigned](err):
		return Verdict{ExitApproval, EditedPlan, Never}, true
	case has[*ledger.TermsMismatch](err):
		return Verdict{ExitBudget, OtherTerms, Never}, true
	case has[*ledger.NoAccount](err):
		return Verdict{ExitBudget, AccountMissing, Never}, true
	case has[*NoAccountNamed](err):
		return Verdict{ExitBudget, AccountUnnamed, Never}, true
	case errors.Is(err, ledger.ErrAccountExists):
		return Verdict{ExitBudget, AccountExisting, Never}, true
	case has[*ledger.NameTaken](err):
		return Verdict{ExitName, NameIsTaken, Never}, true
	case has[*Occupied](err):
		return Verdict{ExitName, OutputTaken, Never}, true
	case has[*ledger.Closed](err):
		return Verdict{ExitName, ReleaseClosed, Never}, true
	}
	return Verdict{}, false
}

// inputVerdict classifies confidential files that are not there, not whole or not as the spec says. Files that are late
// or still being delivered come with time.
func inputVerdict(err error) (Verdict, bool) {
	if input, ok := find[*source.Error](err); ok {
		switch {
		case input.Kind == source.Unreadable:
			return Verdict{ExitEnvironment, InputUnreadable, Later}, true
		case input.Kind == source.Missing && errors.Is(input, fs.ErrNotExist):
			return Verdict{ExitData, InputMissing, Later}, true
		}
		return Verdict{ExitData, InputMalformed, Never}, true
	}
	if contract, ok := find[*histogram.ContractError](err); ok {
		if contract.Incomplete() {
			return Verdict{ExitData, InputIncomplete, Later}, true
		}
		return Verdict{ExitData, InputContract, Never}, true
	}
	return Verdict{}, false
}

// environmentVerdict classifies what is left: the machine, the network, or a bug.
func environmentVerdict(err error) Verdict {
	switch {
	case errors.Is(err, syscall.ENOSPC), has[*ledger.DiskFull](err):
		return Verdict{ExitEnvironment, DiskFull, Later}
	case has[*histogram.MemoryError](err):
		return Verdict{ExitEnvironment, TooLittleMemory, Never}
	case has[*ledger.Unreachable](err):
		return Verdict{ExitEnvironment, LedgerUnreachable, Later}
	case has[*ledger.DoubtedClock](err):
		return Verdict{ExitEnvironment, ClockDoubted, Never}
	}
	return Verdict{ExitEnvironment, EnvironmentFailed, Safe}
}
