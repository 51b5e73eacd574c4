package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/spec/files"
)

// This file cleans the state directory of what failed and ended attempts have left there, once it is old.

// Days is for how many days the state of an attempt is kept by default.
const Days = 30

// Leftover is the confidential state that the attempts of one plan have left on one account.
type Leftover struct {
	Folder  string   `json:"folder"`
	Release string   `json:"release"`
	Changed string   `json:"changed"`         // the day on which it was last written to, YYYY-MM-DD, UTC
	Holds   []string `json:"holds,omitempty"` // of key, journal and diagnostics those that exist
	Status  string   `json:"status"`          // removed, removable (with --dry-run), or kept
	Why     string   `json:"why"`             // why it is removed or kept
}

// The statuses of a state.
const (
	removed   = "removed"
	removable = "removable"
	kept      = "kept"
)

// Clean removes the states of a state directory that nobody has written to for so many days and that no release needs,
// keys overwritten first, and returns all states in the order of their names; with dryRun it removes none. Nothing
// else in the directory is touched.
//
// Guarantee: the state of a release that was debited and not finished is never removed, since without its key what was
// paid for cannot be drawn. Whether a release was is read from the ledgers, the configured one and the practice
// ledger, while the state is locked, so that no run can debit meanwhile. A key that neither ledger knows is kept, as
// another ledger may know it.
//
// Errors: those of a configured ledger that cannot be read; those of the system, together with what was removed
// before.
func Clean(ctx context.Context, root string, configured account.Ledger, days int, dryRun bool) ([]Leftover, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = durable.Private(root)
	}
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	ledgers := []account.Ledger{{Path: account.Practice(root)}}
	if configured.Path != "" {
		ledgers = []account.Ledger{configured, ledgers[0]}
	}
	before := time.Now().AddDate(0, 0, -days)
	var all []Leftover
	for _, entry := range entries {
		name := files.StateName.FindStringSubmatch(entry.Name())
		if name == nil || !entry.IsDir() {
			continue
		}
		left := Leftover{Folder: filepath.Join(root, entry.Name()), Release: name[1]}
		if err := left.cleanUp(ctx, ledgers, before, dryRun); err != nil {
			return all, err
		}
		all = append(all, left)
	}
	return all, nil
}

// cleanUp removes one state unless it must be kept, and notes the decision.
func (l *Leftover) cleanUp(ctx context.Context, ledgers []account.Ledger, before time.Time, dryRun bool) error {
	l.Status = kept
	held, err := durable.Lock(l.Folder)
	inUse := errors.Is(err, durable.ErrHeld)
	if err != nil && !inUse && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("state directory: %w", err)
	}
	st := &State{Dir: l.Folder, held: held}
	defer st.Close()
	changed, err := l.inspect()
	switch {
	case err != nil:
		return fmt.Errorf("state directory: %w", err)
	case inUse:
		l.Why = "a run has it open"
		return nil
	case changed.After(before):
		l.Why = "it is not old enough"
		return nil
	}
	why, needed, err := l.mustStay(ctx, ledgers)
	if err != nil {
		return err
	}
	if l.Why = why; needed {
		return nil
	}
	if l.Status = removable; dryRun {
		return nil
	}
	l.Status = removed
	return st.Clear()
}

// inspect notes what a state holds, and returns when it was last written to.
func (l *Leftover) inspect() (changed time.Time, err error) {
	err = filepath.WalkDir(l.Folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.ModTime().After(changed) {
			changed = info.ModTime()
		}
		kind, _, _ := strings.Cut(d.Name(), ".")
		if path != l.Folder && slices.Contains([]string{KeyFile, JournalFile, PreparedFile, "diagnostics"}, kind) &&
			!slices.Contains(l.Holds, kind) {
			l.Holds = append(l.Holds, kind)
		}
		return nil
	})
	l.Changed = changed.UTC().Format(time.DateOnly)
	return changed, err
}

// mustStay reports whether a state must stay, and why.
func (l *Leftover) mustStay(ctx context.Context, ledgers []account.Ledger) (why string, needed bool, err error) {
	if !slices.Contains(l.Holds, KeyFile) {
		return "it has no key: nothing can resume from it", false, nil
	}
	found, payer, err := releaseState(ctx, ledgers, filepath.Base(l.Folder))
	switch {
	case err != nil:
		return "", false, err
	case found == "":
		return "it has a key, and no account of these ledgers knows its release: give the ledger that does (--ledger)",
			true,
			nil
	case found == ledger.Debited:
		return fmt.Sprintf("it is paid for and not finished (account %s): run it again, or give it up (ledger abandon)",
			payer), true, nil
	case (found == ledger.Reserved || found == ledger.Cancelled) && slices.Contains(l.Holds, PreparedFile):
		return fmt.Sprintf("other machines may be counting by its key (account %s): measure it, or take it back "+
			"(prepare --cancel)",
			payer), true, nil
	case found == ledger.Reserved:
		return fmt.Sprintf("its attempt ended before its debit, and the next one draws a new key (account %s still "+
			"holds a reservation)", payer), false, nil
	}
	return fmt.Sprintf("its release is %s (account %s)", found, payer), false, nil
}

// releaseState returns the status of a state's release in the account that pays for it, from the first of the ledgers
// that knows the release, and "" if none does. The last ledger is the practice ledger, which need not exist.
func releaseState(ctx context.Context, ledgers []account.Ledger, name string) (found ledger.State, payer string,
	err error) {
	for _, at := range ledgers {
		err := at.With(ctx, func(open *ledger.Ledger) error {
			identity, err := open.Identity(ctx)
			if err != nil {
				return err
			}
			accounts, err := account.Statements(ctx, open, nil)
			if err != nil {
				return err
			}
			for _, s := range accounts {
				for _, p := range s.Releases {
					if Name(identity, ledger.Charge{Account: p.Account, Release: p.Release,
						PlanHash: p.PlanHash}) == name {
						found, payer = p.State, p.Account
					}
				}
			}
			return nil
		})
		if verdict.Has[*account.Missing](err) && at.Path == ledgers[len(ledgers)-1].Path {
			err = nil
		}
		if err != nil || found != "" {
			return found, payer, err
		}
	}
	return "", "", nil
}

// InWords summarizes what was done with the states, after how many days.
func InWords(all []Leftover, days int) string {
	count := map[string]int64{}
	for _, s := range all {
		count[s.Status]++
	}
	text := fmt.Sprintf("%s: %d removed, %d kept", budget.Plural(int64(len(all)), "state"), count[removed],
		count[kept])
	if n := count[removable]; n > 0 {
		text += fmt.Sprintf(", %d would be removed", n)
	}
	return fmt.Sprintf("%s. What no release needs is kept for %s after it was last written to.", text,
		budget.Plural(int64(days), "day"))
}
