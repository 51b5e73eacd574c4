package release

// This file holds the errors of the steps. Their texts tell a person what to do; [ending.Of] tells a program.

import (
	"cmp"
	"fmt"

	"github.com/dprelease/dprelease/internal/verdict"
)

// PracticeRefused is a refusal by a practice account. Nobody set its cap: the first release charged to it did.
type PracticeRefused struct {
	Ledger string
	Err    error
}

func (e *PracticeRefused) Error() string {
	return fmt.Sprintf("%s\nThis is a practice account (in %s), opened by the first release that used it with room "+
		"for %d like that one: to go on practising, delete that file and what was practised with it, or configure a "+
		"ledger (--ledger FILE)", e.Err, e.Ledger, practiceReleases)
}
func (e *PracticeRefused) Unwrap() error { return e.Err }

// Occupied reports that the output folder holds something else.
type Occupied struct {
	Folder, Why string
	Remedy      string // what to do with it; "": to move it away
}

func (e *Occupied) Error() string {
	return fmt.Sprintf("%s %s; nothing was changed and nothing spent: %s, or give this release another `release:` name",
		e.Folder, e.Why, cmp.Or(e.Remedy, "move it away"))
}

// Verdict returns that the output folder has to be cleared first.
func (*Occupied) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitName, Reason: verdict.OutputTaken, Retry: verdict.Never}
}

// BrokenSeal reports that a folder of measurements is not as it was sealed.
type BrokenSeal struct{ Err error }

func (e *BrokenSeal) Error() string { return e.Err.Error() }
func (e *BrokenSeal) Unwrap() error { return e.Err }

// Verdict returns that the measurements must not be used.
func (*BrokenSeal) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitVerify, Reason: verdict.SealBroken, Retry: verdict.Never}
}

// Spent is an error after the debit. The budget is spent; a run with the same data resumes to the same noise, unless
// the spec forbids keeping the noise key.
type Spent struct {
	Err  error
	Lost bool // the release cannot resume
}

func (e *Spent) Error() string {
	if e.Lost {
		return e.Err.Error() + " (the budget is spent, and the noise key is gone, as the spec says `resume: never`: " +
			"this release is lost; give the next one a new name)"
	}
	if e.Stuck() {
		return e.Err.Error() + " (the budget is spent; once that is put right, run again and the release resumes to " +
			"the same noise; or give it up: dprelease ledger abandon)"
	}
	return e.Err.Error() + " (the budget is spent; run again and the release resumes to the same noise)"
}

// Stuck reports whether running again is useless until somebody fixes what the error describes.
func (e *Spent) Stuck() bool {
	return verdict.Has[*InputChanged](e.Err) || verdict.Has[*JournalRefused](e.Err)
}

func (e *Spent) Unwrap() error { return e.Err }

// Verdict returns whether running again resumes the release.
func (e *Spent) Verdict() verdict.Verdict {
	switch {
	case e.Lost:
		return verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.SpentLost, Retry: verdict.Never}
	case verdict.Has[*InputChanged](e.Err):
		return verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.SpentInputChanged, Retry: verdict.Never}
	case verdict.Has[*JournalRefused](e.Err):
		return verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.SpentJournal, Retry: verdict.Never}
	}
	return verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.SpentUnfinished, Retry: verdict.Safe}
}

// InputChanged reports that a resumed run found other data than the release was debited for.
type InputChanged struct{ Release, Date string }

func (e *InputChanged) Error() string {
	return fmt.Sprintf("release %s was debited on %s for other data than the sources hold now (or from another state "+
		"directory): put the files back as they were, or give the corrected release a new name (and a new debit)",
		e.Release, e.Date)
}

// ShareRefused reports a share that is not added to the others.
type ShareRefused struct{ Folder, Why string }

func (e *ShareRefused) Error() string { return e.Folder + ": " + e.Why + ": nothing was combined" }

// Verdict returns that the folder cannot be used.
func (e *ShareRefused) Verdict() verdict.Verdict {
	return (&verdict.Unusable{File: e.Folder, Err: e}).Verdict()
}
