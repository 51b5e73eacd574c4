// Package verdict describes how a command ended, for programs and for people: the exit code, a stable reason, whether
// to run it again, and the words. It knows no step of a release: an error that a step returns carries its own verdict
// ([Classified]).
package verdict

import "errors"

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

// Retry is what to expect if the same command is run again.
type Retry string

// The advice to a scheduled job.
const (
	Safe Retry = "safe" // run again at once: it resumes, or finds the work done
	// run again after a while: what it waits for may appear, and waiting leaves no trace in the account
	Later Retry = "later"
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

// Verdict is how a command ended.
type Verdict struct {
	Exit   int
	Reason Reason // "" if the command succeeded
	Retry  Retry
}

// Classified is an error that carries its own verdict.
type Classified interface {
	error
	Verdict() Verdict
}

// Has reports whether the tree of an error contains an error of type T.
func Has[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}
