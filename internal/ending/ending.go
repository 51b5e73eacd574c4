// Package ending classifies how a command ended, for programs: it returns the verdict on an error of any package. It
// knows no step of a release.
package ending

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/spec/document"
)

// Of returns the verdict on an error, nil included.
func Of(err error) verdict.Verdict {
	if err == nil {
		return verdict.Verdict{Exit: verdict.ExitDone, Retry: verdict.Safe}
	}
	if errors.Is(err, context.Canceled) {
		return interrupted(err, verdict.ExitInterrupted)
	}
	if own, ok := errors.AsType[verdict.Classified](err); ok {
		return own.Verdict()
	}
	for _, classify := range []func(error) (verdict.Verdict, bool){ledgerVerdict, specVerdict, accountVerdict,
		inputVerdict} {
		if v, ok := classify(err); ok {
			return v
		}
	}
	return environmentVerdict(err)
}

// Terminated returns the verdict on the error of a step that SIGTERM ended.
func Terminated(err error) verdict.Verdict { return interrupted(err, verdict.ExitTerminated) }

// interrupted classifies a step that was ended from outside: it resumes, unless its release does not keep a noise key.
func interrupted(err error, exit int) verdict.Verdict {
	if own, ok := errors.AsType[verdict.Classified](err); ok && own.Verdict().Reason == verdict.SpentLost {
		return verdict.Verdict{Exit: exit, Reason: verdict.SpentLost, Retry: verdict.Never}
	}
	return verdict.Verdict{Exit: exit, Reason: verdict.Interrupted, Retry: verdict.Safe}
}

// ledgerVerdict classifies a ledger that was altered.
func ledgerVerdict(err error) (verdict.Verdict, bool) {
	switch {
	case errors.Is(err, ledger.ErrTampered):
		return verdict.Verdict{Exit: verdict.ExitVerify, Reason: verdict.LedgerAltered, Retry: verdict.Never}, true
	case verdict.Has[*ledger.Unguarded](err):
		return verdict.Verdict{Exit: verdict.ExitVerify, Reason: verdict.LedgerOpen, Retry: verdict.Never}, true
	}
	return verdict.Verdict{}, false
}

// specVerdict classifies a request that cannot be carried out as it is.
func specVerdict(err error) (verdict.Verdict, bool) {
	switch {
	case verdict.Has[*document.Errors](err):
		return verdict.Verdict{Exit: verdict.ExitSpec, Reason: verdict.SpecInvalid, Retry: verdict.Never}, true
	case verdict.Has[*ledger.PolicyError](err):
		return verdict.Verdict{Exit: verdict.ExitSpec, Reason: verdict.PolicyInvalid, Retry: verdict.Never}, true
	case verdict.Has[*ledger.NoRelease](err), verdict.Has[*ledger.NoParent](err):
		return verdict.Verdict{Exit: verdict.ExitSpec, Reason: verdict.NotInAccount, Retry: verdict.Never}, true
	case verdict.Has[*ledger.WrongKey](err):
		return verdict.Verdict{Exit: verdict.ExitSpec, Reason: verdict.WrongKeyGiven, Retry: verdict.Never}, true
	}
	return verdict.Verdict{}, false
}

// accountVerdict classifies a refusal by an account.
func accountVerdict(err error) (verdict.Verdict, bool) {
	if refused, ok := errors.AsType[*ledger.Refused](err); ok {
		if refused.Period == "" {
			return verdict.Verdict{Exit: verdict.ExitBudget, Reason: verdict.CapUsed, Retry: verdict.Never}, true
		}
		if fits, err := refused.Asked.Fits(refused.Cap); err != nil || !fits {
			// no period has room for it
			return verdict.Verdict{Exit: verdict.ExitBudget, Reason: verdict.AllowanceUsed, Retry: verdict.Never}, true
		}
		return verdict.Verdict{Exit: verdict.ExitBudget, Reason: verdict.AllowanceUsed, Retry: verdict.Later}, true
	}
	switch {
	case verdict.Has[*ledger.Unapproved](err):
		return verdict.Verdict{Exit: verdict.ExitApproval, Reason: verdict.NotApproved, Retry: verdict.Never}, true
	case verdict.Has[*ledger.TermsMismatch](err):
		return verdict.Verdict{Exit: verdict.ExitBudget, Reason: verdict.OtherTerms, Retry: verdict.Never}, true
	case verdict.Has[*ledger.NoAccount](err):
		return verdict.Verdict{Exit: verdict.ExitBudget, Reason: verdict.AccountMissing, Retry: verdict.Never}, true
	case errors.Is(err, ledger.ErrAccountExists):
		return verdict.Verdict{Exit: verdict.ExitBudget, Reason: verdict.AccountExisting, Retry: verdict.Never}, true
	case verdict.Has[*ledger.NameTaken](err):
		return verdict.Verdict{Exit: verdict.ExitName, Reason: verdict.NameIsTaken, Retry: verdict.Never}, true
	case verdict.Has[*ledger.Closed](err):
		return verdict.Verdict{Exit: verdict.ExitName, Reason: verdict.ReleaseClosed, Retry: verdict.Never}, true
	}
	return verdict.Verdict{}, false
}

// inputVerdict classifies confidential files that are missing, incomplete or not as the spec says. Files that are late
// or still being delivered may appear later.
func inputVerdict(err error) (verdict.Verdict, bool) {
	if input, ok := errors.AsType[*source.Error](err); ok {
		switch {
		case input.Kind == source.Unreadable && errors.Is(input, syscall.ENOSPC): // rows that were fetched find no room
			return verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.DiskFull, Retry: verdict.Later}, true
		case input.Kind == source.Unreadable:
			return verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.InputUnreadable,
				Retry: verdict.Later}, true
		case input.Kind == source.Missing && errors.Is(input, fs.ErrNotExist):
			return verdict.Verdict{Exit: verdict.ExitData, Reason: verdict.InputMissing, Retry: verdict.Later}, true
		}
		return verdict.Verdict{Exit: verdict.ExitData, Reason: verdict.InputMalformed, Retry: verdict.Never}, true
	}
	if contract, ok := errors.AsType[*scan.ContractError](err); ok {
		if contract.Incomplete() {
			return verdict.Verdict{Exit: verdict.ExitData, Reason: verdict.InputIncomplete, Retry: verdict.Later}, true
		}
		return verdict.Verdict{Exit: verdict.ExitData, Reason: verdict.InputContract, Retry: verdict.Never}, true
	}
	return verdict.Verdict{}, false
}

// environmentVerdict classifies all other errors: the machine, the network, or a bug.
func environmentVerdict(err error) verdict.Verdict {
	switch {
	case errors.Is(err, syscall.ENOSPC), verdict.Has[*ledger.DiskFull](err):
		return verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.DiskFull, Retry: verdict.Later}
	case verdict.Has[*memory.Error](err):
		return verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.TooLittleMemory, Retry: verdict.Never}
	case verdict.Has[*ledger.Unreachable](err):
		return verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.LedgerUnreachable, Retry: verdict.Later}
	case verdict.Has[*ledger.DoubtedClock](err):
		return verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.ClockDoubted, Retry: verdict.Never}
	}
	return verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.EnvironmentFailed, Retry: verdict.Safe}
}
